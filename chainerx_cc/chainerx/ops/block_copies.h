#pragma once

#include <cstddef>
#include <vector>

#include "chainerx/core/backend.h"

namespace chainerx {

struct BlockCopy {
    const void* from;
    void* to;
    size_t bytes;
};

// Copies blocks within the memory of a device, none of which overlap, in as few launches as it can. A backend that
// records work (Stream::Record) has it.
using CopyBlocksKernel = KernelSlot<void(Device& device, const std::vector<BlockCopy>& copies)>;
extern const CopyBlocksKernel kCopyBlocksKernel;

}  // namespace chainerx
