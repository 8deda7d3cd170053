#pragma once

// Inline in every build, so that no copy compiled for one instruction set is linked into another's code.
#define CHAINERX_INLINE inline __attribute__((always_inline))

// What op functors are made of: for the compilers of every backend.
#if defined(__CUDACC__)
#define CHAINERX_HOST_DEVICE __host__ __device__ __forceinline__
#define CHAINERX_INLINE_LAMBDA
#else
// Functors must be inlined into the loops that call them, each compiled for an instruction set.
#define CHAINERX_HOST_DEVICE CHAINERX_INLINE
#define CHAINERX_INLINE_LAMBDA __attribute__((always_inline))
#endif

#define CHAINERX_EXPORT __attribute__((visibility("default")))
#define CHAINERX_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define CHAINERX_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)
