#include "chainerx/ops/linalg.h"

#include <algorithm>

#include "chainerx/core/operands.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/complex.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/matrices.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const MatmulKernel kMatmulKernel{"matmul", kTakesComplex};
const MatmulBiasKernel kMatmulBiasKernel{"matmul_bias", kTakesComplex};
const MatmulSumKernel kMatmulSumKernel{"matmul_sum"};

namespace {

// Stacks of matrices with equal leading dimensions.
Array MultiplyMatrices(const Array& a, const Array& b) {
    CheckDevices(a, b);
    Dtype dtype = PromoteTypes(a.dtype(), b.dtype());
    Shape shape = a.shape();
    shape.back() = b.shape().back();
    Array out = Empty(shape, dtype, a.device());
    if (CHAINERX_LIKELY(a.dtype() == dtype && b.dtype() == dtype)) {
        kMatmulKernel(a.device(), a, b, 0.0, out);
    } else {
        kMatmulKernel(a.device(), AsType(a.AsDetached(), dtype, false), AsType(b.AsDetached(), dtype, false), 0.0, out);
    }
    if (GraphMask mask = internal::GetRecordMask({&a, &b})) {
        internal::Record("matmul", mask, {&a, &b}, {&out}, [x = Saved{a}, y = Saved{b}](BackwardContext& ctx) {
            if (ctx.IsWanted(0)) ctx.SetGrad(0, MultiplyMatrices(ctx.grad(), Conj(matrices::T(y.Get()))));
            if (ctx.IsWanted(1)) ctx.SetGrad(1, MultiplyMatrices(Conj(matrices::T(x.Get())), ctx.grad()));
        });
    }
    return out;
}

[[noreturn]] void ThrowShapes(const char* name, const Array& a, const Array& b) {
    throw DimensionError{name, ": shapes ", a.shape(), " and ", b.shape(), " are not aligned"};
}

}  // namespace

CHAINERX_METHOD_ROUTINE(Dot, "dot", "a, b", "matmul", R"(
Sum product over the last axis of ``a`` and the last but one of ``b``.

.. math:: y_{i \dots j \dots k} = \sum_l a_{i \dots l} \, b_{j \dots l k}

The inner product of vectors, the product of matrices; a zero-dimensional array scales the other one.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    b (~chainerx.ndarray): Array whose axis before the last one (of a vector: the only one) is as long as the last
        one of ``a``.

Returns:
    ~chainerx.ndarray: Products, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the axes differ in length.

>>> x = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.dot(x, chainerx.array([1., 10.]))
array([21., 43.], shape=(2,), dtype=float64, device='native:0')
>>> x.dot(x)
array([[ 7., 10.],
       [15., 22.]], shape=(2, 2), dtype=float64, device='native:0')
)");
Array Dot(const Array& a, const Array& b) {
    if (a.ndim() == 2 && b.ndim() == 2) {
        if (a.shape()[1] != b.shape()[0]) ThrowShapes("dot", a, b);
        return MultiplyMatrices(a, b);
    }
    if (a.ndim() == 0 || b.ndim() == 0) return a * b;
    int64_t k = a.shape().back();
    int b_axis = b.ndim() == 1 ? 0 : b.ndim() - 2;
    if (b.shape()[b_axis] != k) ThrowShapes("dot", a, b);
    Shape out(a.shape().begin(), a.shape().end() - 1);
    Array left = Reshape(a, Shape{out.GetTotalSize(), k});
    Array right = b.ndim() <= 2 ? b : Moveaxis(b, Axes{static_cast<int8_t>(b_axis)}, Axes{0});
    for (int i = 0; i < b.ndim(); ++i) {
        if (i != b_axis) out.push_back(b.shape()[i]);
    }
    int64_t columns = b.GetTotalSize() / std::max<int64_t>(k, 1);
    if (k == 0) columns = Shape(right.shape().begin() + 1, right.shape().end()).GetTotalSize();
    return Reshape(MultiplyMatrices(left, Reshape(right, Shape{k, columns})), out);
}

