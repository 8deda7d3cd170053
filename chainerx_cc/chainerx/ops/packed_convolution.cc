#include "chainerx/ops/packed_convolution.h"

#include "chainerx/core/operands.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/check_like.h"
#include "chainerx/ops/convolution.h"
#include "chainerx/ops/creation.h"

namespace chainerx {

const PackFiltersKernel kPackFiltersKernel{"pack_filters"};

namespace {

constexpr const char* kPackedConvolutionName = "packed convolution";

std::unique_ptr<PackedFilters> Pack(const Array& w, int64_t groups) {
    if (w.device().backend().FindKernel(kPackFiltersKernel) == nullptr) return nullptr;
    return kPackFiltersKernel(w.device(), Contiguous(w), groups);
}

}  // namespace

PackedConvolution::PackedConvolution(const Array& w, const std::optional<Array>& b, const ConvOptions& options)
    : w_shape_{w.shape()}, dtype_{w.dtype()}, device_{&w.device()}, options_{options} {
    if (w.ndim() < 2 || w.ndim() - 2 > kMaxWindowDims) {
        throw DimensionError{kPackedConvolutionName, ": w of shape ",    w.shape(),
                             " must have 2 to ",     kMaxWindowDims + 2, " dimensions"};
    }
    if (options.groups < 1 || w_shape_[0] % options.groups != 0) {
        throw DimensionError{kPackedConvolutionName,
                             ": groups must be a positive divisor of the number of channels, was ", options.groups,
                             " with w of shape ", w_shape_};
    }
    if (b.has_value()) {
        CheckLike(kPackedConvolutionName, "b", *b, Shape{w_shape_[0]}, dtype_, *device_);
        b_ = MakeContiguousCopy(b->AsDetached(), dtype_);
    }
    filters_ = Pack(w.AsDetached(), options.groups);
    if (filters_ == nullptr) w_ = MakeContiguousCopy(w.AsDetached(), dtype_);
}

PackedConvolution PackedConvolution::WithoutRelu() const {
    PackedConvolution out = *this;
    out.options_.use_relu = false;
    return out;
}

WindowGeometry PackedConvolution::MakeGeometry(const Shape& x) const {
    WindowGeometry g;
    g.ndim = w_shape_.ndim() - 2;
    g.groups = options_.groups;
    g.out_channels = w_shape_[0];
    bool overflow = __builtin_mul_overflow(w_shape_[1], g.groups, &g.in_channels);
    if (overflow || x.ndim() != w_shape_.ndim() || x[1] != g.in_channels) {
        throw DimensionError{kPackedConvolutionName,
                             ": x of shape ",
                             x,
                             " does not fit w of shape ",
                             w_shape_,
                             " with ",
                             g.groups,
                             " groups"};
    }
    g.batch = x[0];
    options_.stride.Expand(kPackedConvolutionName, "stride", g.ndim, 1, g.stride);
    options_.pad.Expand(kPackedConvolutionName, "pad", g.ndim, 0, g.pad);
    options_.dilate.Expand(kPackedConvolutionName, "dilate", g.ndim, 1, g.dilation);
    int64_t end_pad[kMaxWindowDims];
    options_.end_pad.value_or(options_.pad).Expand(kPackedConvolutionName, "end_pad", g.ndim, 0, end_pad);
    for (int d = 0; d < g.ndim; ++d) {
        g.in[d] = x[d + 2];
        g.kernel[d] = w_shape_[d + 2];
    }
    g.SetOutput(kPackedConvolutionName, false, end_pad);
    return g;
}

void PackedConvolution::Run(const Array& x, const Array& out, const std::optional<Array>& addend) const {
    WindowGeometry g = MakeGeometry(x.shape());
    Shape shape = g.OutShape(g.out_channels);
    CheckLike(kPackedConvolutionName, "x", x, x.shape(), dtype_, *device_);
    CheckLike(kPackedConvolutionName, "out", out, shape, dtype_, *device_);
    if (addend.has_value()) CheckLike(kPackedConvolutionName, "addend", *addend, shape, dtype_, *device_);
    if (!out.IsContiguous()) throw DimensionError{kPackedConvolutionName, ": out must be contiguous"};
    Array input = Contiguous(x.AsDetached());
    Array sum = addend.has_value() ? Contiguous(addend->AsDetached()) : Array{};
    Array y = out.AsDetached();
    if (filters_ != nullptr) {
        filters_->Run(g, input, {b_, sum, options_.use_relu, options_.most}, y);
        return;
    }
    kConvKernel(*device_, g, input, w_, b_, y);
    if (sum) y += sum;
    if (options_.use_relu) CopyData(ClippedRelu(y, options_.most), y);
}

Array PackedConvolution::operator()(const Array& x, const std::optional<Array>& addend) const {
    Array out = Empty(OutShape(x.shape()), dtype_, *device_);
    Run(x, out, addend);
    return out;
}

}  // namespace chainerx
