#pragma once

// Sums and maxima of contiguous rows, with many accumulators. For *_isa.cc sources only.

#include <cstdint>

#include "chainerx/backends/native/kernels/simd.h"
#include "chainerx/math/float_parts.h"

namespace chainerx::native::CHAINERX_ISA {

// Sum of term(vector index -> Vec<T>) over [0, n): term(i) gives the vector at i, partial(i, count) the last
// `count` elements with zeros after them. Long rows are summed in blocks, and those in double.
template <class T, class Term, class Partial>
CHAINERX_INLINE double SumTerms(int64_t n, const Term& term, const Partial& partial) {
    constexpr int kSize = Simd<T>::kSize;
    constexpr int64_t kBlock = 64 * 4 * kSize;
    double total = 0;
    int64_t i = 0;
    while (i < n) {
        int64_t end = n - i < kBlock ? n : i + kBlock;
        Vec<T> acc[4] = {};
        for (; i + 4 * kSize <= end; i += 4 * kSize) {
            acc[0] += term(i);
            acc[1] += term(i + kSize);
            acc[2] += term(i + 2 * kSize);
            acc[3] += term(i + 3 * kSize);
        }
        for (; i + kSize <= end; i += kSize) {
            acc[0] += term(i);
        }
        if (i < end) {
            acc[1] += partial(i, static_cast<int>(end - i));
            i = end;
        }
        total += static_cast<double>(Sum<T>((acc[0] + acc[1]) + (acc[2] + acc[3])));
    }
    return total;
}

template <class T>
CHAINERX_INLINE double RowSum(const T* x, int64_t n) {
    return SumTerms<T>(
            n, [x](int64_t i) { return Load(x + i); }, [x](int64_t i, int count) { return LoadPartial(x + i, count); });
}

// Sum of (x - mean)^2
template <class T>
CHAINERX_INLINE double RowSquares(const T* x, int64_t n, T mean) {
    Vec<T> m = Set(mean);
    return SumTerms<T>(
            n,
            [x, m](int64_t i) {
                Vec<T> d = Load(x + i) - m;
                return d * d;
            },
            [x, mean](int64_t i, int count) {
                T d[Simd<T>::kSize] = {};
                for (int lane = 0; lane < count; ++lane) {
                    d[lane] = (x[i + lane] - mean) * (x[i + lane] - mean);
                }
                return Load(d);
            });
}

// Sum of (x - mean) * g
template <class T>
CHAINERX_INLINE double RowDot(const T* x, const T* g, int64_t n, T mean) {
    Vec<T> m = Set(mean);
    return SumTerms<T>(
            n, [x, g, m](int64_t i) { return (Load(x + i) - m) * Load(g + i); },
            [x, g, m](int64_t i, int count) { return (LoadPartial(x + i, count) - m) * LoadPartial(g + i, count); });
}

// -inf for an empty row and one of NaN
template <class T>
CHAINERX_INLINE T RowMax(const T* x, int64_t n) {
    constexpr int kLanes = 4 * Simd<T>::kSize;
    T lanes[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = -math::kInfinity<T>;
    }
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (int lane = 0; lane < kLanes; ++lane) {
            lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
        }
    }
    for (; i + kLanes / 4 <= n; i += kLanes / 4) {
        for (int lane = 0; lane < kLanes / 4; ++lane) {
            lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
        }
    }
    for (; i < n; ++i) {
        lanes[0] = x[i] > lanes[0] ? x[i] : lanes[0];
    }
    for (int width = kLanes / 2; width > 0; width /= 2) {
        for (int lane = 0; lane < width; ++lane) {
            lanes[lane] = lanes[lane + width] > lanes[lane] ? lanes[lane + width] : lanes[lane];
        }
    }
    return lanes[0];
}

}  // namespace chainerx::native::CHAINERX_ISA
