#include "chainerx/ops/integer_convolution.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/core/operands.h"
#include "chainerx/ops/check_like.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx {

const PackIntegerFiltersKernel kPackIntegerFiltersKernel{"pack_integer_filters"};

namespace {

constexpr const char* kIntegerConvolutionName = "integer convolution";

void CheckConvolutionBytes(const char* name, const Array& x) {
    if (!IsByte(x.dtype())) {
        throw DtypeError{kIntegerConvolutionName, ": ", name, " has dtype ", x.dtype(), ", expected int8 or uint8"};
    }
}

// Zero points as int32: one element, or one for each of `count` channels. No array for none.
Array ZerosOf(const char* name, const std::optional<Array>& zero, const Array& operand, int64_t count) {
    if (!zero.has_value()) return Array{};
    CheckLike(kIntegerConvolutionName, name, *zero, zero->shape(), operand.dtype(), operand.device());
    if (zero->GetTotalSize() != 1 && zero->shape() != Shape{count}) {
        throw DimensionError{
                kIntegerConvolutionName, ": ", name, " of shape ", zero->shape(), " does not fit an operand of shape ",
                operand.shape()};
    }
    return AsContiguous(AsType(Reshape(zero->AsDetached(), Shape{zero->GetTotalSize()}), Dtype::kInt32));
}

void CheckOne(const char* name, const Array& a) {
    if (a.GetTotalSize() != 1) {
        throw DimensionError{kIntegerConvolutionName, ": ", name, " of shape ", a.shape(), " must have one element"};
    }
}

}  // namespace

IntegerConvolution::IntegerConvolution(const Array& w, const std::optional<Array>& w_zero, const PerAxis& stride,
                                       const PerAxis& dilate, int64_t groups)
    : device_{&w.device()} {
    CheckConvolutionBytes("w", w);
    WindowGeometry& g = geometry_;
    g.ndim = w.ndim() - 2;
    if (g.ndim < 0 || g.ndim > kMaxWindowDims || groups < 1 || w.shape()[0] % groups != 0 ||
        __builtin_mul_overflow(w.shape()[1], groups, &g.in_channels)) {
        throw DimensionError{kIntegerConvolutionName, ": w of shape ", w.shape(), " does not fit ", groups, " groups"};
    }
    g.groups = groups;
    g.out_channels = w.shape()[0];
    std::copy_n(w.shape().begin() + 2, g.ndim, g.kernel);
    for (int d = 0; d < g.ndim; ++d) {
        if (g.kernel[d] < 1) {
            throw DimensionError{kIntegerConvolutionName, ": w of shape ", w.shape(), " has empty windows"};
        }
    }
    stride.Expand(kIntegerConvolutionName, "stride", g.ndim, 1, g.stride);
    dilate.Expand(kIntegerConvolutionName, "dilate", g.ndim, 1, g.dilation);
    packed_ = kPackIntegerFiltersKernel(*device_, g, Contiguous(w.AsDetached()),
                                        ZerosOf("w_zero", w_zero, w, g.out_channels));
}

void IntegerConvolution::CheckEpilogue(const IntegerConvEpilogue& epilogue) const {
    Shape channels{geometry_.out_channels};
    CheckLike(kIntegerConvolutionName, "scale", epilogue.scale, channels, Dtype::kFloat32, *device_);
    if (epilogue.bias) CheckLike(kIntegerConvolutionName, "bias", epilogue.bias, channels, Dtype::kFloat32, *device_);
    if (epilogue.offset) {
        CheckLike(kIntegerConvolutionName, "offset", epilogue.offset, channels, Dtype::kInt32, *device_);
    }
    if (!epilogue.y_zero) return;
    CheckConvolutionBytes("y_zero", epilogue.y_zero);
    CheckOne("y_zero", epilogue.y_zero);
    CheckLike(kIntegerConvolutionName, "y_scale", epilogue.y_scale, epilogue.y_scale.shape(), Dtype::kFloat32,
              *device_);
    CheckOne("y_scale", epilogue.y_scale);
}

Array IntegerConvolution::operator()(const Array& x, const std::optional<Array>& x_zero, const PerAxis& pad,
                                     const PerAxis& end_pad, const IntegerConvEpilogue* epilogue) const {
    CheckConvolutionBytes("x", x);
    if (&x.device() != device_) ThrowDeviceMismatch(x.device(), *device_);
    WindowGeometry g = geometry_;
    if (x.ndim() != g.ndim + 2 || x.shape()[1] != g.in_channels) {
        throw DimensionError{kIntegerConvolutionName, ": x of shape ",  x.shape(), " does not fit weights for ",
                             g.in_channels,           " channels and ", g.ndim,    " dimensions"};
    }
    if (epilogue != nullptr) CheckEpilogue(*epilogue);
    g.batch = x.shape()[0];
    std::copy_n(x.shape().begin() + 2, g.ndim, g.in);
    int64_t end_pads[kMaxWindowDims];
    pad.Expand(kIntegerConvolutionName, "pad", g.ndim, INT32_MIN, g.pad);
    end_pad.Expand(kIntegerConvolutionName, "end_pad", g.ndim, INT32_MIN, end_pads);
    g.SetOutput(kIntegerConvolutionName, false, end_pads);
    Array x_zeros = ZerosOf("x_zero", x_zero, x, 1);
    Dtype dtype = epilogue == nullptr ? Dtype::kInt32 : epilogue->y_zero ? epilogue->y_zero.dtype() : Dtype::kFloat32;
    Array y = Empty(g.OutShape(g.out_channels), dtype, *device_);
    if (y.GetTotalSize() > 0) packed_->Run(g, Contiguous(x.AsDetached()), x_zeros, epilogue, y);
    return y;
}

Array IntegerConv(const Array& x, const Array& w, const std::optional<Array>& x_zero,
                  const std::optional<Array>& w_zero, const PerAxis& stride, const PerAxis& pad, const PerAxis& end_pad,
                  const PerAxis& dilate, int64_t groups) {
    CheckDevices(x, w);
    return IntegerConvolution{w, w_zero, stride, dilate, groups}(x, x_zero, pad, end_pad);
}

}  // namespace chainerx
