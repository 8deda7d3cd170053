#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/norm.h"
#include "chainerx/backends/native/kernels/row_sums.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

constexpr int64_t kGrain = 16384;

template <class T>
CHAINERX_INLINE T InverseRoot(double value) {
    return static_cast<T>(1.0 / __builtin_sqrt(value));
}

// With one spatial position, channels are neighbours: sums run down the columns, for channels [begin, end).
// add(sum index, channel, element offset) is called for all elements.
template <class T, class F>
CHAINERX_INLINE void ForColumns(int64_t batch, int64_t channels, int64_t begin, int64_t end, const F& add) {
    for (int64_t n = 0; n < batch; ++n) {
#pragma GCC ivdep
        for (int64_t c = begin; c < end; ++c) {
            add(c - begin, c, n * channels + c);
        }
    }
}

// body(begin, end) over channels
template <class F>
void ForChannels(int64_t batch, int64_t channels, int64_t spatial, const F& body) {
    int64_t grain = 1 + kGrain / (batch * spatial + 1);
    if (spatial == 1 && grain < 16) {
        grain = 16;  // one cache line of columns
    }
    ParallelFor(channels, grain, body);
}

}  // namespace

template <class T>
void BatchNormForward(int64_t batch, int64_t channels, int64_t spatial, const T* x, const T* gamma, const T* beta,
                      T eps, T* y, T* mean, T* var, T* inv_std) {
    auto count = static_cast<double>(batch * spatial);
    ForChannels(batch, channels, spatial, [&](int64_t begin, int64_t end) {
        if (spatial == 1) {
            Scratch<double> sums{2 * (end - begin)};
            double* sum = sums.data();
            double* squares = sum + (end - begin);
            for (int64_t i = 0; i < 2 * (end - begin); ++i) {
                sum[i] = 0;
            }
            ForColumns<T>(
                    batch, channels, begin, end, [=](int64_t i, int64_t, int64_t at) __attribute__((always_inline)) {
                        sum[i] += static_cast<double>(x[at]);
                    });
            for (int64_t c = begin; c < end; ++c) {
                mean[c] = static_cast<T>(sum[c - begin] / count);
            }
            ForColumns<T>(
                    batch, channels, begin, end, [=](int64_t i, int64_t c, int64_t at) __attribute__((always_inline)) {
                        T d = x[at] - mean[c];
                        squares[i] += static_cast<double>(d * d);
                    });
            for (int64_t c = begin; c < end; ++c) {
                var[c] = static_cast<T>(squares[c - begin] / count);
                inv_std[c] = InverseRoot<T>(squares[c - begin] / count + static_cast<double>(eps));
            }
        } else {
            for (int64_t c = begin; c < end; ++c) {
                double sum = 0;
                for (int64_t n = 0; n < batch; ++n) {
                    sum += RowSum(x + (n * channels + c) * spatial, spatial);
                }
                mean[c] = static_cast<T>(sum / count);
                double squares = 0;
                for (int64_t n = 0; n < batch; ++n) {
                    squares += RowSquares(x + (n * channels + c) * spatial, spatial, mean[c]);
                }
                var[c] = static_cast<T>(squares / count);
                inv_std[c] = InverseRoot<T>(squares / count + static_cast<double>(eps));
                T scale = inv_std[c] * gamma[c];
                T m = mean[c];
                T shift = beta[c];
                for (int64_t n = 0; n < batch; ++n) {
                    const T* row = x + (n * channels + c) * spatial;
                    T* out = y + (n * channels + c) * spatial;
#pragma GCC ivdep
                    for (int64_t i = 0; i < spatial; ++i) {
                        out[i] = (row[i] - m) * scale + shift;
                    }
                }
            }
        }
    });
    if (spatial == 1) {
        BatchNormApply(batch, channels, spatial, x, gamma, beta, static_cast<const T*>(mean),
                       static_cast<const T*>(inv_std), y);
    }
}

