"""Pooling, position by position of the window."""
import numpy as np

from chainerx import DimensionError
from op_table.bench import with_gradient
from op_table.inputs import In
from op_table.row import Row, zeros
from op_table.windows import each, windows


def _max_pool(x, ksize, stride=None, pad=0, cover_all=False):
    ksize = each(ksize, x.ndim - 2)
    return np.max([part for _, part in windows(
        x, ksize, ksize if stride is None else stride, pad, 1, cover_all, -np.inf)], 0)


def _average_pool(x, ksize, stride=None, pad=0, pad_mode='ignore'):
    ksize = each(ksize, x.ndim - 2)

    def total(x):
        return sum(part for _, part in windows(x, ksize, ksize if stride is None else stride, pad))

    return total(x) / (total(np.ones_like(x)) if pad_mode == 'ignore' else np.prod(ksize))


def timed(torch, chx, size):
    return with_gradient(torch, chx, (16, 64, size, size), x=(16, 64, 32, 32))


_WRONG = [
    (DimensionError, lambda f: f(zeros(1, 2), 2)),
    (DimensionError, lambda f: f(zeros(1, 2, 3), 0)),
    (DimensionError, lambda f: f(zeros(1, 2, 3), 4)),
    (DimensionError, lambda f: f(zeros(1, 2, 3), 2, stride=0)),
    (DimensionError, lambda f: f(zeros(1, 2, 3), (2, 2))),
]

ROWS = [
    Row('max_pool', _max_pool,
        [[In(2, 3, 5, 4, distinct=True), {'ksize': 2}],
         [In(2, 2, 6, 4, distinct=True), {'ksize': (3, 2), 'stride': (2, 1), 'pad': 1, 'cover_all': True}],
         [In(2, 2, 7, distinct=True), {'ksize': 3, 'stride': 1}],
         [In(1, 2, 2, 4, 2, distinct=True), {'ksize': 2}], [In(0, 2, 4), {'ksize': 2}]],
        wrong=_WRONG,
        bench=[*timed('F.max_pool2d(x, 2)', 'xp.max_pool(x, 2)', 16), *timed('F.max_pool2d(x, 3, 2, 1)', 'xp.max_pool(x, 3, 2, 1)', 16)]),
    Row('average_pool', _average_pool,
        [[In(2, 2, 5, 6), {'ksize': 3, 'stride': 2, 'pad': 1}],
         [In(2, 2, 5, 6), {'ksize': 3, 'stride': 2, 'pad': 1, 'pad_mode': 'zero'}],
         [In(1, 2, 2, 4, 2), {'ksize': 2}], [In(2, 1, 7), {'ksize': 3, 'stride': 1}], [In(0, 2, 4), {'ksize': 2}]],
        tolerance=4, wrong=_WRONG,
        bench=[*timed('F.avg_pool2d(x, 2)', 'xp.average_pool(x, 2)', 16), *timed('F.avg_pool2d(x, 32)', 'xp.average_pool(x, 32)', 1)]),
]
