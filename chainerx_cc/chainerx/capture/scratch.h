#pragma once

#include <cstddef>
#include <vector>

#include "chainerx/core/device.h"
#include "chainerx/core/storage.h"

namespace chainerx {

// Memory for what plans compute on the way, as much as the largest of them needs. Plans share it if no two of them ever
// run at the same time. Nothing in it outlives a run.
class Scratch {
public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    // The memory, of at least so many bytes on a device. If it has to grow, another block takes its place: what a plan
    // has bound to the one of before is bound again when it runs.
    const StoragePtr& Get(Device& device, size_t bytes);
    size_t bytes() const { return memory_ ? memory_->bytes() : 0; }
    // A block for the result of a number: the one of the last run, unless somebody has that result or it was of another
    // size. So results stay at their places.
    const StoragePtr& GetResult(Device& device, size_t number, size_t bytes);

private:
    StoragePtr memory_;
    // What arrays of plans refer to. It does not own the memory, which hundreds of plans that have not run since would
    // keep otherwise, each a block of another size.
    StoragePtr view_;
    std::vector<StoragePtr> results_;
};

}  // namespace chainerx