template <class T>
void BatchNormApply(int64_t batch, int64_t channels, int64_t spatial, const T* x, const T* gamma, const T* beta,
                    const T* mean, const T* inv_std, T* y) {
    if (spatial == 1) {
        ParallelFor(batch, 1 + kGrain / (channels + 1), [&](int64_t begin, int64_t end) {
            for (int64_t n = begin; n < end; ++n) {
                const T* row = x + n * channels;
                T* out = y + n * channels;
#pragma GCC ivdep
                for (int64_t c = 0; c < channels; ++c) {
                    out[c] = (row[c] - mean[c]) * (inv_std[c] * gamma[c]) + beta[c];
                }
            }
        });
        return;
    }
    ParallelFor(batch * channels, 1 + kGrain / (spatial + 1), [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
            int64_t c = plane % channels;
            T scale = inv_std[c] * gamma[c];
            T m = mean[c];
            T shift = beta[c];
            const T* row = x + plane * spatial;
            T* out = y + plane * spatial;
#pragma GCC ivdep
            for (int64_t i = 0; i < spatial; ++i) {
                out[i] = (row[i] - m) * scale + shift;
            }
        }
    });
}

template <class T>
void BatchNormBackward(int64_t batch, int64_t channels, int64_t spatial, const T* x, const T* gamma, const T* gy,
                       const T* mean, const T* inv_std, T* gx, T* ggamma, T* gbeta) {
    // gx = gamma inv_std (gy - gbeta / count - (x - mean) inv_std ggamma / count)
    auto count = static_cast<T>(batch * spatial);
    ForChannels(batch, channels, spatial, [&](int64_t begin, int64_t end) {
        if (spatial == 1) {
            Scratch<double> sums{2 * (end - begin)};
            double* sum = sums.data();
            double* dot = sum + (end - begin);
            for (int64_t i = 0; i < 2 * (end - begin); ++i) {
                sum[i] = 0;
            }
            ForColumns<T>(
                    batch, channels, begin, end, [=](int64_t i, int64_t c, int64_t at) __attribute__((always_inline)) {
                        sum[i] += static_cast<double>(gy[at]);
                        dot[i] += static_cast<double>((x[at] - mean[c]) * gy[at]);
                    });
            for (int64_t c = begin; c < end; ++c) {
                gbeta[c] = static_cast<T>(sum[c - begin]);
                ggamma[c] = static_cast<T>(dot[c - begin]) * inv_std[c];
            }
            ForColumns<T>(
                    batch, channels, begin, end, [=](int64_t, int64_t c, int64_t at) __attribute__((always_inline)) {
                        T scale = gamma[c] * inv_std[c];
                        gx[at] = scale *
                                 (gy[at] - gbeta[c] / count - (x[at] - mean[c]) * (inv_std[c] * ggamma[c] / count));
                    });
            return;
        }
        for (int64_t c = begin; c < end; ++c) {
            double sum = 0;
            double dot = 0;
            for (int64_t n = 0; n < batch; ++n) {
                int64_t at = (n * channels + c) * spatial;
                sum += RowSum(gy + at, spatial);
                dot += RowDot(x + at, gy + at, spatial, mean[c]);
            }
            gbeta[c] = static_cast<T>(sum);
            ggamma[c] = static_cast<T>(dot * static_cast<double>(inv_std[c]));
            T scale = gamma[c] * inv_std[c];
            T shift = gbeta[c] / count;
            T slope = inv_std[c] * ggamma[c] / count;
            T m = mean[c];
            for (int64_t n = 0; n < batch; ++n) {
                int64_t at = (n * channels + c) * spatial;
                const T* row = x + at;
                const T* g = gy + at;
                T* out = gx + at;
#pragma GCC ivdep
                for (int64_t i = 0; i < spatial; ++i) {
                    out[i] = scale * (g[i] - shift - (row[i] - m) * slope);
                }
            }
        }
    });
}

