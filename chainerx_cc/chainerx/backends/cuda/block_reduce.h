#pragma once

// Sums and other combinations over the threads of a warp or a block.

#include <cstdint>
#include <cstring>

#include "chainerx/backends/cuda/launch.h"

namespace chainerx::cuda {

// The value of the lane whose index differs in the given bits.
template <class T>
__device__ T ShuffleXor(T value, int bits) {
    constexpr int kWords = (sizeof(T) + 3) / 4;
    uint32_t words[kWords] = {};
    std::memcpy(words, &value, sizeof(T));
    for (int i = 0; i < kWords; ++i) words[i] = __shfl_xor_sync(kAllLanes, words[i], bits);
    std::memcpy(&value, words, sizeof(T));
    return value;
}

// Combines the values of a warp, or of each group of so many neighbours in it; all of them get the result.
template <unsigned kLanes = kWarp, class Op, class Acc>
__device__ Acc CombineWarp(const Op& op, Acc value) {
    for (int bits = kLanes / 2; bits > 0; bits /= 2) value = op.Combine(value, ShuffleXor(value, bits));
    return value;
}

// Combines the values of a block of threads; all of them get the result.
template <unsigned kThreads = kBlock, class Op, class Acc>
__device__ Acc CombineBlock(const Op& op, Acc value) {
    constexpr unsigned kWarps = kThreads / kWarp;
    static_assert(kWarps <= kWarp);
    alignas(Acc) __shared__ char memory[kWarps * sizeof(Acc)];
    Acc* parts = reinterpret_cast<Acc*>(memory);
    value = CombineWarp(op, value);
    __syncthreads();  // after an earlier use of the memory
    if (threadIdx.x % kWarp == 0) parts[threadIdx.x / kWarp] = value;
    __syncthreads();
    return CombineWarp<kWarps>(op, parts[threadIdx.x % kWarps]);
}

// Combines the values of a team of neighbouring threads: one, a warp or a block. All of them get the result.
template <unsigned kThreads, class Op, class Acc>
__device__ Acc CombineTeam(const Op& op, Acc value) {
    if constexpr (kThreads == 1) return value;
    if constexpr (kThreads == kWarp) return CombineWarp(op, value);
    if constexpr (kThreads > kWarp) return CombineBlock<kThreads>(op, value);
}

}  // namespace chainerx::cuda
