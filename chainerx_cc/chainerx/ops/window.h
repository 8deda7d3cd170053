#pragma once

#include <cstdint>

#include "chainerx/core/error.h"
#include "chainerx/core/kernel_watch.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/shape.h"

namespace chainerx {

// The maximum number of spatial dimensions of a convolution or a pooling.
constexpr int kMaxWindowDims = 8;

// One integer for each spatial dimension, or one for all of them.
class PerAxis {
public:
    PerAxis(int64_t all) : values_{all}, is_uniform_{true} {}  // NOLINT(runtime/explicit)
    explicit PerAxis(const Shape& values) : values_{values} {}

    // Writes `ndim` values to `out`. Raises if their number differs, or if one is below `least` or does not fit 32
    // bits.
    void Expand(const char* op, const char* name, int ndim, int64_t least, int64_t* out) const {
        if (!is_uniform_ && values_.ndim() != ndim) {
            throw DimensionError{op, ": ", name, " has ", int{values_.ndim()}, " elements, expected ", ndim};
        }
        for (int d = 0; d < ndim; ++d) {
            out[d] = values_[is_uniform_ ? 0 : d];
            // Within 32 bits, products and sums of sizes cannot overflow.
            if (out[d] < least || out[d] > INT32_MAX) {
                throw DimensionError{op, ": ", name, " must be between ", least, " and ", INT32_MAX, ", was ", out[d]};
            }
        }
    }

private:
    Shape values_;
    bool is_uniform_{false};
};

// Sizes of a convolution y = w * x or, without `groups` and `out_channels`, of a pooling.
//   x (batch, in_channels, in...), w (out_channels, in_channels / groups, kernel...), y (batch, out_channels, out...)
// y[o] reads x[o * stride - pad + k * dilation] over k.
struct WindowGeometry {
    int ndim{0};
    int64_t batch{0};
    int64_t groups{1};
    int64_t in_channels{0};
    int64_t out_channels{0};
    int64_t in[kMaxWindowDims];
    int64_t kernel[kMaxWindowDims];
    int64_t out[kMaxWindowDims];
    int64_t stride[kMaxWindowDims];
    int64_t pad[kMaxWindowDims];
    int64_t dilation[kMaxWindowDims];

    // The number of positions of a window along an axis with `room` for it to move. With cover_all, the last window may
    // reach beyond the axis, and so may the only window on a short axis.
    static int64_t CountWindows(int64_t room, int64_t stride, bool cover_all) {
        if (cover_all) room += stride - 1;
        return room < 0 ? 0 : room / stride + 1;
    }

    // Sets `out` from the other sizes. `cover_all`: windows reach every element. `end_pad`: the padding at the end of
    // each dimension, where it differs from `pad`.
    void SetOutput(const char* op, bool cover_all, const int64_t* end_pad = nullptr) {
        for (int d = 0; d < ndim; ++d) {
            int64_t pads = pad[d] + (end_pad != nullptr ? end_pad : pad)[d];
            int64_t room = in[d] + pads - (kernel[d] - 1) * dilation[d] - 1;
            out[d] = CountWindows(room, stride[d], cover_all);
            if (kernel[d] < 1 || out[d] < 1) {
                throw DimensionError{op,        ": the output would be empty: size ",
                                     in[d],     ", kernel ",
                                     kernel[d], ", stride ",
                                     stride[d], ", pad ",
                                     pad[d],    " in spatial dimension ",
                                     d};
            }
        }
    }

    // The element of an image that an element of the window (`tap`) meets at an output; -1 in the padding.
    CHAINERX_HOST_DEVICE int64_t InputOf(int64_t output, int64_t tap) const {
        int64_t position = 0;
        int64_t step = 1;
        for (int d = ndim - 1; d >= 0; --d) {
            int64_t i = output % out[d] * stride[d] + tap % kernel[d] * dilation[d] - pad[d];
            if (i < 0 || i >= in[d]) return -1;
            position += i * step;
            step *= in[d];
            output /= out[d];
            tap /= kernel[d];
        }
        return position;
    }
    // The output at which an element of the window meets an element of an image; -1 if there is none.
    CHAINERX_HOST_DEVICE int64_t OutputOf(int64_t input, int64_t tap) const {
        int64_t position = 0;
        int64_t step = 1;
        for (int d = ndim - 1; d >= 0; --d) {
            int64_t moved = input % in[d] + pad[d] - tap % kernel[d] * dilation[d];
            int64_t o = moved / stride[d];
            if (moved < 0 || moved % stride[d] != 0 || o >= out[d]) return -1;
            position += o * step;
            step *= out[d];
            input /= in[d];
            tap /= kernel[d];
        }
        return position;
    }
    // The elements of the window at an output that are not in the padding.
    CHAINERX_HOST_DEVICE int64_t CountInside(int64_t output) const {
        int64_t count = 1;
        for (int d = ndim - 1; d >= 0; --d) {
            int64_t inside = 0;
            for (int64_t k = 0; k < kernel[d]; ++k) {
                int64_t i = output % out[d] * stride[d] + k * dilation[d] - pad[d];
                inside += i >= 0 && i < in[d] ? 1 : 0;
            }
            count *= inside;
            output /= out[d];
        }
        return count;
    }
    CHAINERX_HOST_DEVICE int64_t InSize() const { return Product(in); }
    CHAINERX_HOST_DEVICE int64_t KernelSize() const { return Product(kernel); }
    CHAINERX_HOST_DEVICE int64_t OutSize() const { return Product(out); }

    Shape InShape() const { return MakeShape(batch, in_channels, in); }
    Shape OutShape(int64_t channels) const { return MakeShape(batch, channels, out); }
    Shape WeightShape() const { return MakeShape(out_channels, in_channels / groups, kernel); }

private:
    CHAINERX_HOST_DEVICE int64_t Product(const int64_t* sizes) const {
        int64_t size = 1;
        for (int d = 0; d < ndim; ++d) size *= sizes[d];
        return size;
    }
    Shape MakeShape(int64_t first, int64_t second, const int64_t* sizes) const {
        Shape shape{first, second};
        for (int d = 0; d < ndim; ++d) shape.push_back(sizes[d]);
        return shape;
    }
};

template <>
inline constexpr bool kIsKernelValue<WindowGeometry> = true;

}  // namespace chainerx
