"""Reductions, cumulative operators and orders."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, operator, operators
from .arrays import part
from .gathering import take_along


def _reduction(differentiable, plain):
    """The operator of a function for floats, and one ``f(xp, array, **options)`` for others."""

    def call(x, axes, *, keepdims, noop_with_empty_axes):
        axes = v.axes_of(axes, x.ndim)
        if not axes:
            axes = () if noop_with_empty_axes else tuple(range(x.ndim))
        options = {'axis': axes, 'keepdims': bool(keepdims)}
        if v.is_float(x) and x.size:
            return differentiable(x, **options)

        def of_arrays(a):
            xp = v.xp_of(a)
            return xp.asarray(plain(xp, a, **options)).astype(a.dtype)

        return v.calling_arrays(of_arrays, x)

    return call


def _chain(function):
    """A function of Chainer that reduces over axes, which are none for a copy."""
    return lambda x, axis, keepdims: (
        function(x, axis=axis, keepdims=keepdims) if axis else F.identity(x)
    )


_sum = _chain(F.sum)


def _extreme(name):
    """The largest or smallest element; of none, the least or greatest number."""

    def plain(xp, a, **options):
        if a.size:
            return getattr(a, name)(**options)
        ends: tuple[Any, Any] = (-np.inf, np.inf) if a.dtype.kind == 'f' else (False, True)
        if a.dtype.kind in 'iu':
            ends = np.iinfo(a.dtype).min, np.iinfo(a.dtype).max
        return xp.full_like(a.sum(**options), ends[name == 'min'], dtype=a.dtype)

    return _reduction(_chain(getattr(F, name)), plain)


def _log_sum_exp(x, axis, keepdims):
    if not axis:
        return F.identity(x)
    y = F.logsumexp(x, axis=axis)
    return F.reshape(y, [1 if i in axis else n for i, n in enumerate(x.shape)]) if keepdims else y


def _log(xp, a):
    with np.errstate(divide='ignore'):
        return xp.log(a)


operators(
    {
        'ReduceSum': _reduction(_sum, lambda xp, a, **k: a.sum(**k)),
        'ReduceMean': _reduction(
            _chain(F.mean), lambda xp, a, **k: a.mean(**k) if a.size else a.sum(**k) * np.nan
        ),
        'ReduceMax': _extreme('max'),
        'ReduceMin': _extreme('min'),
        'ReduceProd': _reduction(_chain(F.prod), lambda xp, a, **k: a.prod(**k)),
        'ReduceSumSquare': _reduction(
            lambda x, **k: _sum(F.square(x), **k), lambda xp, a, **k: (a * a).sum(**k)
        ),
        'ReduceL1': _reduction(
            lambda x, **k: _sum(F.absolute(x), **k), lambda xp, a, **k: abs(a).sum(**k)
        ),
        'ReduceL2': _reduction(
            lambda x, **k: F.sqrt(_sum(F.square(x), **k)),
            lambda xp, a, **k: xp.sqrt((a.astype('d') ** 2).sum(**k)),
        ),
        'ReduceLogSum': _reduction(
            lambda x, **k: F.log(_sum(x, **k)), lambda xp, a, **k: _log(xp, a.sum(**k))
        ),
        'ReduceLogSumExp': _reduction(
            _log_sum_exp, lambda xp, a, **k: _log(xp, xp.exp(a).sum(**k))
        ),
    },
    lists=(1,),
)


def _arg(name):
    def call(x, *, axis, keepdims, select_last_index):
        xp = v.xp_of(x)
        function = getattr(xp, name)
        y = function(xp.flip(x, axis) if select_last_index else x, axis=axis).astype(np.int64)
        y = x.shape[axis] - 1 - y if select_last_index else y
        return xp.expand_dims(y, axis) if keepdims else y

    return call


operators({'ArgMax': _arg('argmax'), 'ArgMin': _arg('argmin')}, takes=ARRAYS)


def _cumulative(name, start):
    def plain(a, axis):
        return getattr(v.xp_of(a), name)(a, axis=axis, dtype=a.dtype)

    def call(x, axis, *, exclusive, reverse):
        axis = v.axis_of(axis, x.ndim)
        if reverse:
            x = F.flip(x, axis)
        if exclusive:
            shape = [1 if i == axis else n for i, n in enumerate(x.shape)]
            first = v.like(x, np.full(shape, start, x.dtype))
            x = F.concat((first, part(x, axis, slice(0, -1))), axis=axis)
        if v.is_float(x):
            y = getattr(F, name)(x, axis)
        else:
            y = v.calling_arrays(plain, x, axis=axis)
        return F.flip(y, axis) if reverse else y

    return call


operators({'CumSum': _cumulative('cumsum', 0), 'CumProd': _cumulative('cumprod', 1)}, scalars=(1,))


@operator('TopK', scalars=(1,))
def top_k(x, k, *, axis, largest):
    axis = v.axis_of(axis, x.ndim)
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(f'k is {k} for an axis of {x.shape[axis]}')
    # A stable order, so that the first of equal elements comes first.
    array = v.on_host(x)
    if largest:
        order = np.flip(np.argsort(np.flip(array, axis), axis=axis, kind='stable'), axis)
        order = array.shape[axis] - 1 - order
    else:
        order = np.argsort(array, axis=axis, kind='stable')
    order = np.take(order, np.arange(k), axis=axis).astype(np.int64)
    return take_along(x, order, axis), v.like(x, order)
