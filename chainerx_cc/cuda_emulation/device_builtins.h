#pragma once

// What kernels use: indices, barriers, shuffles, atomics.

#include <cstddef>
#include <cstdint>
#include <cstring>

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
// The threads of a block run on one thread of the host, which runs one block at a time.
#define __shared__ static thread_local

struct dim3 {
    unsigned x;
    unsigned y;
    unsigned z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x{x}, y{y}, z{z} {}
};

namespace cuda_emulation {

struct Indices {
    dim3 thread;
    dim3 block;
    dim3 block_size;
    dim3 grid_size;
};
extern thread_local Indices t_indices;  // of the running thread of the grid

constexpr unsigned kWarpSize = 32;

// Wait for the other threads of the block, or of the warp among those in the mask.
void BlockBarrier();
void WarpBarrier(unsigned mask);
unsigned Lane();
// One slot of 8 bytes for each lane of the running thread's warp.
uint64_t* WarpSlots();
void* DynamicSharedMemory();

template <class T>
T Exchange(unsigned mask, T value, unsigned from) {
    static_assert(sizeof(T) <= sizeof(uint64_t));
    uint64_t* slots = WarpSlots();
    std::memcpy(&slots[Lane()], &value, sizeof(T));
    WarpBarrier(mask);
    T result;
    std::memcpy(&result, &slots[from < kWarpSize && (mask >> from & 1U) != 0 ? from : Lane()], sizeof(T));
    WarpBarrier(mask);
    return result;
}

}  // namespace cuda_emulation

// References, since members of the launch configuration have these names too.
[[maybe_unused]] static thread_local dim3& threadIdx = cuda_emulation::t_indices.thread;
[[maybe_unused]] static thread_local dim3& blockIdx = cuda_emulation::t_indices.block;
[[maybe_unused]] static thread_local dim3& blockDim = cuda_emulation::t_indices.block_size;
[[maybe_unused]] static thread_local dim3& gridDim = cuda_emulation::t_indices.grid_size;

inline void __threadfence_system() {}
inline void __syncthreads() { cuda_emulation::BlockBarrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffU) { cuda_emulation::WarpBarrier(mask); }

template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
    return cuda_emulation::Exchange(mask, value, static_cast<unsigned>(lane));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits) {
    return cuda_emulation::Exchange(mask, value, cuda_emulation::Lane() ^ static_cast<unsigned>(bits));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance) {
    return cuda_emulation::Exchange(mask, value, cuda_emulation::Lane() + distance);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance) {
    return cuda_emulation::Exchange(mask, value, cuda_emulation::Lane() - distance);
}

// Grids of several streams may run at the same time.
template <class T, class F>
T cuda_emulation_update(T* p, F&& f) {
    T before;
    __atomic_load(p, &before, __ATOMIC_RELAXED);
    for (T after = f(before); !__atomic_compare_exchange(p, &before, &after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
         after = f(before)) {
    }
    return before;
}
template <class T>
T atomicAdd(T* p, T value) {
    return cuda_emulation_update(p, [value](T x) { return static_cast<T>(x + value); });
}
template <class T>
T atomicCAS(T* p, T expected, T value) {
    return cuda_emulation_update(p, [=](T x) { return x == expected ? value : x; });
}
template <class T>
T atomicExch(T* p, T value) {
    return cuda_emulation_update(p, [value](T) { return value; });
}
