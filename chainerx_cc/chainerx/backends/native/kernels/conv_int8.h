#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/kernels/vnni.h"

namespace chainerx::native {

// Convolutions of 8-bit integers, with sums of 32 bits that wrap around. Instructions multiply bytes of images without
// a sign by bytes of weights with one, so 128 is added to those of images that have a sign, and subtracted from those
// of weights that have none. Zero points are of numbers after that.

// What follows the sums of a channel in the same pass: y = clip(sum scale + bias, least, most), and as bytes
// y / unit rounded half to even, plus `zero`, within their limits.
struct Int8ConvEpilogue {
    const float* scales;  // (out_channels)
    const float* bias;    // (out_channels), or null
    float least;
    float most;
    float unit;
    int32_t zero;
};

// T: int32_t for the sums; float, int8_t or uint8_t with an epilogue.
template <class T>
struct Int8Convolution {
    ConvShape shape;
    const uint8_t* x;  // images, of int8_t if `is_signed`
    bool is_signed;
    uint8_t outside;  // what padding has, as in x
    const void* weights;
    const int32_t* starts;  // (out_channels), added to the sums of products
    const int32_t* zeros;   // (out_channels), zero points of the weights; null if all are zero
    Int8ConvEpilogue epilogue;
    T* y;
};

// The size of packed weights in bytes, for all channels of the output and a row of ones.
CHAINERX_VNNI_KERNEL(GetInt8WeightsSize, (const ConvShape& shape, int64_t* size), (shape, size))
// T: int8_t or uint8_t. Sizes that matter are groups, channels, kernel and dilation; `sums` are of the weights of each
// channel of the output.
CHAINERX_VNNI_KERNEL(PackInt8Weights, (const ConvShape& shape, const T* w, void* packed, int32_t* sums),
                     (shape, w, packed, sums))
CHAINERX_VNNI_KERNEL(ConvolveInt8, (const Int8Convolution<T>& convolution), (convolution))

// The weights of a convolution, packed once for many images, which run in parallel.
class PackedInt8Conv {
public:
    // Sizes of the shape that depend on the image do not matter. `zeros`: zero points of the channels of the output,
    // one for all if `is_per_channel` is false, or null.
    PackedInt8Conv(const ConvShape& shape, const void* w, bool is_signed, const int32_t* zeros, bool is_per_channel);

    // y of x, int8_t if `is_signed`, with its zero point. `bias` (out_channels) is added to the sums, or null.
    template <class T>
    void Run(const ConvShape& shape, const void* x, bool is_signed, int32_t zero, const int32_t* bias,
             const Int8ConvEpilogue& epilogue, T* y) const;

private:
    int64_t inner_;  // weights of a channel of the output
    int64_t channels_;
    Buffer<int8_t> packed_;
    Buffer<int32_t> sums_;
    std::optional<Buffer<int32_t>> zeros_;
};

}  // namespace chainerx::native
