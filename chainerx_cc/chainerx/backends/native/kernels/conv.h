#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

constexpr int kMaxSpatialDims = 8;

// The product of the first `ndim` sizes
CHAINERX_INLINE int64_t SpatialSize(const int64_t* sizes, int ndim) {
    int64_t size = 1;
    for (int d = 0; d < ndim; ++d) {
        size *= sizes[d];
    }
    return size;
}

// Sizes of an N-d convolution (correlation, as in deep learning). Arrays are row-major:
//   x (batch, in_channels, in[0], ..., in[ndim - 1])
//   w (out_channels, in_channels / groups, kernel[0], ...)
//   y (batch, out_channels, out[0], ...)
// y[o] sums x[o * stride - pad + k * dilation] w[k] over k; positions outside x count as zero. The caller chooses
// `out`, with any covering rule. Groups must divide both channel counts.
struct ConvShape {
    int ndim;  // 0 <= ndim <= kMaxSpatialDims
    int64_t batch;
    int64_t groups;
    int64_t in_channels;
    int64_t out_channels;
    int64_t in[kMaxSpatialDims];
    int64_t kernel[kMaxSpatialDims];
    int64_t out[kMaxSpatialDims];
    int64_t stride[kMaxSpatialDims];
    int64_t pad[kMaxSpatialDims];  // at the low side
    int64_t dilation[kMaxSpatialDims];
};

// y = convolution of x with w, plus bias (out_channels), which may be null.
CHAINERX_ISA_KERNEL(ConvForward, (const ConvShape& shape, const T* x, const T* w, const T* bias, T* y),
                    (shape, x, w, bias, y))

// For many calls with the same weights: packs them, into GetPackedSize() elements. Sizes must not be zero. Both depend
// on groups, channels and kernel of the shape only.
CHAINERX_ISA_KERNEL(GetPackedSize, (const ConvShape& shape, int64_t* size), (shape, size))
CHAINERX_ISA_KERNEL(PackConvWeights, (const ConvShape& shape, const T* w, T* packed), (shape, w, packed))

// y = convolution of x with packed weights, plus bias (out_channels), plus `addend` (as y), both of which may be null,
// and if `relu`, negative sums replaced by zero, and those above `most` by it.
CHAINERX_ISA_KERNEL(ConvForwardPacked,
                    (const ConvShape& shape, const T* x, const T* packed, const T* bias, const T* addend, bool relu,
                     T most, T* y),
                    (shape, x, packed, bias, addend, relu, most, y))

// gx = the gradient of sum(y * gy) with respect to x, which is also the transposed convolution. Adds `bias`
// (in_channels), which may be null.
CHAINERX_ISA_KERNEL(ConvBackwardData, (const ConvShape& shape, const T* gy, const T* w, const T* bias, T* gx),
                    (shape, gy, w, bias, gx))

// gw = the gradient of sum(y * gy) with respect to w.
CHAINERX_ISA_KERNEL(ConvBackwardWeight, (const ConvShape& shape, const T* x, const T* gy, T* gw), (shape, x, gy, gw))

}  // namespace chainerx::native
