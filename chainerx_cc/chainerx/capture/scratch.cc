#include "chainerx/capture/scratch.h"

#include "chainerx/core/places.h"

namespace chainerx {

const StoragePtr& Scratch::Get(Device& device, size_t bytes, bool makes_gradients) {
    if (makes_gradients && main_.HasGradients()) {
        keeps_gradients_ = false;
        main_ = Block{};
    }
    Block& block = main_.HasGradients() ? other_ : main_;
    if (block.view && block.bytes() >= bytes && &block.view->device() == &device) return block.view;
    // The old block first, as the new one may take its place. Others are those of recordings, which nobody needs again.
    block = Block{};
    device.FreeUnusedBlocks();
    block.memory = device.Allocate(bytes);
    auto free = [](Storage* view) noexcept { delete view; };
    block.view = StoragePtr{new Storage{block.memory->data(), block.bytes(), device, free}};
    return block.view;
}

StoragePtr Scratch::MakeGradient(Device& device, int64_t offset, size_t bytes) {
    if (!keeps_gradients_) return nullptr;
    if (StoragePtr place = TakePlace(bytes, device)) return place;
    auto free = [](Storage* gradient) noexcept {
        StoragePtr memory = StoragePtr::Adopt(static_cast<Storage*>(gradient->owner()));
        delete gradient;
    };
    char* data = static_cast<char*>(main_.memory->data()) + offset;
    return StoragePtr{new Storage{data, bytes, device, free, StoragePtr{main_.memory}.Release()}};
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
