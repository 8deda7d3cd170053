#pragma once

// Inlined in every build, so that the linker does not use a copy compiled for one instruction set in code for another.
#define CHAINERX_INLINE inline __attribute__((always_inline))

// For the functions that op functors call, in the compilers of all backends.
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
