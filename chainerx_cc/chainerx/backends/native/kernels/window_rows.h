#pragma once

// Walks a sliding window over an image row by row, for im2col and pooling. For *_isa.cc only.

#include <cstdint>

#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native::CHAINERX_ISA {

// One row of outputs (positions differing in the last dimension) seen through one element of the window.
struct WindowRow {
    int64_t tap;    // index of the window's element
    int64_t out;    // offset of the first output of the row
    int64_t count;  // outputs of the row
    int64_t begin;  // outputs begin <= o < end have their input inside the image
    int64_t end;
    int64_t in;    // offset of the input of output 0, used with begin <= o < end only
    int64_t step;  // distance of the inputs of neighbouring outputs
};

// The outputs o, of `count`, with 0 <= o * stride + offset < size: from *begin to before *end.
CHAINERX_INLINE void InsideRange(int64_t offset, int64_t stride, int64_t size, int64_t count, int64_t* begin,
                                 int64_t* end) {
    int64_t low = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    int64_t high = size > offset ? (size - offset + stride - 1) / stride : 0;
    *begin = low < count ? low : count;
    *end = high < count ? high : count;
    *end = *end < *begin ? *begin : *end;
}

// Calls visit(row) for every element of the window and the row of outputs number `row_index`. If the whole row of an
// element lies outside the image, begin == end. ndim >= 1.
template <class F>
CHAINERX_INLINE void VisitWindowRow(const ConvShape& s, int64_t row_index, const F& visit) {
    int last = s.ndim - 1;
    WindowRow row{};
    row.count = s.out[last];
    row.out = row_index * row.count;
    row.step = s.stride[last];
    int64_t start[kMaxSpatialDims];  // first input position in each outer dimension
    for (int d = last - 1; d >= 0; --d) {
        start[d] = row_index % s.out[d] * s.stride[d] - s.pad[d];
        row_index /= s.out[d];
    }
    int64_t outer_taps = SpatialSize(s.kernel, last);
    for (int64_t outer = 0; outer < outer_taps; ++outer) {
        int64_t rest = outer;
        int64_t base = 0;
        int64_t scale = s.in[last];
        bool inside = true;
        for (int d = last - 1; d >= 0; --d) {
            int64_t index = start[d] + rest % s.kernel[d] * s.dilation[d];
            rest /= s.kernel[d];
            inside = inside && index >= 0 && index < s.in[d];
            base += index * scale;
            scale *= s.in[d];
        }
        for (int64_t k = 0; k < s.kernel[last]; ++k) {
            int64_t offset = k * s.dilation[last] - s.pad[last];
            row.tap = outer * s.kernel[last] + k;
            row.in = base + offset;
            if (inside) {
                InsideRange(offset, row.step, s.in[last], row.count, &row.begin, &row.end);
            } else {
                row.begin = row.end = 0;
            }
            visit(row);
        }
    }
}

}  // namespace chainerx::native::CHAINERX_ISA
