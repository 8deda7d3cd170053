#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chainerx/core/device.h"
#include "chainerx/core/storage.h"

namespace chainerx {

// Memory for what plans compute on the way, as much as the largest of them needs. Plans share it if no two of them ever
// run at the same time. Of what is in it, gradients alone outlive a run.
class Scratch {
public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    // The memory, of at least so many bytes on a device, without gradients of earlier runs. If it has to grow or has
    // such, another block takes its place: what a plan has bound to the one of before is bound again when it runs.
    // `makes_gradients`: whether the run is to make gradients in it.
    const StoragePtr& Get(Device& device, size_t bytes, bool makes_gradients = false);
    size_t bytes() const { return main_.bytes() + other_.bytes(); }
    // A part of the memory that Get returned, for a gradient. It keeps all of that memory, so there is none any more
    // once somebody has kept gradients of earlier runs.
    StoragePtr MakeGradient(Device& device, int64_t offset, size_t bytes);
    // A block for the result of a number: the one of the last run, unless somebody has that result or it was of another
    // size. So results stay at their places.
    const StoragePtr& GetResult(Device& device, size_t number, size_t bytes);

private:
    struct Block {
        StoragePtr memory;
        // What arrays of plans refer to. It does not own the memory, which hundreds of plans that have not run since
        // would keep otherwise, each a block of another size.
        StoragePtr view;

        size_t bytes() const { return memory ? memory->bytes() : 0; }
        bool HasGradients() const { return memory && memory->use_count() > 1; }
    };

    Block main_;
    Block other_;  // while the main one has gradients, for plans that make none
    bool keeps_gradients_{true};
    std::vector<StoragePtr> results_;
};

}  // namespace chainerx
