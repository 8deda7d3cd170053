#include "chainerx/ops/convolution.h"

#include <utility>

#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const ConvKernel kConvKernel{"conv"};
const ConvDataKernel kConvDataKernel{"conv_data"};
const ConvWeightKernel kConvWeightKernel{"conv_weight"};

namespace {

// The three contractions of x, w and y are linear in each of their two inputs. The gradient of each contraction
// therefore consists of the two others, to any order.
Array ConvY(const WindowGeometry& g, const Array& x, const Array& w, const Array& b);
Array ConvX(const WindowGeometry& g, const Array& y, const Array& w, const Array& b);
Array ConvW(const WindowGeometry& g, const Array& x, const Array& y);

// Sum over all axes but that of channels.
Array SumOfChannels(const Array& a) {
    Axes axes{0};
    for (int8_t i = 2; i < a.ndim(); ++i) axes.push_back(i);
    return Sum(a, axes);
}

// Keeps the arrays that the gradients need.
std::pair<Saved, Saved> SaveFactors(const Array& a, const Array& b) {
    return {internal::GetRecordMask(b) != 0 ? Saved{a} : Saved{}, internal::GetRecordMask(a) != 0 ? Saved{b} : Saved{}};
}

Array ConvY(const WindowGeometry& g, const Array& x, const Array& w, const Array& b) {
    Array y = Empty(g.OutShape(g.out_channels), x.dtype(), x.device());
    kConvKernel(x.device(), g, internal::KernelInput(x), internal::KernelInput(w), b ? internal::KernelInput(b) : b, y);
    if (GraphMask mask = internal::GetRecordMask({&x, &w, &b})) {
        internal::Record("conv", mask, {&x, &w, &b}, {&y}, [g, saved = SaveFactors(x, w)](BackwardContext& ctx) {
            const Array& gy = ctx.grad();
            if (ctx.IsWanted(0)) ctx.SetGrad(0, ConvX(g, gy, saved.second.Get(), Array{}));
            if (ctx.IsWanted(1)) ctx.SetGrad(1, ConvW(g, saved.first.Get(), gy));
            if (ctx.IsWanted(2)) ctx.SetGrad(2, SumOfChannels(gy));
        });
    }
    return y;
}

Array ConvX(const WindowGeometry& g, const Array& y, const Array& w, const Array& b) {
    Array x = Empty(g.InShape(), y.dtype(), y.device());
    kConvDataKernel(y.device(), g, internal::KernelInput(y), internal::KernelInput(w), b ? internal::KernelInput(b) : b,
                    x);
    if (GraphMask mask = internal::GetRecordMask({&y, &w, &b})) {
        internal::Record("conv_transpose", mask, {&y, &w, &b}, {&x},
                         [g, saved = SaveFactors(y, w)](BackwardContext& ctx) {
                             const Array& gx = ctx.grad();
                             if (ctx.IsWanted(0)) ctx.SetGrad(0, ConvY(g, gx, saved.second.Get(), Array{}));
                             if (ctx.IsWanted(1)) ctx.SetGrad(1, ConvW(g, gx, saved.first.Get()));
                             if (ctx.IsWanted(2)) ctx.SetGrad(2, SumOfChannels(gx));
                         });
    }
    return x;
}

Array ConvW(const WindowGeometry& g, const Array& x, const Array& y) {
    Array w = Empty(g.WeightShape(), x.dtype(), x.device());
    kConvWeightKernel(x.device(), g, internal::KernelInput(x), internal::KernelInput(y), w);
    if (GraphMask mask = internal::GetRecordMask({&x, &y})) {
        internal::Record("conv_weight", mask, {&x, &y}, {&w}, [g, saved = SaveFactors(x, y)](BackwardContext& ctx) {
            const Array& gw = ctx.grad();
            if (ctx.IsWanted(0)) ctx.SetGrad(0, ConvX(g, saved.second.Get(), gw, Array{}));
            if (ctx.IsWanted(1)) ctx.SetGrad(1, ConvY(g, saved.first.Get(), gw, Array{}));
        });
    }
    return w;
}

// Operands of one dtype.
struct Operands {
    Array x;
    Array w;
    Array b;
};

Operands Unify(const char* op, const Array& x, const Array& w, const std::optional<Array>& b) {
    if (x.ndim() < 2 || w.ndim() != x.ndim()) {
        throw DimensionError{
                op,        ": x of shape ",
                x.shape(), " and w of shape ",
                w.shape(), " must have the same number of dimensions, 2 for batch and channels and the spatial ones"};
    }
    if (x.ndim() - 2 > kMaxWindowDims) {
        throw DimensionError{op, ": x of shape ", x.shape(), " has more than ", kMaxWindowDims, " spatial dimensions"};
    }
    Dtype dtype = PromoteTypes(x.dtype(), w.dtype());
    CheckDevices(x, w);
    if (b.has_value()) {
        CheckDevices(x, *b);
        dtype = PromoteTypes(dtype, b->dtype());
    }
    if (dtype == Dtype::kBool) throw DtypeError{op, ": x, w and b must not all be of dtype bool"};
    auto cast = [dtype](const Array& a) { return a.dtype() == dtype ? a : AsType(a, dtype); };
    return {cast(x), cast(w), b.has_value() ? cast(*b) : Array{}};
}

void CheckBias(const char* op, const Array& b, int64_t channels) {
    if (b && (b.ndim() != 1 || b.shape()[0] != channels)) {
        throw DimensionError{op, ": b has shape ", b.shape(), ", expected ", Shape{channels}};
    }
}

// What x and w have in common; `images` has the channels of w's second dimension, `features` those of its first.
WindowGeometry MakeGeometry(const char* op, const Array& x, const Array& w, const PerAxis& stride, const PerAxis& pad,
                            int64_t groups, const PerAxis& dilate) {
    WindowGeometry g;
    g.ndim = x.ndim() - 2;
    g.batch = x.shape()[0];
    g.groups = groups;
    g.out_channels = w.shape()[0];
    bool overflow = __builtin_mul_overflow(w.shape()[1], groups, &g.in_channels);
    if (overflow || groups < 1 || g.out_channels % groups != 0) {
        throw DimensionError{op, ": groups must be a positive divisor of the number of channels, was ", groups,
                             " with w of shape ", w.shape()};
    }
    stride.Expand(op, "stride", g.ndim, 1, g.stride);
    pad.Expand(op, "pad", g.ndim, 0, g.pad);
    dilate.Expand(op, "dilate", g.ndim, 1, g.dilation);
    PerAxis{Shape(w.shape().begin() + 2, w.shape().end())}.Expand(op, "the size of the kernel", g.ndim, 0, g.kernel);
    return g;
}

[[noreturn]] void ThrowChannels(const char* op, const Array& x, const Array& w, int64_t expected) {
    throw DimensionError{op,        ": x of shape ", x.shape(), " has ", x.shape()[1], " channels but w of shape ",
                         w.shape(), " takes ",       expected};
}

}  // namespace

