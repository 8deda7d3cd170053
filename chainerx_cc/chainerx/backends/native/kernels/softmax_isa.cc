#include "chainerx/backends/native/kernels/row_sums.h"
#include "chainerx/backends/native/kernels/softmax.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/math/elementary.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

constexpr int64_t kGrain = 8192;
constexpr int64_t kColumns = 64;  // columns of the inner axis taken together

// A block of up to kColumns neighbouring columns, or one row when inner is 1.
struct Block {
    int64_t offset;  // of the first element in x
    int64_t index;   // of the first column in (outer, inner)
    int64_t columns;
};

// body(block) over all columns, in parallel
template <class F>
void ForBlocks(int64_t outer, int64_t n, int64_t inner, const F& body) {
    int64_t per_outer = (inner + kColumns - 1) / kColumns;
    int64_t width = inner < kColumns ? inner : kColumns;
    ParallelFor(outer * per_outer, 1 + kGrain / (n * width + 1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t first = i % per_outer * kColumns;
            int64_t left = inner - first;
            body(Block{i / per_outer * n * inner + first, i / per_outer * inner + first,
                       left < kColumns ? left : kColumns});
        }
    });
}

// Maxima and sums of exp(x - max) of the columns of a block. If y is not null, stores exp(x - max) in it.
template <class T>
CHAINERX_INLINE void MaxAndSum(int64_t n, int64_t inner, const T* x, int64_t columns, T* max, T* sum, T* y) {
    if (inner == 1) {
        T m = RowMax(x, n);
        m = m == -math::kInfinity<T> ? T{0} : m;  // exp(-inf - 0) = 0; a row of NaN stays NaN
        max[0] = m;
        if (y != nullptr) {
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) {
                y[i] = math::Exp(x[i] - m);
            }
            sum[0] = static_cast<T>(RowSum(y, n));
            return;
        }
        constexpr int64_t kPart = 256;
        T part[kPart];
        double total = 0;
        for (int64_t i = 0; i < n; i += kPart) {
            int64_t count = n - i < kPart ? n - i : kPart;
            for (int64_t j = 0; j < count; ++j) {
                part[j] = math::Exp(x[i + j] - m);
            }
            total += RowSum(part, count);
        }
        sum[0] = static_cast<T>(total);
        return;
    }
    for (int64_t c = 0; c < columns; ++c) {
        max[c] = -math::kInfinity<T>;
        sum[c] = T{0};
    }
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t c = 0; c < columns; ++c) {
            T value = x[i * inner + c];
            max[c] = value > max[c] ? value : max[c];
        }
    }
    for (int64_t c = 0; c < columns; ++c) {
        max[c] = max[c] == -math::kInfinity<T> ? T{0} : max[c];
    }
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t c = 0; c < columns; ++c) {
            sum[c] += math::Exp(x[i * inner + c] - max[c]);
        }
    }
    if (y != nullptr) {
        for (int64_t i = 0; i < n; ++i) {
#pragma GCC ivdep
            for (int64_t c = 0; c < columns; ++c) {
                y[i * inner + c] = math::Exp(x[i * inner + c] - max[c]);
            }
        }
    }
}

// out[i] = f(i, column) for all elements of a block, vectorized along the contiguous axis.
template <class T, class F>
CHAINERX_INLINE void Map(int64_t n, int64_t inner, int64_t columns, T* out, const F& f) {
    if (inner == 1) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) {
            out[i] = f(i, 0);
        }
        return;
    }
    for (int64_t i = 0; i < n; ++i) {
#pragma GCC ivdep
        for (int64_t c = 0; c < columns; ++c) {
            out[i * inner + c] = f(i * inner + c, c);
        }
    }
}

}  // namespace

template <class T>
void SoftmaxForward(int64_t outer, int64_t n, int64_t inner, const T* x, T* y) {
    ForBlocks(outer, n, inner, [&](const Block& block) {
        T max[kColumns];
        T sum[kColumns];
        T* out = y + block.offset;
        MaxAndSum(n, inner, x + block.offset, block.columns, max, sum, out);
        for (int64_t c = 0; c < block.columns; ++c) {
            sum[c] = T{1} / sum[c];
        }
        Map(
                n, inner, block.columns,
                out, [&](int64_t i, int64_t c) __attribute__((always_inline)) { return out[i] * sum[c]; });
    });
}

template <class T>
void LogSoftmaxForward(int64_t outer, int64_t n, int64_t inner, const T* x, T* y) {
    ForBlocks(outer, n, inner, [&](const Block& block) {
        T max[kColumns];
        T sum[kColumns];
        const T* in = x + block.offset;
        MaxAndSum(n, inner, in, block.columns, max, sum, static_cast<T*>(nullptr));
        for (int64_t c = 0; c < block.columns; ++c) {
            sum[c] = math::Log(sum[c]);
        }
        Map(
                n, inner, block.columns, y + block.offset, [&](int64_t i, int64_t c) __attribute__((always_inline)) {
                    return in[i] - max[c] - sum[c];
                });
    });
}

