"""Converters of mathematical functions."""

from __future__ import annotations

import itertools
import math

import numpy

from onnx_chainer._builder import Unsupported, is_number
from onnx_chainer._elementwise import UNARY
from onnx_chainer.functions._declare import converts, formulas, one_to_one

# fmt: off
one_to_one(
    **UNARY, Absolute='Abs', Add='Add', Div='Div', Maximum='Max', Minimum='Min', Mul='Mul',
    MultiAdd='Sum', Neg='Neg', PowVarVar='Pow', Sub='Sub', sign='Sign', BatchDet='Det',
)
# fmt: on


def _value(g, f):
    """Operand of an operator with a constant: a number has the dtype of the array."""
    return g.const(f.value) if is_number(f.value) else f.value


def _power(g, f, x):
    return g.square(x) if is_number(f.value) and f.value == 2 else g.Pow(x, _value(g, f))


def _flat(g, f, x):
    """A value and an axis of it, with the number of its axes and the length of this one."""
    if f.axis is None:
        return g.reshape(x, [-1]), 0, 1, g.out_shape()[0] if g.out_shape() else None
    axis = g.axis(f.axis)
    return x, axis, g.ndim(), g.shape()[axis]


def _index_of_extreme(g, f, x, kind):
    x, axis, _, _ = _flat(g, f, x)
    return g.cast(getattr(g, kind)(x, axis=axis, keepdims=0), g.out_dtype())


@converts()
def convert_Arctan2(g, f, y, x):
    """The angle of the quotient, by quadrants."""
    zero = g.const(0)
    angle = g.Atan(g.Div(y, x))
    turn = g.Where(g.Less(y, zero), g.const(-math.pi), g.const(math.pi))
    angle = g.Where(g.Less(x, zero), g.Add(angle, turn), angle)
    is_zero = g.And(g.equal(x, zero, g.dtype()), g.equal(y, zero, g.dtype()))
    return g.Where(is_zero, zero, angle)


def _inverse(g, f, x):
    """From minors, up to eight rows."""
    n = int(g.shape()[-1])
    if n > 8:
        raise Unsupported('ONNX has no inverse: up to eight rows, it is computed from minors')
    det = g.unsqueeze(g.Det(x), [-1, -2])
    if n == 1:
        return g.Div(1, x)
    others = [numpy.delete(numpy.arange(n, dtype=numpy.int64), i) for i in range(n)]

    def element(i, j):
        """Element (i, j) of the adjugate: the cofactor of row j and column i."""
        minor = g.Gather(g.Gather(x, others[j], axis=-2), others[i], axis=-1)
        return g.Mul(g.unsqueeze(g.Det(minor), [-1, -2]), (-1) ** (i + j))

    rows = [g.Concat(*[element(i, j) for j in range(n)], axis=-1) for i in range(n)]
    return g.Div(g.Concat(*rows, axis=-2), det)


@converts()
def convert_Cholesky(g, f, x):
    """Column by column."""
    n = int(g.shape()[-1])
    columns: list[str] = []
    rest = x
    for j in range(n):
        column = g.Gather(rest, g.ints([j]), axis=-1)
        pivot = g.Sqrt(g.slice(column, [j], [j + 1], [g.ndim() - 2]))
        mask = (numpy.arange(n) >= j).astype(g.dtype())[:, None]
        column = g.Mul(g.Div(column, pivot), mask)
        columns.append(column)
        if j < n - 1:
            rest = g.Sub(rest, g.MatMul(column, g.swapped(column, g.ndim())))
    return g.joined(columns, -1)


@converts()
def convert_Cumsum(g, f, x):
    """A product with a triangle before opset 11."""
    x, axis, ndim, n = _flat(g, f, x)
    if g.has('CumSum'):
        return g.CumSum(x, g.const(axis, numpy.int64))
    triangle = numpy.tri(int(n), dtype=g.dtype()).T.copy()
    return g.along_last_axis(lambda y: g.MatMul(y, triangle), x, axis, ndim)


@converts()
def convert_Cumprod(g, f, x):
    """Products of slices, one after another."""
    x, axis, _, n = _flat(g, f, x)
    parts = g.split(x, [1] * int(n), axis)
    return g.Concat(*itertools.accumulate(parts, g.Mul), axis=axis)


@converts()
def convert_Diff(g, f, x):
    axis = g.axis(f.axis)
    for _ in range(f.n):
        x = g.Sub(g.slice(x, [1], [2**62], [axis]), g.slice(x, [0], [-1], [axis]))
    return x


@converts(17)
def convert_FFT(g, f, real, imag):
    """Along the last axis."""
    parts = [g.unsqueeze(x, [g.ndim()]) for x in (real, imag)]
    z = g.Concat(*parts, axis=g.ndim())
    y = g.DFT(z, inverse=int(f._method == 'ifft'), axis=g.ndim() - 1)
    return [g.squeeze(part, [g.ndim()]) for part in g.split(y, [1, 1], g.ndim())]


def _truncated(g, x):
    return g.Mul(g.Sign(x), g.Floor(g.Abs(x)))


def _fmod(g, f, x, y):
    return g.Mod(x, y, fmod=1) if g.has('Mod') else g.Sub(x, g.Mul(y, _truncated(g, g.Div(x, y))))


@converts()
def convert_Log1p(g, f, x):
    """Exact near zero."""
    # log(u) x / (u - 1) with u = 1 + x: the error of u cancels.
    u = g.Add(x, 1)
    d = g.Sub(u, 1)
    is_small = g.equal(d, 0, g.dtype())
    safe = g.Where(is_small, 1, d)
    return g.Where(is_small, x, g.Mul(g.Log(u), g.Div(x, safe)))