CHAINERX_ROUTINE(Matmul, "matmul", "a, b", "matmul", R"(
Matrix product :math:`a b` of the last two axes; also the operator ``@``.

The other axes broadcast. A vector counts as a row on the left and as a column on the right, and that axis is removed
from the result.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Matrices of shape :math:`(..., m, k)`, or a vector of length :math:`k`.
    b (~chainerx.ndarray): Matrices of shape :math:`(..., k, n)`, or a vector of length :math:`k`.

Returns:
    ~chainerx.ndarray: Matrices of shape :math:`(..., m, n)`, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit, or an array has no dimensions.

>>> a = chainerx.ones((5, 2, 3))
>>> b = chainerx.ones((3, 4))
>>> (a @ b).shape
(5, 2, 4)
)");
Array Matmul(const Array& a, const Array& b) {
    if (a.ndim() == 0 || b.ndim() == 0) throw DimensionError{"matmul: operands must have at least one dimension"};
    if (a.ndim() <= 2 && b.ndim() <= 2) return Dot(a, b);
    if (b.ndim() == 1) return Squeeze(Matmul(a, ExpandDims(b, 1)), Axes{-1});
    if (a.ndim() == 1) return Squeeze(Matmul(ExpandDims(a, 0), b), Axes{-2});
    if (a.shape().back() != b.shape()[b.ndim() - 2]) ThrowShapes("matmul", a, b);
    if (b.ndim() == 2) return Dot(a, b);
    Shape lead = BroadcastShapes(Shape(a.shape().begin(), a.shape().end() - 2),
                                 Shape(b.shape().begin(), b.shape().end() - 2));
    auto expand = [&lead](const Array& m) {
        Shape s = lead;
        s.push_back(m.shape()[m.ndim() - 2]);
        s.push_back(m.shape().back());
        return m.shape() == s ? m : BroadcastTo(m, s);
    };
    return MultiplyMatrices(expand(a), expand(b));
}

CHAINERX_ROUTINE(Vecdot, "vecdot", "x1, x2, axis=-1", "", R"(
Sum products :math:`\sum_i \overline{x_{1,i}} x_{2,i}` of the vectors along an axis.

Differentiable any number of times.

Args:
    x1, x2 (~chainerx.ndarray): Arrays of equal lengths along the axis, whose other axes broadcast.
    axis (int): Axis.

Returns:
    ~chainerx.ndarray: Array of the broadcast shape without the axis, of the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit together, or the axis is out of range.
    ~chainerx.DeviceError: If the arrays are on different devices.

>>> x = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.vecdot(x, chainerx.array([1., 10.]))
array([21., 43.], shape=(2,), dtype=float64, device='native:0')
)");
Array Vecdot(const Array& x1, const Array& x2, int64_t axis) {
    Array row = ExpandDims(Moveaxis(x1, Axes{NormalizeAxis(axis, x1.ndim())}, Axes{-1}), -2);
    Array column = ExpandDims(Moveaxis(x2, Axes{NormalizeAxis(axis, x2.ndim())}, Axes{-1}), -1);
    return Squeeze(Matmul(Conj(row), column), Axes{-2, -1});
}

CHAINERX_ROUTINE(MatrixTranspose, "matrix_transpose", "x", "", R"(
Transposed matrices, a view with the last two axes interchanged; also the property ``mT`` of arrays.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of at least two dimensions.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If there are less than two dimensions.

>>> chainerx.matrix_transpose(chainerx.ones((2, 3, 4))).shape
(2, 4, 3)
)");
Array MatrixTranspose(const Array& x) {
    if (x.ndim() < 2)
        throw DimensionError{"matrix_transpose: x must have at least 2 dimensions, has shape ", x.shape()};
    return Swapaxes(x, -2, -1);
}

CHAINERX_ROUTINE(Inner, "inner", "a, b", "matmul", R"(
Sum product over the last axes, :math:`y_{i \dots j \dots} = \sum_l a_{i \dots l} \, b_{j \dots l}`.

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays whose last axes have one length; a zero-dimensional array scales the other one.

Returns:
    ~chainerx.ndarray: Products, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the last axes differ in length.

>>> x = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.inner(x, x)
array([[ 5., 11.],
       [11., 25.]], shape=(2, 2), dtype=float64, device='native:0')
)");
Array Inner(const Array& a, const Array& b) {
    if (a.ndim() == 0 || b.ndim() == 0) return a * b;
    if (a.shape().back() != b.shape().back()) ThrowShapes("inner", a, b);
    return Tensordot(a, b, AxesPair{Axes{-1}, Axes{-1}});
}

CHAINERX_ROUTINE(Vdot, "vdot", "a, b", "matmul", R"(
Sum product over all elements, :math:`\sum_i \overline{a_i} b_i`.

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays of equal size, in any shapes.

Returns:
    ~chainerx.ndarray: Array without dimensions, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the sizes differ.

>>> chainerx.vdot(chainerx.array([[1., 2.]]), chainerx.array([3., 4.]))
array(11., shape=(), dtype=float64, device='native:0')
)");
Array Vdot(const Array& a, const Array& b) {
    if (a.GetTotalSize() != b.GetTotalSize()) ThrowShapes("vdot", a, b);
    return Dot(Conj(Ravel(a)), Ravel(b));
}

