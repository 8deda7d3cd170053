#include "chainerx/capture/scratch.h"

namespace chainerx {

const StoragePtr& Scratch::Get(Device& device, size_t bytes) {
    if (view_ && view_->bytes() >= bytes && &view_->device() == &device) return view_;
    // The old block first, as the new one may take its place. Others are those of recordings, which nobody needs again.
    view_ = nullptr;
    memory_ = nullptr;
    device.FreeUnusedBlocks();
    memory_ = device.Allocate(bytes);
    auto free = [](Storage* view) noexcept { delete view; };
    view_ = StoragePtr{new Storage{memory_->data(), memory_->bytes(), device, free}};
    return view_;
}

const StoragePtr& Scratch::GetResult(Device& device, size_t number, size_t bytes) {
    if (results_.size() <= number) results_.resize(number + 1);
    StoragePtr& result = results_[number];
    bool is_free = result && result->use_count() == 1 && result->bytes() == bytes && &result->device() == &device;
    if (is_free) return result;
    result = nullptr;  // first, as the new one may take its place
    result = device.Allocate(bytes);
    return result;
}

}  // namespace chainerx