def _axes(g, f):
    return None if f.axis is None else g.axes(f.axis)


def _reduction(kind):
    return lambda g, f, x: g.reduce(kind, x, _axes(g, f), f.keepdims)


@converts()
def convert_MatMul(g, f, a, b):
    y = g.MatMul(g.swapped(a, g.ndim(0), f.transa), g.swapped(b, g.ndim(1), f.transb))
    return g.swapped(y, max(g.ndim(0), g.ndim(1)), f.transc)


@converts()
def convert_BatchMatMul(g, f, a, b):
    a, b = [g.unsqueeze(x, [2]) if g.ndim(i) == 2 else x for i, x in enumerate((a, b))]
    return g.MatMul(g.swapped(a, 3, f.transa), g.swapped(b, 3, f.transb))


@converts()
def convert_CooMatMul(g, f, sp, dn):
    """A product puts the elements of the matrix in place."""
    if g.ndim() != 1:
        raise Unsupported('a batch of sparse matrices')
    row, col, shape = numpy.asarray(f.sp_row), numpy.asarray(f.sp_col), f.sp_shape
    used = (row >= 0) & (col >= 0)
    place = numpy.zeros((len(row), shape[0] * shape[1]), g.dtype())
    place[numpy.nonzero(used)[0], row[used] * shape[1] + col[used]] = 1
    a = g.reshape(g.MatMul(sp, place), shape)
    y = g.MatMul(g.swapped(a, 2, f.transa), g.swapped(dn, g.ndim(1), f.transb))
    return g.swapped(y, g.ndim(1), f.transc)


@converts()
def convert_SumTo(g, f, x):
    old, new = g.shape(), g.out_shape()
    n_new = len(old) - len(new)
    axes = [i for i, n in enumerate(old) if i >= n_new and n != 1 and new[i - n_new] == 1]
    y = g.reduce('ReduceSum', x, axes, True)
    return g.reduce('ReduceSum', y, list(range(n_new)))


@converts()
def convert_TensorDot(g, f, a, b):
    a_outer, a_inner, b_inner, b_outer = _groups(g, f)

    def matrix(x, i, first, second):
        x = g.Transpose(x, perm=[*first, *second]) if g.ndim(i) else x
        return g.reshape(x, [math.prod(g.shape(i)[n] for n in axes) for axes in (first, second)])

    y = g.MatMul(matrix(a, 0, a_outer, a_inner), matrix(b, 1, b_inner, b_outer))
    return g.reshape(y, [*(g.shape(0)[n] for n in a_outer), *(g.shape(1)[n] for n in b_outer)])


def _groups(g, f):
    """Axes of both inputs that stay, and that are summed."""
    axes, ndims = f.axes, (g.ndim(0), g.ndim(1))
    if isinstance(axes, int):
        axes = range(ndims[0] - axes, ndims[0]), range(axes)
    inner = [
        [i % n for i in ((group,) if isinstance(group, int) else group)]
        for group, n in zip(axes, ndims)
    ]
    outer = [[i for i in range(n) if i not in group] for group, n in zip(inner, ndims)]
    return outer[0], inner[0], inner[1], outer[1]


formulas(
    AddConstant=lambda g, f, x: g.Add(x, _value(g, f)),
    SubFromConstant=lambda g, f, x: g.Sub(_value(g, f), x),
    MulConstant=lambda g, f, x: g.Mul(x, _value(g, f)),
    DivFromConstant=lambda g, f, x: g.Div(_value(g, f), x),
    PowConstVar=lambda g, f, x: g.Pow(_value(g, f), x),
    PowVarConst=_power,
    ArgMax=lambda g, f, x: _index_of_extreme(g, f, x, 'ArgMax'),
    ArgMin=lambda g, f, x: _index_of_extreme(g, f, x, 'ArgMin'),
    BatchL2NormSquared=lambda g, f, x: g.reduce('ReduceSumSquare', x, list(range(1, g.ndim()))),
    BroadcastTo=lambda g, f, x: g.expand(x, g.out_shape()),
    Clip=lambda g, f, x: g.clip(x, f.x_min, f.x_max),
    Erfc=lambda g, f, x: g.Sub(1, g.Erf(x)),
    # Exact near zero.
    Expm1=lambda g, f, x: g.Mul(g.Tanh(g.Mul(x, 0.5)), g.Add(g.Exp(x), 1)),
    Fmod=_fmod,
    Identity=lambda g, f, *xs: [g.Identity(x) for x in xs],
    LinearInterpolate=lambda g, f, p, x, y: g.Add(g.Mul(p, x), g.Mul(g.Sub(1, p), y)),
    Log2=lambda g, f, x: g.Mul(g.Log(x), 1 / math.log(2)),
    Log10=lambda g, f, x: g.Mul(g.Log(x), 1 / math.log(10)),
    Ndtr=lambda g, f, x: g.ndtr(x),
    RsqrtGPU=lambda g, f, x: g.Reciprocal(g.Sqrt(x)),
    Square=lambda g, f, x: g.square(x),
    LogSumExp=lambda g, f, x: g.reduce('ReduceLogSumExp', x, _axes(g, f)),
    fix=lambda g, f, x: _truncated(g, x),
    **{kind: _reduction(f'Reduce{kind}') for kind in ('Max', 'Mean', 'Min', 'Prod', 'Sum')},
)
formulas(11, BatchInv=_inverse, Inv=_inverse)
formulas(12, EinSum=lambda g, f, *xs: g.Einsum(*xs, equation=f'{f.in_subs}->{f.out_sub}'))
