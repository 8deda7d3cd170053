#include "chainerx/core/stream.h"

#include <algorithm>
#include <vector>

#include "chainerx/core/error.h"

namespace chainerx {
namespace {

// What the thread has entered, in that order.
thread_local std::vector<StreamPtr> t_entered;

}  // namespace

StreamPtr Stream::Wrap(uintptr_t handle, std::shared_ptr<void>) {
    if (handle != 0) {
        throw DeviceError{"device '", device_.name(), "' has no streams of other libraries, such as ", handle};
    }
    return device_.GetDefaultStream();
}

Stream* FindCurrentStream(const Device& device) noexcept {
    for (auto it = t_entered.rbegin(); it != t_entered.rend(); ++it) {
        if (&(*it)->device() == &device) return it->get();
    }
    return nullptr;
}

StreamPtr GetCurrentStream(Device& device) {
    Stream* current = FindCurrentStream(device);
    return current == nullptr ? device.GetDefaultStream() : StreamPtr{current};
}

void EnterStream(StreamPtr stream) { t_entered.push_back(std::move(stream)); }

void LeaveStream(const StreamPtr& stream) noexcept {
    auto last = std::find_if(t_entered.rbegin(), t_entered.rend(),
                             [&stream](const StreamPtr& entered) { return entered.get() == stream.get(); });
    if (last == t_entered.rend()) return;  // entered by another thread
    StreamPtr kept = std::move(*last);     // its end may run code that asks for the current stream
    t_entered.erase(std::next(last).base());
}

}  // namespace chainerx