CHAINERX_METHOD_ROUTINE(Trace, "trace", "a, offset=0, axis1=0, axis2=1", "", R"(
Sum over a diagonal of two axes, :math:`\sum_i a_{i, i + k}` for an offset :math:`k`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of at least two dimensions, of any dtype.
    offset (int): Distance from the main diagonal; positive above it.
    axis1, axis2 (int): Axes of rows and columns.

Returns:
    ~chainerx.ndarray: Sums, without the two axes. Integers and booleans are summed in int64, uint64
    in uint64.

Raises:
    ~chainerx.DimensionError: If there are less than two dimensions, or an axis is out of range or given twice.

>>> x = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.trace(x)
array(5., shape=(), dtype=float64, device='native:0')
>>> float(x.trace(offset=1))
2.0
)");
Array Trace(const Array& a, int64_t offset, int64_t axis1, int64_t axis2) {
    return Sum(Diagonal(a, offset, axis1, axis2), Axes{-1});
}

CHAINERX_ROUTINE(Outer, "outer", "a, b", "", R"(
Matrix of the products :math:`y_{ij} = a_i b_j` of the elements of two flattened arrays.

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays of any shapes.

Returns:
    ~chainerx.ndarray: Matrix, in the promoted dtype.

>>> chainerx.outer(chainerx.array([1., 2.]), chainerx.array([1., 10., 100.]))
array([[  1.,  10., 100.],
       [  2.,  20., 200.]], shape=(2, 3), dtype=float64, device='native:0')
)");
Array Outer(const Array& a, const Array& b) { return ExpandDims(Ravel(a), 1) * Ravel(b); }

CHAINERX_ROUTINE(Kron, "kron", "a, b", "", R"(
Kronecker product: blocks of ``b``, scaled by the elements of ``a``.

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays. The one of fewer dimensions gets axes of length one at the front.

Returns:
    ~chainerx.ndarray: Array whose lengths are products of those of ``a`` and ``b``, in the promoted dtype.

>>> chainerx.kron(chainerx.array([1., 10.]), chainerx.array([[1., 2.], [3., 4.]]))
array([[ 1.,  2., 10., 20.],
       [ 3.,  4., 30., 40.]], shape=(2, 4), dtype=float64, device='native:0')
)");
Array Kron(const Array& a, const Array& b) {
    int n = std::max(a.ndim(), b.ndim());
    Shape left;
    Shape right;
    Shape out;
    for (int i = 0; i < n; ++i) {
        int64_t x = i < n - a.ndim() ? 1 : a.shape()[i - (n - a.ndim())];
        int64_t y = i < n - b.ndim() ? 1 : b.shape()[i - (n - b.ndim())];
        left.push_back(x);
        left.push_back(1);
        right.push_back(1);
        right.push_back(y);
        out.push_back(x * y);
    }
    return Reshape(Reshape(a, left) * Reshape(b, right), out);
}

namespace {

Array VectorsLast(const char* name, const Array& a, int64_t axis) {
    int8_t ax = NormalizeAxis(axis, a.ndim());
    if (a.shape()[ax] != 3) {
        throw DimensionError{"cross: vectors must have 3 elements, but ",
                             name,
                             " of shape ",
                             a.shape(),
                             " has ",
                             a.shape()[ax],
                             " along axis ",
                             int{ax}};
    }
    return Moveaxis(a, Axes{ax}, Axes{-1});
}

}  // namespace

CHAINERX_ROUTINE(Cross, "cross", "a, b, axisa=-1, axisb=-1, axisc=-1, axis=None", "", R"(
Cross product of vectors in three dimensions.

.. math:: y = (a_1 b_2 - a_2 b_1, \; a_2 b_0 - a_0 b_2, \; a_0 b_1 - a_1 b_0)

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays of any dtype except bool, whose other axes broadcast.
    axisa, axisb (int): Axes of ``a`` and ``b`` that are vectors.
    axisc (int): Axis of the result that is a vector.
    axis (int or None): Takes the place of all three, if given.

Returns:
    ~chainerx.ndarray: Products, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If an axis does not have 3 elements or is out of range, or the shapes do not broadcast.

>>> chainerx.cross(chainerx.array([1., 0., 0.]), chainerx.array([0., 1., 0.]))
array([0., 0., 1.], shape=(3,), dtype=float64, device='native:0')
)");
Array Cross(const Array& a, const Array& b, int64_t axisa, int64_t axisb, int64_t axisc,
            const std::optional<int64_t>& axis) {
    Array x = VectorsLast("a", a, axis.value_or(axisa));
    Array y = VectorsLast("b", b, axis.value_or(axisb));
    auto component = [](const Array& v, int64_t i) { return At(v, {Ellipsis{}, i}); };
    std::vector<Array> out;
    for (int64_t i = 0; i < 3; ++i) {
        int64_t j = (i + 1) % 3;
        int64_t k = (i + 2) % 3;
        out.push_back(component(x, j) * component(y, k) - component(x, k) * component(y, j));
    }
    return Stack(out, axis.value_or(axisc));
}