CHAINERX_ROUTINE(Conv, "conv", "x, w, b=None, stride=1, pad=0, cover_all=False, groups=1, dilate=1",
                 "conv conv_data conv_weight", R"(
Convolution in any number of spatial dimensions (strictly, cross-correlation).

.. math:: y_{n o p} = b_o + \sum_{c, q} w_{o c q} \, x_{n, c, s p + d q - pad}

Each spatial length becomes :math:`\lfloor (l + 2 pad - d (k - 1) - 1) / s \rfloor + 1`. Differentiable any number of
times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N, C, l_1, ..., l_n)`.
    w (~chainerx.ndarray): Filters of shape :math:`(O, C / groups, k_1, ..., k_n)`.
    b (~chainerx.ndarray or None): Biases of shape :math:`(O,)`.
    stride (int or tuple of int): Steps :math:`s` of the filters.
    pad (int or tuple of int): Zeros around the inputs.
    cover_all (bool): Whether the last step may go beyond the inputs, so that all of them are used.
    groups (int): Number of groups of channels that are convolved apart.
    dilate (int or tuple of int): Distances :math:`d` between elements of the filters.

Returns:
    ~chainerx.ndarray: Outputs of shape :math:`(N, O, ...)`.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit, or the output would be empty.

>>> x = chainerx.ones((1, 1, 4, 4))
>>> w = chainerx.ones((2, 1, 3, 3))
>>> chainerx.conv(x, w, pad=1).shape
(1, 2, 4, 4)
>>> float(chainerx.conv(x, w)[0, 0, 0, 0])
9.0
)");
Array Conv(const Array& x, const Array& w, const std::optional<Array>& b, const PerAxis& stride, const PerAxis& pad,
           bool cover_all, int64_t groups, const PerAxis& dilate) {
    Operands in = Unify("conv", x, w, b);
    WindowGeometry g = MakeGeometry("conv", x, w, stride, pad, groups, dilate);
    if (x.shape()[1] != g.in_channels) ThrowChannels("conv", x, w, g.in_channels);
    CheckBias("conv", in.b, g.out_channels);
    for (int d = 0; d < g.ndim; ++d) g.in[d] = x.shape()[d + 2];
    g.SetOutput("conv", cover_all);
    return ConvY(g, in.x, in.w, in.b);
}

CHAINERX_ROUTINE(ConvTranspose, "conv_transpose", "x, w, b=None, stride=1, pad=0, outsize=None, groups=1, dilate=1",
                 "conv conv_data conv_weight", R"(
Transposed convolution: the map that gives the gradient of a convolution.

Each spatial length becomes :math:`s (l - 1) + d (k - 1) + 1 - 2 pad` unless ``outsize`` is given. Differentiable any
number of times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N, C, l_1, ..., l_n)`.
    w (~chainerx.ndarray): Filters of shape :math:`(C, O / groups, k_1, ..., k_n)`.
    b (~chainerx.ndarray or None): Biases of shape :math:`(O,)`.
    stride (int or tuple of int): Steps :math:`s` of the filters.
    pad (int or tuple of int): Elements cut off around the outputs.
    outsize (None or tuple of int): Spatial lengths of the outputs, one of those from which the convolution gives
        the lengths of ``x``.
    groups (int): Number of groups of channels that are convolved apart.
    dilate (int or tuple of int): Distances :math:`d` between elements of the filters.

