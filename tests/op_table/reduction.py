"""Reductions, cumulative sums and softmax."""
import numpy as np
import scipy.special

from chainerx import DimensionError
from op_table.bench import Bench, matrix, small, with_gradient
from op_table.inputs import In
from op_table.row import ALL, FLOATS, NUMBERS, Row, reduction, zeros

_EMPTY = [(DimensionError, lambda f: f(zeros(0))), (DimensionError, lambda f: f(zeros(2, 0), 1))]


def position(name, reference, **options):
    return reduction(name, reference, NUMBERS, 'int64', keepdims=False, axes=False, grad=False, distinct=True, **options)


def _logsumexp(x, axis=None, keepdims=False):
    return scipy.special.logsumexp(x, axis=axis, keepdims=keepdims)


def _softmax(x, axis=1):
    return scipy.special.softmax(x, axis=axis)


def _log_softmax(x, axis=1):
    return scipy.special.log_softmax(x, axis=axis)


def _gradient(torch, chx):
    return with_gradient(torch, chx, (1000, 1000), x=(1000, 1000))


ROWS = [
    reduction('sum', np.sum, ALL, 'sum', tolerance=4, bench=[matrix('a.sum()'), matrix('a.sum(0)'), matrix('a.sum(1)'), matrix('a.sum((0, 2, 3))', shape=(16, 64, 32, 32)), small('a.sum()'), small('a.sum(0)')]),
    reduction('nansum', np.nansum, NUMBERS, 'sum', tolerance=4),
    reduction('prod', np.prod, NUMBERS, 'sum', low=0.5, high=1.5, tolerance=10, bench=[matrix('a.prod(1)', low=0.9, high=1.1)]),
    reduction('mean', np.mean, NUMBERS, None, tolerance=4, bench=[matrix('a.mean(1)'), small('a.mean()')]),
    reduction('var', np.var, NUMBERS, None, tolerance=10, bench=[matrix('a.var()', 'a.var(correction=0)', 'a.var()'), matrix('a.var(1)', 'a.var(1, correction=0)', 'a.var(1)')]),
    reduction('std', np.std, FLOATS, tolerance=10),
    reduction('amax', np.amax, NUMBERS, distinct=True, wrong=_EMPTY, bench=[matrix('a.max()', 'a.amax()', 'a.max()'), matrix('a.max(0)', 'a.amax(0)', 'a.max(0)'), matrix('a.max(1)', 'a.amax(1)', 'a.max(1)'), small('a.max()')]),
    reduction('amin', np.amin, NUMBERS, distinct=True, wrong=_EMPTY),
    reduction('all', np.all, ALL, 'bool', grad=False, bench=[matrix('(a > -2).all()')]),
    reduction('any', np.any, ALL, 'bool', grad=False),
    position('argmax', np.argmax, wrong=_EMPTY, bench=[matrix('a.argmax()'), matrix('a.argmax(0)'), matrix('a.argmax(1)'), small('a.argmax()')]),
    position('argmin', np.argmin, wrong=_EMPTY),
    position('nanargmax', np.nanargmax),
    position('nanargmin', np.nanargmin),
    reduction('count_nonzero', np.count_nonzero, ALL, 'int64', keepdims=False, grad=False),
    reduction('cumsum', np.cumsum, NUMBERS, 'sum', keepdims=False, axes=False, tolerance=8, bench=[matrix('a.cumsum(0)'), matrix('a.cumsum(1)')]),
    Row('diff', np.diff, [[In(2, 5)], [In(4, 3), {'axis': 0}], [In(3, 4), {'n': 2}], [In(2, 3), {'n': 5, 'axis': 1}], [In(3), {'n': 0}]], ALL, 'same', wrong=[(DimensionError, lambda f: f(zeros())), (ValueError, lambda f: f(zeros(2), -1))]),
    reduction('cumprod', np.cumprod, NUMBERS, 'sum', keepdims=False, axes=False, low=0.5, high=1.5, tolerance=10),
    reduction('logsumexp', _logsumexp, FLOATS, tolerance=4),
    Row('softmax', _softmax, [[In(2, 3)], [In(2, 3, 4), {'axis': 2}], [In(0, 3)]], tolerance=8, bench=[*_gradient('torch.softmax(x, 1)', 'xp.softmax(x, 1)'), Bench(None, 'torch.softmax(x, 0)', 'xp.softmax(x, 0)', x=(1000, 1000))]),
    Row('log_softmax', _log_softmax, [[In(2, 3)], [In(2, 3, 4), {'axis': 2}], [In(0, 3)]], tolerance=8, bench=_gradient('torch.log_softmax(x, 1)', 'xp.log_softmax(x, 1)')),
]
