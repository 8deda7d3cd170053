#include "chainerx/backends/native/kernels/im2col.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/window_rows.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

// Bytes may share memory with anything, so the compiler vectorizes only with __restrict.
template <class T>
void CopyRow(const WindowRow& r, const T* __restrict in, T pad_value, T* __restrict out) {
    const WindowRow row = r;
    for (int64_t o = 0; o < row.begin; ++o) {
        out[o] = pad_value;
    }
    if (row.step == 1) {
        for (int64_t o = row.begin; o < row.end; ++o) {
            out[o] = in[o];
        }
    } else if (row.step == 2) {
        for (int64_t o = row.begin; o < row.end; ++o) {
            out[o] = in[o * 2];
        }
    } else {
        for (int64_t o = row.begin; o < row.end; ++o) {
            out[o] = in[o * row.step];
        }
    }
    for (int64_t o = row.end; o < row.count; ++o) {
        out[o] = pad_value;
    }
}

}  // namespace

template <class T>
void Im2Col(const ConvShape& s, T pad_value, const T* x, T* col) {
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t taps = SpatialSize(s.kernel, s.ndim);
    if (s.ndim == 0) {
        for (int64_t i = 0; i < s.batch * s.in_channels; ++i) {
            col[i] = x[i];
        }
        return;
    }
    int64_t rows = SpatialSize(s.out, s.ndim - 1);
    ParallelFor(s.batch * s.in_channels, 1 + 32768 / (taps * out_size + 1), [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
            const T* image = x + plane * in_size;
            T* planes = col + plane * taps * out_size;
            for (int64_t r = 0; r < rows; ++r) {
                VisitWindowRow(s, r, [&](const WindowRow& row) {
                    CopyRow(row, image + row.in, pad_value, planes + row.tap * out_size + row.out);
                });
            }
        }
    });
}

template <class T>
void Col2Im(const ConvShape& s, const T* col, T* x) {
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t taps = SpatialSize(s.kernel, s.ndim);
    if (s.ndim == 0) {
        for (int64_t i = 0; i < s.batch * s.in_channels; ++i) {
            x[i] = col[i];
        }
        return;
    }
    int64_t rows = SpatialSize(s.out, s.ndim - 1);
    ParallelFor(s.batch * s.in_channels, 1 + 32768 / (taps * out_size + 1), [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
            T* image = x + plane * in_size;
            const T* planes = col + plane * taps * out_size;
            for (int64_t i = 0; i < in_size; ++i) {
                image[i] = T{0};
            }
            for (int64_t r = 0; r < rows; ++r) {
                VisitWindowRow(s, r, [&](const WindowRow& row) {
                    const T* in = planes + row.tap * out_size + row.out;
                    T* out = image + row.in;
#pragma GCC ivdep
                    for (int64_t o = row.begin; o < row.end; ++o) {
                        out[o * row.step] += in[o];
                    }
                });
            }
        }
    });
}

template void Im2Col<float>(const ConvShape&, float, const float*, float*);
template void Im2Col<double>(const ConvShape&, double, const double*, double*);
template void Im2Col<uint16_t>(const ConvShape&, uint16_t, const uint16_t*, uint16_t*);  // bfloat16
template void Col2Im<float>(const ConvShape&, const float*, float*);
template void Col2Im<double>(const ConvShape&, const double*, double*);

}  // namespace chainerx::native::CHAINERX_ISA
