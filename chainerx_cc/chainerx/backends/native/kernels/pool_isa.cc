#include <limits>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/pool.h"
#include "chainerx/backends/native/kernels/row_sums.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/window_rows.h"
#include "chainerx/math/float_parts.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

// body(plane) for every image of the batch and channel, in parallel
template <class F>
void ForPlanes(const ConvShape& s, const F& body) {
    int64_t work = SpatialSize(s.out, s.ndim) * SpatialSize(s.kernel, s.ndim);
    ParallelFor(s.batch * s.in_channels, 1 + 32768 / (work + 1), [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
            body(plane);
        }
    });
}

// Divisors of the sums of a row of outputs: inside[o] elements in the last dimension times `factor`.
template <class T>
struct Divisors {
    explicit Divisors(const ConvShape& s) : inside{s.out[s.ndim - 1]} {
        int last = s.ndim - 1;
        for (int64_t o = 0; o < s.out[last]; ++o) {
            inside.data()[o] = static_cast<T>(Count(s, last, o));
        }
    }

    // Elements of the window of output `o` that are inside x, in one dimension
    static int64_t Count(const ConvShape& s, int d, int64_t o) {
        int64_t count = 0;
        for (int64_t k = 0; k < s.kernel[d]; ++k) {
            int64_t i = o * s.stride[d] - s.pad[d] + k * s.dilation[d];
            count += i >= 0 && i < s.in[d];
        }
        return count;
    }

    static T Factor(const ConvShape& s, int64_t row) {
        int64_t factor = 1;
        for (int d = s.ndim - 2; d >= 0; --d) {
            factor *= Count(s, d, row % s.out[d]);
            row /= s.out[d];
        }
        return static_cast<T>(factor);
    }

    Scratch<T> inside;
};

// Whether to loop along the rows of windows instead of along rows of outputs, because they are long.
bool HasLongRows(const ConvShape& s) {
    int last = s.ndim - 1;
    return s.dilation[last] == 1 && s.kernel[last] >= 8 && s.kernel[last] > s.out[last];
}

// Whether the only window is the whole image.
bool IsGlobal(const ConvShape& s) {
    bool is_global = true;
    for (int d = 0; d < s.ndim; ++d) {
        is_global = is_global && s.out[d] == 1 && s.kernel[d] == s.in[d] && s.pad[d] == 0 && s.dilation[d] == 1;
    }
    return is_global;
}

// Calls visit(output of the row, offset in the image, length) for the rows of the windows of row number `row_index`
// of the outputs, as far as they lie in the image.
template <class F>
CHAINERX_INLINE void VisitLongRows(const ConvShape& s, int64_t row_index, const F& visit) {
    int last = s.ndim - 1;
    ConvShape first = s;  // the first element of each row, without padding
    first.kernel[last] = 1;
    first.pad[last] = 0;
    VisitWindowRow(first, row_index, [&](const WindowRow& row) {
        if (row.begin == row.end) {
            return;  // outside in another dimension
        }
        for (int64_t o = 0; o < row.count; ++o) {
            int64_t begin = o * s.stride[last] - s.pad[last];
            int64_t end = begin + s.kernel[last];
            begin = begin > 0 ? begin : 0;
            end = end < s.in[last] ? end : s.in[last];
            if (begin < end) {
                visit(o, row.in + begin, end - begin);
            }
        }
    });
}

// A NaN is the greatest unless there was one.
template <class T>
CHAINERX_INLINE bool IsGreater(T value, T current) {
    return !(value <= current) & (current == current);
}

template <class T>
CHAINERX_INLINE void FillWithLowest(T* data, int64_t size) {
    for (int64_t i = 0; i < size; ++i) {
        data[i] = -std::numeric_limits<T>::infinity();
    }
}

// f(step), compiled for the usual steps
template <class F>
CHAINERX_INLINE void ForStep(int64_t step, const F& f) {
    if (step == 1) {
        f(1);
    } else if (step == 2) {
        f(2);
    } else {
        f(step);
    }
}