namespace {

AxesPair LastAndFirstAxes(const Array& a, const Array& b, int64_t n) {
    if (n < 0 || n > std::min(a.ndim(), b.ndim())) {
        throw DimensionError{"tensordot: axes is ", n, " for shapes ", a.shape(), " and ", b.shape()};
    }
    AxesPair out;
    for (int64_t i = 0; i < n; ++i) {
        out.a.push_back(static_cast<int8_t>(a.ndim() - n + i));
        out.b.push_back(static_cast<int8_t>(i));
    }
    return out;
}

}  // namespace

CHAINERX_ROUTINE(Tensordot, "tensordot", "a, b, axes=2", "matmul", R"(
Sum product over several axes of two arrays.

Differentiable any number of times.

Args:
    a, b (~chainerx.ndarray): Arrays of any dtype.
    axes (int or pair): A number of axes: the last ones of ``a`` and the first ones of ``b``; or a pair of axes, or of
        lists of axes, of ``a`` and of ``b``.

Returns:
    ~chainerx.ndarray: Array with the other axes of ``a``, then those of ``b``, in the promoted dtype.

Raises:
    ValueError: If ``axes`` is of another form.
    ~chainerx.DimensionError: If the axes do not fit.

>>> a = chainerx.ones((2, 3, 4))
>>> b = chainerx.ones((4, 3, 5))
>>> chainerx.tensordot(a, b, axes=([1, 2], [1, 0])).shape
(2, 5)
)");
Array Tensordot(const Array& a, const Array& b, const std::variant<int64_t, AxesPair>& axes) {
    const int64_t* count = std::get_if<int64_t>(&axes);
    const auto& [a_axes, b_axes] = count != nullptr ? LastAndFirstAxes(a, b, *count) : std::get<AxesPair>(axes);
    if (a_axes.ndim() != b_axes.ndim()) {
        throw DimensionError{"tensordot: axes ", a_axes, " and ", b_axes, " differ in number"};
    }
    Axes left = NormalizeAxes(a_axes, a.ndim());
    Axes right = NormalizeAxes(b_axes, b.ndim());
    // Axes that stay, then those summed over, in the order that was given.
    Axes a_order;
    Axes b_order;
    Shape out;
    int64_t rows = 1;
    int64_t inner = 1;
    int64_t columns = 1;
    for (int8_t i = 0; i < a.ndim(); ++i) {
        if (std::find(left.begin(), left.end(), i) != left.end()) continue;
        a_order.push_back(i);
        out.push_back(a.shape()[i]);
        rows *= a.shape()[i];
    }
    for (int8_t i = 0; i < a_axes.ndim(); ++i) {
        int8_t x = NormalizeAxis(a_axes[i], a.ndim());
        int8_t y = NormalizeAxis(b_axes[i], b.ndim());
        if (a.shape()[x] != b.shape()[y]) ThrowShapes("tensordot", a, b);
        a_order.push_back(x);
        b_order.push_back(y);
        inner *= a.shape()[x];
    }
    for (int8_t i = 0; i < b.ndim(); ++i) {
        if (std::find(right.begin(), right.end(), i) != right.end()) continue;
        b_order.push_back(i);
        out.push_back(b.shape()[i]);
        columns *= b.shape()[i];
    }
    return Reshape(MultiplyMatrices(Reshape(Transpose(a, a_order), Shape{rows, inner}),
                                    Reshape(Transpose(b, b_order), Shape{inner, columns})),
                   out);
}

