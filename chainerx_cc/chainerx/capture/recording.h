#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/kernel_watch.h"

namespace chainerx {

// What a recorder knows of a step: the calls of kernels in order, and where the memory of their arrays comes from.
// Passes rewrite it; PlanBuilder makes a plan of it.
//
// In the calls, stand-ins of the same size take the place of new memory, so that the program gets memory again that it
// has given up. They are different for each piece, unlike addresses.
struct Recording {
    struct Draw {
        RandomStream stream;
        int64_t count;
        size_t segment;
    };

    // Data of the program, which may change them afterwards.
    struct Data {
        StoragePtr storage;
        StoragePtr copy;
        uint32_t version;
    };

    explicit Recording(Device& device) : device{device} {}
    Recording(const Recording&) = delete;  // stand-ins know it by its address
    Recording& operator=(const Recording&) = delete;

    StoragePtr MakeStandIn(size_t bytes);
    bool IsStandIn(const Storage& storage) const { return storage.owner() == this; }
    // The memory of an array of the program as the calls have it: new memory by its stand-in.
    const Storage* AsRecorded(const Storage* storage) const;
    // Raises ChainerxError if the program changed its data meanwhile or if they are a result.
    void CheckData(const std::vector<Array>& results) const;
    // Raises ChainerxError if memory is used that neither the step made nor the arrays have, or that both have.
    void CheckOrigins(const std::vector<Array>& inputs, const std::vector<Array>& held,
                      const std::vector<Array>& results) const;

    Device& device;
    std::vector<std::unique_ptr<KernelCall>> calls;
    std::vector<size_t> segment_ends;  // of all segments but the last one
    std::vector<Draw> draws;
    std::unordered_map<const Storage*, StoragePtr> stand_ins;  // of new memory that the program still uses
    std::unordered_map<const Storage*, Data> data;
    // Other memory, with its version when a kernel first used it.
    std::unordered_map<const Storage*, std::pair<StoragePtr, uint32_t>> found;
};

}  // namespace chainerx
