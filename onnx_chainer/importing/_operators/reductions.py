"""Reductions, cumulative operators and orders."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, operator, operators
from .arrays import part
from .gathering import take_along


def _reduction(formula, wide=False):
    """The operator of ``formula(module, x, **options)``.

    The module is that of Chainer's functions, or of the arrays for dtypes that these do not take;
    integers are float64 if they are ``wide``.
    """

    def call(x, axes, *, keepdims, noop_with_empty_axes):
        axes = v.axes_of(axes, x.ndim)
        if not axes:
            axes = () if noop_with_empty_axes else tuple(range(x.ndim))
        options = {'axis': axes, 'keepdims': bool(keepdims)}
        if v.is_float(x) and x.size:
            return formula(F, x, **options)

        def of_arrays(a):
            xp = v.xp_of(a)
            with np.errstate(divide='ignore'):
                y = formula(xp, a.astype('d') if wide else a, **options)
            return xp.asarray(y).astype(a.dtype)

        return v.calling_arrays(of_arrays, x)

    return call


def _extreme(name):
    """The largest or smallest element; of none, the least or greatest number."""

    def formula(m, x, **options):
        if x.size:
            return getattr(m, name)(x, **options)
        ends: tuple[Any, Any] = (-np.inf, np.inf) if x.dtype.kind == 'f' else (False, True)
        if x.dtype.kind in 'iu':
            ends = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
        return m.full_like(m.sum(x, **options), ends[name == 'min'], dtype=x.dtype)

    return _reduction(formula)


def _log_sum_exp(m, x, axis, keepdims):
    if m is not F:
        return m.log(m.sum(m.exp(x), axis=axis, keepdims=keepdims))
    y = F.logsumexp(x, axis=axis)
    return F.reshape(y, [1 if i in axis else n for i, n in enumerate(x.shape)]) if keepdims else y


operators(
    {
        'ReduceSum': _reduction(lambda m, x, **k: m.sum(x, **k)),
        'ReduceMean': _reduction(
            lambda m, x, **k: m.mean(x, **k) if x.size else m.sum(x, **k) * np.nan
        ),
        'ReduceMax': _extreme('max'),
        'ReduceMin': _extreme('min'),
        'ReduceProd': _reduction(lambda m, x, **k: m.prod(x, **k)),
        'ReduceSumSquare': _reduction(lambda m, x, **k: m.sum(m.square(x), **k)),
        'ReduceL1': _reduction(lambda m, x, **k: m.sum(m.absolute(x), **k)),
        'ReduceL2': _reduction(lambda m, x, **k: m.sqrt(m.sum(m.square(x), **k)), wide=True),
        'ReduceLogSum': _reduction(lambda m, x, **k: m.log(m.sum(x, **k))),
        'ReduceLogSumExp': _reduction(_log_sum_exp),
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
        y = getattr(F, name)(x, axis) if v.is_float(x) else v.calling_arrays(plain, x, axis=axis)
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
