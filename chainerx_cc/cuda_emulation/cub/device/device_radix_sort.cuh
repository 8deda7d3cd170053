#pragma once

// The part of CUB that the CUDA backend uses.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cuda_runtime.h"

namespace cub {

struct DeviceRadixSort {
    // Sorts by some bits of the keys; equal ones stay in order. Without `work`, gives its size.
    template <class Key, class Value>
    static cudaError_t SortPairs(void* work, size_t& bytes, const Key* keys, Key* sorted_keys, const Value* values,
                                 Value* sorted_values, int64_t n, int begin_bit, int end_bit, cudaStream_t stream) {
        if (work == nullptr) {
            bytes = 1;
            return cudaSuccess;
        }
        cudaLaunchConfig_t config{};
        config.stream = stream;
        Key mask = ~Key{0} >> (8 * sizeof(Key) - static_cast<size_t>(end_bit - begin_bit));
        return cudaLaunchKernelEx(
                &config,
                +[](const Key* keys, Key* sorted_keys, const Value* values, Value* sorted_values, int64_t n, int shift,
                    Key mask) {
                    std::vector<int64_t> order(static_cast<size_t>(n));
                    std::iota(order.begin(), order.end(), int64_t{0});
                    std::stable_sort(order.begin(), order.end(), [=](int64_t i, int64_t j) {
                        return (keys[i] >> shift & mask) < (keys[j] >> shift & mask);
                    });
                    for (int64_t i = 0; i < n; ++i) {
                        sorted_keys[i] = keys[order[i]];
                        sorted_values[i] = values[order[i]];
                    }
                },
                keys, sorted_keys, values, sorted_values, n, begin_bit, mask);
    }
};

}  // namespace cub
