#pragma once

// Vectors of the width of the instruction set being compiled for. For *_isa.cc sources only.

#include <cstdint>
#include <type_traits>

#include "chainerx/backends/native/kernels/isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define CHAINERX_SIMD_BYTES 64
#elif defined(__AVX2__)
#define CHAINERX_SIMD_BYTES 32
#else
#define CHAINERX_SIMD_BYTES 16
#endif

namespace chainerx::native::CHAINERX_ISA {

template <class T>
struct Simd {
    static constexpr int kSize = CHAINERX_SIMD_BYTES / sizeof(T);
    typedef T V __attribute__((vector_size(CHAINERX_SIMD_BYTES)));
    typedef T Unaligned __attribute__((vector_size(CHAINERX_SIMD_BYTES), aligned(alignof(T)), may_alias));
};

template <class T>
using Vec = typename Simd<T>::V;

template <class T>
CHAINERX_INLINE Vec<T> Load(const T* p) {
    return *reinterpret_cast<const typename Simd<T>::Unaligned*>(p);
}

template <class T>
CHAINERX_INLINE void Store(T* p, Vec<T> v) {
    *reinterpret_cast<typename Simd<T>::Unaligned*>(p) = v;
}

template <class T>
CHAINERX_INLINE Vec<T> Set(T value) {
    return value - Vec<T>{};  // unlike value + Vec{}, keeps -0
}

// The first `count` (< kSize) elements; the others are zero, and memory past `count` is not touched.
CHAINERX_INLINE Vec<float> LoadPartial(const float* p, int count) {
#if defined(__AVX512F__)
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1U), p);
#elif defined(__AVX2__)
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane));
#else
    Vec<float> v{};
    for (int i = 0; i < count; ++i) {
        v[i] = p[i];
    }
    return v;
#endif
}

CHAINERX_INLINE Vec<double> LoadPartial(const double* p, int count) {
#if defined(__AVX512F__)
    return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1U << count) - 1U), p);
#elif defined(__AVX2__)
    __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), lane));
#else
    Vec<double> v{};
    for (int i = 0; i < count; ++i) {
        v[i] = p[i];
    }
    return v;
#endif
}

CHAINERX_INLINE void StorePartial(float* p, Vec<float> v, int count) {
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << count) - 1U), v);
#elif defined(__AVX2__)
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_maskstore_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane), v);
#else
    for (int i = 0; i < count; ++i) {
        p[i] = v[i];
    }
#endif
}

CHAINERX_INLINE void StorePartial(double* p, Vec<double> v, int count) {
#if defined(__AVX512F__)
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1U << count) - 1U), v);
#elif defined(__AVX2__)
    __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    _mm256_maskstore_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), lane), v);
#else
    for (int i = 0; i < count; ++i) {
        p[i] = v[i];
    }
#endif
}

// Lane i from p[i] where bit i of `lanes` is set, else zero. Memory of other lanes is not touched.
CHAINERX_INLINE Vec<float> LoadMasked(const float* p, uint32_t lanes) {
#if defined(__AVX512F__)
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), p);
#elif defined(__AVX2__)
    __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i set = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(lanes)), bit);
    return _mm256_maskload_ps(p, _mm256_cmpeq_epi32(set, bit));
#else
    constexpr uint32_t kAll = (1U << Simd<float>::kSize) - 1U;
    if (lanes == kAll) {
        return Load(p);
    }
    Vec<float> v{};
    for (int i = 0; i < Simd<float>::kSize; ++i) {
        if ((lanes >> i & 1U) != 0) {
            v[i] = p[i];
        }
    }
    return v;
#endif
}

CHAINERX_INLINE Vec<double> LoadMasked(const double* p, uint32_t lanes) {
#if defined(__AVX512F__)
    return _mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), p);
#elif defined(__AVX2__)
    __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    __m256i set = _mm256_and_si256(_mm256_set1_epi64x(static_cast<int64_t>(lanes)), bit);
    return _mm256_maskload_pd(p, _mm256_cmpeq_epi64(set, bit));
#else
    constexpr uint32_t kAll = (1U << Simd<double>::kSize) - 1U;
    if (lanes == kAll) {
        return Load(p);
    }
    Vec<double> v{};
    for (int i = 0; i < Simd<double>::kSize; ++i) {
        if ((lanes >> i & 1U) != 0) {
            v[i] = p[i];
        }
    }
    return v;
#endif
}

// Integer vectors with as many lanes, for shuffles
template <class T>
struct LaneMask {
    typedef std::conditional_t<sizeof(T) == 4, int32_t, int64_t> V __attribute__((vector_size(CHAINERX_SIMD_BYTES)));
};

// Element i is element mask[i] of x followed by y.
template <class T>
CHAINERX_INLINE Vec<T> Shuffle(Vec<T> x, Vec<T> y, typename LaneMask<T>::V mask) {
#if defined(__clang__)
    // Without GCC's builtin; masks that are known when it compiles become one instruction, too.
    Vec<T> v;
#pragma clang loop unroll(full)
    for (int i = 0; i < Simd<T>::kSize; ++i) {
        v[i] = mask[i] < Simd<T>::kSize ? x[mask[i]] : y[mask[i] - Simd<T>::kSize];
    }
    return v;
#else
    return __builtin_shuffle(x, y, mask);
#endif
}

// Lanes 0, 2, 4, ... of low, then of high
template <class T>
CHAINERX_INLINE Vec<T> EvenLanes(Vec<T> low, Vec<T> high) {
    typename LaneMask<T>::V even{};
#pragma GCC unroll 16
    for (int i = 0; i < Simd<T>::kSize; ++i) {
        even[i] = 2 * i;
    }
    return Shuffle<T>(low, high, even);
}

// Lanes 0, 2, 4, ... of low, then 1, 3, 5, ... of high
template <class T>
CHAINERX_INLINE Vec<T> EvenThenOdd(Vec<T> low, Vec<T> high) {
    constexpr int kSize = Simd<T>::kSize;
    typename LaneMask<T>::V mask{};
#pragma GCC unroll 16
    for (int i = 0; i < kSize; ++i) {
        mask[i] = 2 * i + (i < kSize / 2 ? 0 : 1);
    }
    return Shuffle<T>(low, high, mask);
}

template <class T>
CHAINERX_INLINE T Sum(Vec<T> v) {
    // Pairwise within the vector.
    constexpr int kSize = Simd<T>::kSize;
    T parts[kSize];
    Store(parts, v);
    for (int width = kSize / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; ++i) {
            parts[i] += parts[i + width];
        }
    }
    return parts[0];
}

#if defined(__AVX512F__)
template <>
CHAINERX_INLINE float Sum<float>(Vec<float> v) {
    return _mm512_reduce_add_ps(v);
}
template <>
CHAINERX_INLINE double Sum<double>(Vec<double> v) {
    return _mm512_reduce_add_pd(v);
}
#endif

}  // namespace chainerx::native::CHAINERX_ISA