template <class T>
void SoftmaxBackward(int64_t outer, int64_t n, int64_t inner, const T* y, const T* gy, T* gx) {
    ForBlocks(outer, n, inner, [&](const Block& block) {
        T dot[kColumns] = {};
        const T* out = y + block.offset;
        const T* grad = gy + block.offset;
        if (inner == 1) {
            dot[0] = static_cast<T>(RowDot(out, grad, n, T{0}));
        } else {
            for (int64_t i = 0; i < n; ++i) {
                for (int64_t c = 0; c < block.columns; ++c) {
                    dot[c] += out[i * inner + c] * grad[i * inner + c];
                }
            }
        }
        Map(
                n, inner, block.columns, gx + block.offset, [&](int64_t i, int64_t c) __attribute__((always_inline)) {
                    return out[i] * (grad[i] - dot[c]);
                });
    });
}

template <class T>
void LogSoftmaxBackward(int64_t outer, int64_t n, int64_t inner, const T* y, const T* gy, T* gx) {
    ForBlocks(outer, n, inner, [&](const Block& block) {
        T sum[kColumns] = {};
        const T* out = y + block.offset;
        const T* grad = gy + block.offset;
        if (inner == 1) {
            sum[0] = static_cast<T>(RowSum(grad, n));
        } else {
            for (int64_t i = 0; i < n; ++i) {
                for (int64_t c = 0; c < block.columns; ++c) {
                    sum[c] += grad[i * inner + c];
                }
            }
        }
        Map(
                n, inner, block.columns, gx + block.offset, [&](int64_t i, int64_t c) __attribute__((always_inline)) {
                    return grad[i] - math::Exp(out[i]) * sum[c];
                });
    });
}

template <class T>
void SoftmaxCrossEntropyForward(int64_t outer, int64_t n, int64_t inner, const T* x, const int64_t* t,
                                int64_t ignore_label, T* loss, T* log_sum) {
    ForBlocks(outer, n, inner, [&](const Block& block) {
        T max[kColumns];
        T sum[kColumns];
        const T* in = x + block.offset;
        MaxAndSum(n, inner, in, block.columns, max, sum, static_cast<T*>(nullptr));
        for (int64_t c = 0; c < block.columns; ++c) {
            T log = math::Log(sum[c]);
            int64_t label = t[block.index + c];
            log_sum[block.index + c] = log + max[c];
            loss[block.index + c] = label == ignore_label ? T{0} : log - (in[label * inner + c] - max[c]);
        }
    });
}

template <class T>
void SoftmaxCrossEntropyBackward(int64_t outer, int64_t n, int64_t inner, const T* x, const int64_t* t,
                                 int64_t ignore_label, const T* log_sum, const T* gloss, T* gx) {
    ForBlocks(outer, n, inner, [&](const Block& block) {
        T scale[kColumns];
        const T* in = x + block.offset;
        T* out = gx + block.offset;
        const T* log = log_sum + block.index;
        for (int64_t c = 0; c < block.columns; ++c) {
            scale[c] = gloss[block.index + c];
        }
        Map(
                n, inner, block.columns, out, [&](int64_t i, int64_t c) __attribute__((always_inline)) {
                    return math::Exp(in[i] - log[c]) * scale[c];
                });
        for (int64_t c = 0; c < block.columns; ++c) {
            int64_t label = t[block.index + c];
            if (label != ignore_label) {
                out[label * inner + c] -= scale[c];
                continue;
            }
            for (int64_t i = 0; i < n; ++i) {
                out[i * inner + c] = T{0};
            }
        }
    });
}

#define CHAINERX_INSTANTIATE(T)                                                                                        \
    template void SoftmaxForward<T>(int64_t, int64_t, int64_t, const T*, T*);                                          \
    template void LogSoftmaxForward<T>(int64_t, int64_t, int64_t, const T*, T*);                                       \
    template void SoftmaxBackward<T>(int64_t, int64_t, int64_t, const T*, const T*, T*);                               \
    template void LogSoftmaxBackward<T>(int64_t, int64_t, int64_t, const T*, const T*, T*);                            \
    template void SoftmaxCrossEntropyForward<T>(int64_t, int64_t, int64_t, const T*, const int64_t*, int64_t, T*, T*); \
    template void SoftmaxCrossEntropyBackward<T>(int64_t, int64_t, int64_t, const T*, const int64_t*, int64_t,         \
                                                 const T*, const T*, T*);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native::CHAINERX_ISA