// The maxima and where they are.
template <class T>
void FindMaxima(const ConvShape& s, const T* x, T* y, int64_t* index) {
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t taps = SpatialSize(s.kernel, s.ndim);
    int64_t rows = SpatialSize(s.out, s.ndim - 1);
    int64_t count = s.out[s.ndim - 1];
    int64_t step = s.stride[s.ndim - 1];
    using Tap = math::IntOf<T>;  // as wide as T: the loop vectorizes
    ForPlanes(s, [&](int64_t plane) {
        const T* image = x + plane * in_size;
        Scratch<Tap> winners{count};  // the window's element that is the maximum, or -1
        Scratch<int64_t> inputs{taps};
        Tap* winner = winners.data();
        for (int64_t r = 0; r < rows; ++r) {
            T* best = y + plane * out_size + r * count;
            int64_t* where = index + plane * out_size + r * count;
            FillWithLowest(best, count);
            for (int64_t o = 0; o < count; ++o) {
                winner[o] = -1;
            }
            VisitWindowRow(s, r, [&](const WindowRow& row) {
                const T* in = image + row.in;
                auto tap = static_cast<Tap>(row.tap);
                inputs.data()[row.tap] = row.in;
                ForStep(
                        step, [&](int64_t stride) __attribute__((always_inline)) {
#pragma GCC ivdep
                            for (int64_t o = row.begin; o < row.end; ++o) {
                                T value = in[o * stride];
                                T current = best[o];
                                // The first element always wins over -1.
                                bool wins = IsGreater(value, current) | (winner[o] < 0);
                                best[o] = wins ? value : current;
                                winner[o] = wins ? tap : winner[o];
                            }
                        });
            });
            for (int64_t o = 0; o < count; ++o) {
                where[o] = winner[o] < 0 ? -1 : inputs.data()[winner[o]] + o * step;
            }
        }
    });
}

// best[o] = the greater of itself and in[o * step] for begin <= o < end
template <class T>
CHAINERX_INLINE void UpdateMaxima(const T* in, int64_t step, int64_t begin, int64_t end, T* best) {
    ForStep(
            step, [&](int64_t stride) __attribute__((always_inline)) {
#pragma GCC ivdep
                for (int64_t o = begin; o < end; ++o) {
                    T value = in[o * stride];
                    best[o] = IsGreater(value, best[o]) ? value : best[o];
                }
            });
}

// The maxima alone: first those of the rows that a row of outputs sees, then those of windows of the last dimension.
template <class T>
void ComputeMaxima(const ConvShape& s, const T* x, T* y) {
    int last = s.ndim - 1;
    int64_t width = s.in[last];
    int64_t count = s.out[last];
    int64_t rows = SpatialSize(s.out, last);
    ConvShape outer = s;  // windows of one column, at each column of x
    outer.out[last] = width;
    outer.kernel[last] = outer.stride[last] = 1;
    outer.pad[last] = 0;
    ForPlanes(s, [&](int64_t plane) {
        const T* image = x + plane * SpatialSize(s.in, s.ndim);
        Scratch<T> columns{width};
        for (int64_t r = 0; r < rows; ++r) {
            T* best = y + (plane * rows + r) * count;
            FillWithLowest(columns.data(), width);
            FillWithLowest(best, count);
            VisitWindowRow(outer, r, [&](const WindowRow& row) {
                UpdateMaxima(image + row.in, 1, row.begin, row.end, columns.data());
            });
            for (int64_t k = 0; k < s.kernel[last]; ++k) {
                int64_t offset = k * s.dilation[last] - s.pad[last];
                int64_t begin;
                int64_t end;
                InsideRange(offset, s.stride[last], width, count, &begin, &end);
                UpdateMaxima(columns.data() + offset, s.stride[last], begin, end, best);
            }
        }
    });
}

}  // namespace

template <class T>
void MaxPoolForward(const ConvShape& s, const T* x, T* y, int64_t* index) {
    if (index != nullptr) {
        FindMaxima(s, x, y, index);
    } else {
        ComputeMaxima(s, x, y);
    }
}

template <class T>
void MaxPoolBackward(const ConvShape& s, const T* gy, const int64_t* index, T* gx) {
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    ForPlanes(s, [&](int64_t plane) {
        T* image = gx + plane * in_size;
        for (int64_t i = 0; i < in_size; ++i) {
            image[i] = T{0};
        }
        for (int64_t o = plane * out_size; o < (plane + 1) * out_size; ++o) {
            if (index[o] >= 0) {
                image[index[o]] += gy[o];
            }
        }
    });
}

