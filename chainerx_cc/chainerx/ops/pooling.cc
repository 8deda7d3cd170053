#include "chainerx/ops/pooling.h"

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const MaxPoolKernel kMaxPoolKernel{"max_pool"};
const MaxPoolGradKernel kMaxPoolGradKernel{"max_pool_grad"};
const AveragePoolKernel kAveragePoolKernel{"average_pool"};
const AveragePoolKernel kAveragePoolGradKernel{"average_pool_grad"};

namespace {

WindowGeometry MakeGeometry(const char* op, const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride,
                            const PerAxis& pad, bool cover_all) {
    if (!IsFloat(x.dtype())) throw DtypeError{op, ": x must be of a floating point dtype, not ", x.dtype()};
    WindowGeometry g;
    g.ndim = x.ndim() - 2;
    if (g.ndim < 1 || g.ndim > kMaxWindowDims) {
        throw DimensionError{op, ": x must have 1 to ", kMaxWindowDims,
                             " dimensions after batch and channels, has shape ", x.shape()};
    }
    g.batch = x.shape()[0];
    g.in_channels = x.shape()[1];
    g.out_channels = g.in_channels;
    ksize.Expand(op, "ksize", g.ndim, 1, g.kernel);
    stride.value_or(ksize).Expand(op, "stride", g.ndim, 1, g.stride);
    pad.Expand(op, "pad", g.ndim, 0, g.pad);
    for (int d = 0; d < g.ndim; ++d) {
        g.in[d] = x.shape()[d + 2];
        g.dilation[d] = 1;
    }
    g.SetOutput(op, cover_all);
    return g;
}

// Elements of x at the maxima of another array; zero for windows that lie in the padding.
Array Pick(const WindowGeometry& g, const Array& x, const Array& index) {
    int64_t images = g.batch * g.in_channels;
    int64_t size = x.GetTotalSize() / std::max<int64_t>(images, 1);
    Array start = Reshape(Arange(Scalar{0}, Scalar{images}, Scalar{1}, Dtype::kInt64, x.device()), Shape{images, 1});
    Array rows = Reshape(index, Shape{images, index.GetTotalSize() / std::max<int64_t>(images, 1)});
    Array picked = Take(x, Maximum(rows, Scalar{0}) + start * Scalar{size});
    return Reshape(picked * AsType(GreaterEqual(rows, Scalar{0}), x.dtype()), index.shape());
}

Array MaxPoolGrad(const WindowGeometry& g, const Array& gy, const Array& index) {
    Array gx = Empty(g.InShape(), gy.dtype(), gy.device());
    kMaxPoolGradKernel(gy.device(), g, internal::KernelInput(gy), index, gx);
    if (GraphMask mask = internal::GetRecordMask(gy)) {
        internal::Record("max_pool_grad", mask, {&gy}, {&gx},
                         [g, index](BackwardContext& ctx) { ctx.SetGrad(0, Pick(g, ctx.grad(), index)); });
    }
    return gx;
}

// Averages of windows or, transposed, their adjoint.
Array Average(const WindowGeometry& g, PoolPadding padding, const Array& x, bool transposed) {
    Array y = Empty(transposed ? g.InShape() : g.OutShape(g.in_channels), x.dtype(), x.device());
    (transposed ? kAveragePoolGradKernel : kAveragePoolKernel)(x.device(), g, padding, internal::KernelInput(x), y);
    if (GraphMask mask = internal::GetRecordMask(x)) {
        internal::Record("average_pool", mask, {&x}, {&y}, [g, padding, transposed](BackwardContext& ctx) {
            ctx.SetGrad(0, Average(g, padding, ctx.grad(), !transposed));
        });
    }
    return y;
}

}  // namespace

CHAINERX_ROUTINE(MaxPool, "max_pool", "x, ksize, stride=None, pad=0, cover_all=False", "max_pool max_pool_grad", R"(
Maxima of windows in any number of spatial dimensions; padding is never a maximum.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N, C, ...)`, of a floating point dtype.
    ksize (int or tuple of int): Size of the windows.
    stride (None, int or tuple of int): Steps of the windows; ``ksize`` unless given.
    pad (int or tuple of int): Width of the padding.
    cover_all (bool): Whether the last window may go beyond the inputs, so that all of them are used.

Returns:
    ~chainerx.ndarray: Outputs of shape :math:`(N, C, ...)`.

Raises:
    ~chainerx.DtypeError: If the dtype is not floating point.
    ~chainerx.DimensionError: If the shapes do not fit, or the output would be empty.

>>> x = chainerx.array([[[1., 5., 2., 3.]]])
>>> chainerx.max_pool(x, 2)
array([[[5., 3.]]], shape=(1, 1, 2), dtype=float64, device='native:0')
)");
Array MaxPool(const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride, const PerAxis& pad,
              bool cover_all) {
    WindowGeometry g = MakeGeometry("max_pool", x, ksize, stride, pad, cover_all);
    Array y = Empty(g.OutShape(g.in_channels), x.dtype(), x.device());
    GraphMask mask = internal::GetRecordMask(x);
    Array index = mask ? Empty(y.shape(), Dtype::kInt64, x.device()) : Array{};
    kMaxPoolKernel(x.device(), g, internal::KernelInput(x), y, index);
    if (mask) {
        internal::Record("max_pool", mask, {&x}, {&y},
                         [g, index](BackwardContext& ctx) { ctx.SetGrad(0, MaxPoolGrad(g, ctx.grad(), index)); });
    }
    return y;
}

CHAINERX_ROUTINE(AveragePool, "average_pool", "x, ksize, stride=None, pad=0, pad_mode='ignore'",
                 "average_pool average_pool_grad", R"(
Averages of windows in any number of spatial dimensions.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N, C, ...)`, of a floating point dtype.
    ksize (int or tuple of int): Size of the windows.
    stride (None, int or tuple of int): Steps of the windows; ``ksize`` unless given.
    pad (int or tuple of int): Width of the padding.
    pad_mode (str): ``'ignore'`` leaves padding out of the averages, ``'zero'`` counts it as zeros.

Returns:
    ~chainerx.ndarray: Outputs of shape :math:`(N, C, ...)`.

Raises:
    ValueError: If ``pad_mode`` has no meaning.
    ~chainerx.DtypeError: If the dtype is not floating point.
    ~chainerx.DimensionError: If the shapes do not fit, or the output would be empty.

>>> x = chainerx.array([[[1., 5., 2., 3.]]])
>>> chainerx.average_pool(x, 2)
array([[[3. , 2.5]]], shape=(1, 1, 2), dtype=float64, device='native:0')
>>> chainerx.average_pool(x, 3, pad=1, pad_mode='zero')
array([[[2.        , 1.66666667]]], shape=(1, 1, 2), dtype=float64, device='native:0')
)");
Array AveragePool(const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride, const PerAxis& pad,
                  PoolPadding padding) {
    return Average(MakeGeometry("average_pool", x, ksize, stride, pad, false), padding, x, false);
}

}  // namespace chainerx
