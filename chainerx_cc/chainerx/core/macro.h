#pragma once

// Functions usable from every backend's compiler. A CUDA build defines them as __host__ __device__.
#if defined(__CUDACC__)
#define CHAINERX_HOST_DEVICE __host__ __device__ __forceinline__
#else
// Op functors must be inlined into the instruction-set specific loops that call them.
#define CHAINERX_HOST_DEVICE inline __attribute__((always_inline))
#endif

#define CHAINERX_EXPORT __attribute__((visibility("default")))
#define CHAINERX_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define CHAINERX_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)
