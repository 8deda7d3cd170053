#include "chainerx/backends/native/kernels/attention.h"
#include "chainerx/backends/native/kernels/row_sums.h"
#include "chainerx/math/elementary.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

CHAINERX_INLINE int64_t RowLength(const AttentionRows& r, int64_t i) {
    int64_t n = r.first < 0 ? r.n : r.first + i + 1;
    return n < r.n ? n : r.n;
}

template <class T>
CHAINERX_INLINE void Mask(int64_t n, const bool* allowed, const T* bias, T* x) {
    if (allowed != nullptr) {
#pragma GCC ivdep
        for (int64_t j = 0; j < n; ++j) {
            x[j] = allowed[j] ? x[j] : -math::kInfinity<T>;
        }
    }
    if (bias != nullptr) {
#pragma GCC ivdep
        for (int64_t j = 0; j < n; ++j) {
            x[j] += bias[j];
        }
    }
}

// body(row index, number of keys, scores of the row), masked; then zeros follow.
template <class T, class F>
CHAINERX_INLINE void ForRows(const AttentionRows& r, const bool* allowed, const T* bias, int64_t mask_row, T* scores,
                             const F& body) {
    for (int64_t i = 0; i < r.rows; ++i) {
        T* x = scores + i * r.n;
        int64_t n = RowLength(r, i);
        Mask(n, allowed == nullptr ? nullptr : allowed + i * mask_row, bias == nullptr ? nullptr : bias + i * mask_row,
             x);
        body(i, n, x);
        for (int64_t j = n; j < r.n; ++j) {
            x[j] = T{0};
        }
    }
}

template <class T>
CHAINERX_INLINE void Scale(int64_t n, T factor, T* x) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
        x[j] *= factor;
    }
}

template <class T>
CHAINERX_INLINE void ExpOf(int64_t n, T shift, T* x) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
        x[j] = math::Exp(x[j] - shift);
    }
}

}  // namespace

template <class T>
void AttentionWeights(const AttentionRows& r, const bool* allowed, const T* bias, int64_t mask_row, T* scores,
                      T* log_sum) {
    ForRows(
            r, allowed, bias, mask_row, scores, [&](int64_t i, int64_t n, T * x) __attribute__((always_inline)) {
                T max = RowMax(x, n);
                max = max == -math::kInfinity<T> ? T{0} : max;  // a row without keys: exp(-inf - 0) = 0; NaN stays NaN
                ExpOf(n, max, x);
                auto sum = static_cast<T>(RowSum(x, n));
                bool is_empty = sum == T{0};
                Scale(n, is_empty ? T{0} : T{1} / sum, x);
                log_sum[i] = is_empty ? math::kInfinity<T> : math::Log(sum) + max;
            });
}

template <class T>
void AttentionWeightsAgain(const AttentionRows& r, const bool* allowed, const T* bias, int64_t mask_row, T* scores,
                           const T* log_sum) {
    ForRows(
            r, allowed, bias, mask_row,
            scores, [&](int64_t i, int64_t n, T * x) __attribute__((always_inline)) { ExpOf(n, log_sum[i], x); });
}

template <class T>
void AttentionScoreGrad(const AttentionRows& r, T scale, const T* w, T* g) {
    for (int64_t i = 0; i < r.rows; ++i) {
        const T* wi = w + i * r.n;
        T* gi = g + i * r.n;
        auto mean = static_cast<T>(RowDot(wi, gi, r.n, T{0}));
#pragma GCC ivdep
        for (int64_t j = 0; j < r.n; ++j) {
            gi[j] = scale * wi[j] * (gi[j] - mean);
        }
    }
}

#define CHAINERX_INSTANTIATE(T)                                                                                 \
    template void AttentionWeights<T>(const AttentionRows&, const bool*, const T*, int64_t, T*, T*);            \
    template void AttentionWeightsAgain<T>(const AttentionRows&, const bool*, const T*, int64_t, T*, const T*); \
    template void AttentionScoreGrad<T>(const AttentionRows&, T, const T*, T*);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native::CHAINERX_ISA
