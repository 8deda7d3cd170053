#pragma once

// What kernels use: indices, barriers, shuffles, atomics.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
// One block runs at a time.
#define __shared__ static

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
extern Indices g_indices;  // of the running thread of the grid

constexpr unsigned kWarpSize = 32;

// Wait for the other threads of the block or the warp.
void BlockBarrier();
void WarpBarrier();
unsigned Lane();
// One slot of 8 bytes for each lane of the running thread's warp.
uint64_t* WarpSlots();

}  // namespace cuda_emulation

// References, since members of the launch configuration have these names too.
[[maybe_unused]] static dim3& threadIdx = cuda_emulation::g_indices.thread;
[[maybe_unused]] static dim3& blockIdx = cuda_emulation::g_indices.block;
[[maybe_unused]] static dim3& blockDim = cuda_emulation::g_indices.block_size;
[[maybe_unused]] static dim3& gridDim = cuda_emulation::g_indices.grid_size;

inline void __threadfence_system() {}
inline void __syncthreads() { cuda_emulation::BlockBarrier(); }

// Of pi * x.
inline void sincospi(double x, double* sine, double* cosine) {
    *sine = std::sin(3.14159265358979324 * x);
    *cosine = std::cos(3.14159265358979324 * x);
}
inline void sincospif(float x, float* sine, float* cosine) {
    double wide_sine;
    double wide_cosine;
    sincospi(x, &wide_sine, &wide_cosine);
    *sine = static_cast<float>(wide_sine);
    *cosine = static_cast<float>(wide_cosine);
}

// All lanes take part.
template <class T>
T __shfl_xor_sync(unsigned, T value, int bits) {
    static_assert(sizeof(T) <= sizeof(uint64_t));
    uint64_t* slots = cuda_emulation::WarpSlots();
    unsigned lane = cuda_emulation::Lane();
    std::memcpy(&slots[lane], &value, sizeof(T));
    cuda_emulation::WarpBarrier();
    std::memcpy(&value, &slots[lane ^ static_cast<unsigned>(bits)], sizeof(T));
    cuda_emulation::WarpBarrier();
    return value;
}

// No other thread runs during an update.
template <class T>
T atomicCAS(T* p, T expected, T value) {
    T before = *p;
    if (before == expected) *p = value;
    return before;
}