template <class T>
void AveragePoolForward(const ConvShape& s, PoolPadding padding, const T* x, T* y) {
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t rows = SpatialSize(s.out, s.ndim - 1);
    int64_t count = s.out[s.ndim - 1];
    auto window = static_cast<T>(SpatialSize(s.kernel, s.ndim));
    if (IsGlobal(s)) {
        ForPlanes(s, [&](int64_t plane) { y[plane] = static_cast<T>(RowSum(x + plane * in_size, in_size)) / window; });
        return;
    }
    Divisors<T> divisors{s};
    ForPlanes(s, [&](int64_t plane) {
        const T* image = x + plane * in_size;
        for (int64_t r = 0; r < rows; ++r) {
            T* sum = y + plane * out_size + r * count;
            for (int64_t o = 0; o < count; ++o) {
                sum[o] = T{0};
            }
            if (HasLongRows(s)) {
                VisitLongRows(s, r, [&](int64_t o, int64_t offset, int64_t length) {
                    sum[o] += static_cast<T>(RowSum(image + offset, length));
                });
            } else {
                VisitWindowRow(s, r, [&](const WindowRow& row) {
                    const T* in = image + row.in;
#pragma GCC ivdep
                    for (int64_t o = row.begin; o < row.end; ++o) {
                        sum[o] += in[o * row.step];
                    }
                });
            }
            if (padding == PoolPadding::kZero) {
                for (int64_t o = 0; o < count; ++o) {
                    sum[o] /= window;
                }
            } else {
                T factor = Divisors<T>::Factor(s, r);
                for (int64_t o = 0; o < count; ++o) {
                    T divisor = factor * divisors.inside.data()[o];
                    sum[o] = divisor == T{0} ? T{0} : sum[o] / divisor;
                }
            }
        }
    });
}

template <class T>
void AveragePoolBackward(const ConvShape& s, PoolPadding padding, const T* gy, T* gx) {
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t rows = SpatialSize(s.out, s.ndim - 1);
    int64_t count = s.out[s.ndim - 1];
    auto window = static_cast<T>(SpatialSize(s.kernel, s.ndim));
    Divisors<T> divisors{s};
    ForPlanes(s, [&](int64_t plane) {
        T* image = gx + plane * in_size;
        Scratch<T> share{count};  // of one element of each window of the row
        for (int64_t i = 0; i < in_size; ++i) {
            image[i] = T{0};
        }
        for (int64_t r = 0; r < rows; ++r) {
            const T* g = gy + plane * out_size + r * count;
            T factor = Divisors<T>::Factor(s, r);
            for (int64_t o = 0; o < count; ++o) {
                T divisor = padding == PoolPadding::kZero ? window : factor * divisors.inside.data()[o];
                share.data()[o] = divisor == T{0} ? T{0} : g[o] / divisor;
            }
            if (HasLongRows(s)) {
                VisitLongRows(s, r, [&](int64_t o, int64_t offset, int64_t length) {
                    T value = share.data()[o];
                    for (int64_t i = offset; i < offset + length; ++i) {
                        image[i] += value;
                    }
                });
            } else {
                VisitWindowRow(s, r, [&](const WindowRow& row) {
                    T* out = image + row.in;
                    const T* in = share.data();
#pragma GCC ivdep
                    for (int64_t o = row.begin; o < row.end; ++o) {
                        out[o * row.step] += in[o];
                    }
                });
            }
        }
    });
}

#define CHAINERX_INSTANTIATE(T)                                                       \
    template void MaxPoolForward<T>(const ConvShape&, const T*, T*, int64_t*);        \
    template void MaxPoolBackward<T>(const ConvShape&, const T*, const int64_t*, T*); \
    template void AveragePoolForward<T>(const ConvShape&, PoolPadding, const T*, T*); \
    template void AveragePoolBackward<T>(const ConvShape&, PoolPadding, const T*, T*);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native::CHAINERX_ISA