template <class T>
void LayerNormForward(int64_t rows, int64_t width, const T* x, const T* gamma, const T* beta, T eps, T* y, T* mean,
                      T* inv_std) {
    ParallelFor(rows, 1 + kGrain / (width + 1), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
            const T* row = x + r * width;
            T* out = y + r * width;
            T m = static_cast<T>(RowSum(row, width) / static_cast<double>(width));
            T scale = InverseRoot<T>(RowSquares(row, width, m) / static_cast<double>(width) + static_cast<double>(eps));
            mean[r] = m;
            inv_std[r] = scale;
#pragma GCC ivdep
            for (int64_t i = 0; i < width; ++i) {
                out[i] = (row[i] - m) * scale * gamma[i] + beta[i];
            }
        }
    });
}

template <class T>
void LayerNormBackward(int64_t rows, int64_t width, const T* x, const T* gamma, const T* gy, const T* mean,
                       const T* inv_std, T* gx, T* ggamma, T* gbeta) {
    // With h = (x - mean) inv_std and g = gy gamma: gx = inv_std (g - mean(g) - h mean(g h)), along the row.
    ParallelFor(rows, 1 + kGrain / (width + 1), [&](int64_t begin, int64_t end) {
        Scratch<T> product{width};
        T* g = product.data();
        for (int64_t r = begin; r < end; ++r) {
            const T* row = x + r * width;
            const T* grad = gy + r * width;
            T* out = gx + r * width;
#pragma GCC ivdep
            for (int64_t i = 0; i < width; ++i) {
                g[i] = grad[i] * gamma[i];
            }
            T m = mean[r];
            T scale = inv_std[r];
            T shift = static_cast<T>(RowSum(g, width) / static_cast<double>(width));
            T slope = static_cast<T>(RowDot(row, g, width, m) / static_cast<double>(width)) * scale * scale;
#pragma GCC ivdep
            for (int64_t i = 0; i < width; ++i) {
                out[i] = scale * (g[i] - shift - (row[i] - m) * slope);
            }
        }
    });
    // Column sums, in double
    ParallelFor(width, 16 + kGrain / (rows + 1), [&](int64_t begin, int64_t end) {
        Scratch<double> sums{2 * (end - begin)};
        double* sum = sums.data();
        double* dot = sum + (end - begin);
        for (int64_t i = 0; i < 2 * (end - begin); ++i) {
            sum[i] = 0;
        }
        for (int64_t r = 0; r < rows; ++r) {
            const T* row = x + r * width;
            const T* grad = gy + r * width;
            T m = mean[r];
            T scale = inv_std[r];
#pragma GCC ivdep
            for (int64_t i = begin; i < end; ++i) {
                sum[i - begin] += static_cast<double>(grad[i]);
                dot[i - begin] += static_cast<double>((row[i] - m) * scale * grad[i]);
            }
        }
        for (int64_t i = begin; i < end; ++i) {
            gbeta[i] = static_cast<T>(sum[i - begin]);
            ggamma[i] = static_cast<T>(dot[i - begin]);
        }
    });
}

#define CHAINERX_INSTANTIATE(T)                                                                                       \
    template void BatchNormForward<T>(int64_t, int64_t, int64_t, const T*, const T*, const T*, T, T*, T*, T*, T*);    \
    template void BatchNormApply<T>(int64_t, int64_t, int64_t, const T*, const T*, const T*, const T*, const T*, T*); \
    template void BatchNormBackward<T>(int64_t, int64_t, int64_t, const T*, const T*, const T*, const T*, const T*,   \
                                       T*, T*, T*);                                                                   \
    template void LayerNormForward<T>(int64_t, int64_t, const T*, const T*, const T*, T, T*, T*, T*);                 \
    template void LayerNormBackward<T>(int64_t, int64_t, const T*, const T*, const T*, const T*, const T*, T*, T*, T*);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native::CHAINERX_ISA