Returns:
    ~chainerx.ndarray: Outputs of shape :math:`(N, O, ...)`.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

>>> x = chainerx.ones((1, 2, 3, 3))
>>> w = chainerx.ones((2, 1, 2, 2))
>>> chainerx.conv_transpose(x, w, stride=2).shape
(1, 1, 6, 6)
)");
Array ConvTranspose(const Array& x, const Array& w, const std::optional<Array>& b, const PerAxis& stride,
                    const PerAxis& pad, const std::optional<PerAxis>& outsize, int64_t groups, const PerAxis& dilate) {
    constexpr const char* kName = "conv_transpose";
    Operands in = Unify(kName, x, w, b);
    // This is the adjoint of a convolution whose output is x.
    WindowGeometry g = MakeGeometry(kName, x, w, stride, pad, groups, dilate);
    if (x.shape()[1] != g.out_channels) ThrowChannels(kName, x, w, g.out_channels);
    CheckBias(kName, in.b, g.in_channels);
    if (outsize.has_value()) outsize->Expand(kName, "outsize", g.ndim, 1, g.in);
    for (int d = 0; d < g.ndim; ++d) {
        int64_t size = x.shape()[d + 2];
        int64_t span = (g.kernel[d] - 1) * g.dilation[d] + 1;
        if (!outsize.has_value()) {
            g.in[d] = (size - 1) * g.stride[d] + span - 2 * g.pad[d];
            if (g.kernel[d] < 1 || size < 1 || g.in[d] < 1) {
                throw DimensionError{kName,
                                     ": the output would be empty: size ",
                                     size,
                                     ", kernel ",
                                     g.kernel[d],
                                     ", stride ",
                                     g.stride[d],
                                     ", pad ",
                                     g.pad[d],
                                     " in spatial dimension ",
                                     d};
            }
        }
        g.out[d] = size;
        // The sizes that a convolution of an image of that size can have, without and with cover_all.
        int64_t room = g.in[d] + 2 * g.pad[d] - span;
        int64_t least = WindowGeometry::CountWindows(room, g.stride[d], false);
        int64_t most = WindowGeometry::CountWindows(room, g.stride[d], true);
        if (size < least || size > most) {
            throw DimensionError{kName,
                                 ": outsize ",
                                 g.in[d],
                                 " does not fit size ",
                                 size,
                                 " with kernel ",
                                 g.kernel[d],
                                 ", stride ",
                                 g.stride[d],
                                 ", pad ",
                                 g.pad[d],
                                 " in spatial dimension ",
                                 d};
        }
    }
    return ConvX(g, in.x, in.w, in.b);
}

}  // namespace chainerx
