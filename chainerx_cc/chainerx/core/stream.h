#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "chainerx/core/device.h"
#include "chainerx/core/intrusive_ptr.h"

namespace chainerx {

// Work that was recorded. It may be submitted any number of times, and works on the same memory each time.
class RecordedWork {
public:
    RecordedWork() = default;
    RecordedWork(const RecordedWork&) = delete;
    RecordedWork& operator=(const RecordedWork&) = delete;
    virtual ~RecordedWork() = default;
    // To the thread's current stream of the device.
    virtual void Submit() = 0;
};

// A queue of work of a device: what is in one runs in order, what is in several may overlap. Memory of an array that
// ends is used again after all streams have done what they had to do by then. Nothing else is ordered between streams,
// so a program that uses an array in another stream than its own makes that stream wait.
//
// This class is that of devices whose work is done when calls return.
class Stream : public RefCounted {
public:
    explicit Stream(Device& device) : device_{device} { device.AddUser(); }
    virtual ~Stream() = default;

    Device& device() const { return device_; }

    // Waits until all work in it is done.
    virtual void Synchronize() {}
    virtual bool IsDone() { return true; }
    // Work from now on starts after the present work of another stream, which may be of another device.
    virtual void WaitFor(Stream& other) { other.Synchronize(); }
    // Whether Record can do anything.
    virtual bool CanRecord() const { return false; }
    // Records what a function submits to the device, in place of doing it. Null if that work cannot be recorded, such
    // as copies from the host.
    virtual std::unique_ptr<RecordedWork> Record(const std::function<void()>&) { return nullptr; }

    // What the library of the device calls it; 0 for its default stream.
    virtual uintptr_t handle() const { return 0; }

    // A stream of another library on the same device, by its handle. `owner` keeps it, as long as the result or an
    // array that was made in it exists. Raises DeviceError for what cannot be one.
    virtual IntrusivePtr<Stream> Wrap(uintptr_t handle, std::shared_ptr<void> owner);
    // Work that comes into another library's stream from now on starts after the present work of this one.
    virtual void LetWait(uintptr_t) { Synchronize(); }

    static void Destroy(Stream* p) noexcept {
        Device& device = p->device_;
        delete p;
        device.DropUser();
    }

private:
    Device& device_;
};

using StreamPtr = IntrusivePtr<Stream>;

// The current stream of a device is the one that the calling thread entered last and has not left, or the default
// stream, for which this returns null.
Stream* FindCurrentStream(const Device& device) noexcept;
StreamPtr GetCurrentStream(Device& device);

void EnterStream(StreamPtr stream);
// Streams may be left in another order than entered.
void LeaveStream(const StreamPtr& stream) noexcept;

class StreamScope {
public:
    explicit StreamScope(StreamPtr stream) : stream_{std::move(stream)} { EnterStream(stream_); }
    ~StreamScope() { LeaveStream(stream_); }
    StreamScope(const StreamScope&) = delete;
    StreamScope& operator=(const StreamScope&) = delete;

private:
    StreamPtr stream_;
};

}  // namespace chainerx
