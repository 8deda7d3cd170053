#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace chainerx {

// What a device has of its memory. All sizes are in bytes.
struct MemoryStatistics {
    size_t used;  // by arrays
    size_t peak_used;
    size_t reserved;  // taken from the system: for arrays, and kept for new ones
    size_t peak_reserved;
    uint64_t allocations;  // number of blocks that were given to arrays
    uint64_t retries;      // number of those that first waited for the device and freed what it kept
    std::optional<size_t> limit;
};

}  // namespace chainerx