namespace {

Array Linear2D(const Array& x, const Array& w, const Array& b);

// Gradients of y = x W^T + b, themselves written with operations that have gradients.
struct LinearBackward {
    Saved x;
    Saved w;
    void operator()(BackwardContext& ctx) const {
        const Array& gy = ctx.grad();
        if (ctx.IsWanted(0)) ctx.SetGrad(0, MultiplyMatrices(gy, Conj(w.Get())));
        if (ctx.IsWanted(1)) ctx.SetGrad(1, MultiplyMatrices(matrices::T(gy), Conj(x.Get())));
        if (ctx.IsWanted(2)) ctx.SetGrad(2, gy.shape()[0] == 1 ? Reshape(gy, Shape{gy.shape()[1]}) : Sum(gy, Axes{0}));
    }
};

Array Linear2D(const Array& x, const Array& w, const Array& b) {
    Dtype dtype = PromoteTypes(x.dtype(), w.dtype());
    if (b) dtype = PromoteTypes(dtype, b.dtype());
    Array out = Empty({x.shape()[0], w.shape()[0]}, dtype, x.device());
    Array xd = x.dtype() == dtype ? x : AsType(x.AsDetached(), dtype);
    // The transposed view of w, without recording.
    Array wt = internal::MakeView(w, {w.shape()[1], w.shape()[0]}, Strides{w.strides()[1], w.strides()[0]}, w.offset());
    if (wt.dtype() != dtype) wt = AsType(wt, dtype);
    if (b && HasKernel(out, kMatmulBiasKernel)) {
        kMatmulBiasKernel(out.device(), xd, wt, b.dtype() == dtype ? b : AsType(b.AsDetached(), dtype), out);
    } else {
        if (b) CopyData(b, out);
        kMatmulKernel(out.device(), xd, wt, b ? 1.0 : 0.0, out);
    }
    if (GraphMask mask = internal::GetRecordMask({&x, &w, &b})) {
        LinearBackward backward;
        if (internal::GetRecordMask(x) != 0) backward.w = Saved{w};
        if (internal::GetRecordMask(w) != 0) backward.x = Saved{x};
        internal::Record("linear", mask, {&x, &w, &b}, {&out}, std::move(backward));
    }
    return out;
}

}  // namespace

CHAINERX_ROUTINE(Linear, "linear", "x, W|w, b=None, n_batch_axis|n_batch_axes=1", "matmul", R"(
Affine map :math:`y = x W^\top + b`.

Axes of ``x`` after the first ``n_batch_axis`` are flattened. Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N_1, ..., I_1, ...)`.
    W (~chainerx.ndarray): Weights of shape :math:`(O, I)`; may also be given as the keyword ``w``.
    b (~chainerx.ndarray or None): Biases of shape :math:`(O,)`.
    n_batch_axis (int): Number of axes of ``x`` that stay; may also be given as the keyword ``n_batch_axes``.

Returns:
    ~chainerx.ndarray: Array of shape :math:`(N_1, ..., O)`.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

>>> x = chainerx.ones((2, 3))
>>> chainerx.linear(x, chainerx.eye(3, dtype='float32'), chainerx.array([0, 1, 2], 'float32'))
array([[1., 2., 3.],
       [1., 2., 3.]], shape=(2, 3), dtype=float32, device='native:0')
)");
Array Linear(const Array& x, const Array& w, const std::optional<Array>& b, int64_t n_batch_axes) {
    if (w.ndim() != 2) throw DimensionError{"linear: w must have 2 dimensions, has shape ", w.shape()};
    if (n_batch_axes < 1 || n_batch_axes >= std::max<int64_t>(x.ndim(), 1)) {
        if (!(n_batch_axes == x.ndim() && w.shape()[1] == 1)) {
            throw DimensionError{"linear: n_batch_axes is ", n_batch_axes, " but x has shape ", x.shape()};
        }
    }
    CheckDevices(x, w);
    Array bias = b.value_or(Array{});
    if (bias) {
        CheckDevices(x, bias);
        if (bias.ndim() != 1 || bias.shape()[0] != w.shape()[0]) {
            throw DimensionError{"linear: b has shape ", bias.shape(), ", expected ", Shape{w.shape()[0]}};
        }
    }
    Shape batch(x.shape().begin(), x.shape().begin() + n_batch_axes);
    int64_t rows = batch.GetTotalSize();
    int64_t columns = Shape(x.shape().begin() + n_batch_axes, x.shape().end()).GetTotalSize();
    if (columns != w.shape()[1]) {
        throw DimensionError{"linear: x of shape ",        x.shape(), " has ", columns,
                             " features but w has shape ", w.shape()};
    }
    Array y = Linear2D(x.ndim() == 2 && n_batch_axes == 1 ? x : Reshape(x, Shape{rows, columns}), w, bias);
    if (n_batch_axes == 1) return y;
    batch.push_back(w.shape()[0]);
    return Reshape(y, batch);
}

}  // namespace chainerx
