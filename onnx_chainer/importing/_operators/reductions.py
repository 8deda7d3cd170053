"""Reductions, cumulative operators and orders."""

from __future__ import annotations

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, operator


def _reduction(name, differentiable, plain):
    @operator(name, host=(1,))
    def reduce(node, x, given=None, /, *, axes=None, keepdims=1, noop_with_empty_axes=0):
        axes = v.ints(axes if given is None else given)
        if not axes:
            if noop_with_empty_axes:
                axes = ()
            else:
                axes = range(x.ndim)
        axes = tuple(v.axis_of(axis, x.ndim) for axis in axes)
        keepdims = bool(keepdims)
        if v.is_float(x) and x.size:
            return differentiable(x, axes, keepdims)

        def call(a):
            xp = v.xp_of(a)
            return xp.asarray(plain(xp, a, axes, keepdims)).astype(a.dtype)

        return v.calling_arrays(call, x)


def _chain(name):
    """A function of Chainer that reduces over axes, which are none for a copy."""
    function = getattr(F, name)
    return lambda x, axes, keepdims: (
        function(x, axis=axes, keepdims=keepdims) if axes else F.identity(x)
    )


_sum = _chain('sum')


def _extreme(name, empty):
    def plain(xp, a, axes, keepdims):
        if a.size:
            return getattr(a, name)(axis=axes, keepdims=keepdims)
        return xp.full_like(a.sum(axis=axes, keepdims=keepdims), empty(a.dtype), dtype=a.dtype)

    return plain


def _least(dtype):
    if dtype.kind == 'f':
        return -np.inf
    return np.iinfo(dtype).min if dtype.kind in 'iu' else False


def _most(dtype):
    if dtype.kind == 'f':
        return np.inf
    return np.iinfo(dtype).max if dtype.kind in 'iu' else True


def _log_sum_exp(x, axes, keepdims):
    if not axes:
        return F.identity(x)
    y = F.logsumexp(x, axis=axes)
    return F.reshape(y, [1 if i in axes else n for i, n in enumerate(x.shape)]) if keepdims else y


_reduction('ReduceSum', _sum, lambda xp, a, axes, k: a.sum(axis=axes, keepdims=k))
_reduction(
    'ReduceMean',
    lambda x, axes, k: F.mean(x, axis=axes, keepdims=k) if axes else F.identity(x),
    lambda xp, a, axes, k: (
        a.mean(axis=axes, keepdims=k) if a.size else a.sum(axis=axes, keepdims=k) * np.nan
    ),
)
_reduction('ReduceMax', _chain('max'), _extreme('max', _least))
_reduction('ReduceMin', _chain('min'), _extreme('min', _most))
_reduction('ReduceProd', _chain('prod'), lambda xp, a, axes, k: a.prod(axis=axes, keepdims=k))
_reduction(
    'ReduceSumSquare',
    lambda x, axes, k: _sum(F.square(x), axes, k),
    lambda xp, a, axes, k: (a * a).sum(axis=axes, keepdims=k),
)
_reduction(
    'ReduceL1',
    lambda x, axes, k: _sum(F.absolute(x), axes, k),
    lambda xp, a, axes, k: abs(a).sum(axis=axes, keepdims=k),
)
_reduction(
    'ReduceL2',
    lambda x, axes, k: F.sqrt(_sum(F.square(x), axes, k)),
    lambda xp, a, axes, k: xp.sqrt((a.astype('d') ** 2).sum(axis=axes, keepdims=k)),
)
_reduction(
    'ReduceLogSum',
    lambda x, axes, k: F.log(_sum(x, axes, k)),
    lambda xp, a, axes, k: _log(xp, a.sum(axis=axes, keepdims=k)),
)
_reduction(
    'ReduceLogSumExp',
    _log_sum_exp,
    lambda xp, a, axes, k: _log(xp, xp.exp(a).sum(axis=axes, keepdims=k)),
)


def _log(xp, a):
    with np.errstate(divide='ignore'):
        return xp.log(a)


def _arg(name):
    @operator(f'Arg{name.title()}', takes=ARRAYS)
    def arg(node, x, /, *, axis=0, keepdims=1, select_last_index=0):
        xp = v.xp_of(x)
        function = getattr(xp, f'arg{name}')
        if select_last_index:
            y = x.shape[axis] - 1 - function(xp.flip(x, axis), axis=axis)
        else:
            y = function(x, axis=axis)
        return xp.expand_dims(y, axis).astype(np.int64) if keepdims else y.astype(np.int64)


_arg('max')
_arg('min')


def _cumulative(name, differentiable, start):
    @operator(name, host=(1,))
    def cumulative(node, x, axis, /, *, exclusive=0, reverse=0):
        axis = v.axis_of(v.scalar(axis), x.ndim)
        front = (slice(None),) * axis
        if reverse:
            x = F.get_item(x, (*front, slice(None, None, -1)))
        if exclusive:
            shape = [1 if i == axis else n for i, n in enumerate(x.shape)]
            first = v.like(x, np.full(shape, start, x.dtype))
            x = F.concat((first, F.get_item(x, (*front, slice(0, -1)))), axis=axis)
        if v.is_float(x):
            y = differentiable(x, axis)
        else:
            y = v.calling_arrays(
                lambda a: getattr(v.xp_of(a), name.lower())(a, axis=axis, dtype=a.dtype),
                x,
            )
        return F.get_item(y, (*front, slice(None, None, -1))) if reverse else y


_cumulative('CumSum', F.cumsum, 0)
_cumulative('CumProd', F.cumprod, 1)


@operator('TopK', host=(1,))
def top_k(node, x, count=None, /, *, axis=-1, k=None, largest=1, sorted=1):
    k = int(v.scalar(count)) if k is None else k
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
    places = list(np.ogrid[tuple(slice(n) for n in order.shape)])
    places[axis] = order
    places = tuple(v.like(x, np.array(i)) for i in np.broadcast_arrays(*places))
    return F.get_item(x, places), v.like(x, order)
