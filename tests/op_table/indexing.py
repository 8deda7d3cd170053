"""Elements by their positions, and sorting."""
import numpy as np

import chainerx
from chainerx import DimensionError, DtypeError
from op_table.bench import Bench, backward, matrix
from op_table.inputs import In
from op_table.row import ALL, FLOATS, NUMBERS, Row, indices, zeros

_TABLE = {'a': In(20000, 64), 'rows': In(10000, low=0, high=19999, dtype='int64')}


def _add_at(a, indices, b):
    a = a.copy()
    np.add.at(a, indices, b)
    return a


def _embed_id(x, w, ignore_label=None):
    y = w[x]
    return y if ignore_label is None else np.where((x == ignore_label)[..., None], 0, y)


def _sort(a, axis=-1, descending=False):
    return np.flip(np.sort(a, axis), axis) if descending else np.sort(a, axis)


def _argsort(a, axis=-1, descending=False):
    return np.argsort(-a if descending else a, axis, kind='stable')


def _call_searchsorted(f, arrays, kwargs):
    return f(*arrays, **kwargs) if len(arrays) == 2 else f(arrays[0], arrays[1], sorter=arrays[2])


def at(values, dtype='int64'):
    return In(*np.shape(values), dtype=dtype, values=values)


_SORTED = at([0, 1, 2, 2, 5, 6], None)

ROWS = [
    Row('sort', _sort, [[In(2, 5, distinct=True)], [In(4, 3, distinct=True), {'axis': 0}], [In(2, 3, distinct=True), {'axis': None}], [In(2, 3, distinct=True), {'axis': 0, 'descending': True}]], NUMBERS, wrong=[(DimensionError, lambda f: f(zeros()))],
        bench=[matrix('np.sort(a.ravel())', 'torch.sort(a.ravel())[0]', 'xp.sort(a.ravel())'), matrix('np.sort(a, 0)', 'torch.sort(a, 0)[0]', 'xp.sort(a, 0)'), matrix('np.sort(a, 1)', 'torch.sort(a, 1)[0]', 'xp.sort(a, 1)')]),
    Row('argsort', _argsort, [[In(2, 5, distinct=True)], [In(4, 3, distinct=True), {'axis': 0}], [at([2, 1, 2, 1], None), {'descending': True}]], FLOATS, 'int64', grad=False, wrong=[(DimensionError, lambda f: f(zeros()))],
        bench=[matrix('xp.argsort(a.ravel())', check=False), matrix('xp.argsort(a, 1)', check=False)]),
    Row('embed_id', _embed_id, [[at([[0, 2], [1, 2]], 'int32'), In(3, 4)], [at([-1, 2, 0]), In(3, 4), {'ignore_label': -1}]],
        wrong=[(DtypeError, lambda f: f(zeros(2), zeros(2, 2))),
               (IndexError, lambda f: f(indices(2), zeros(2, 2))),
               (IndexError, lambda f: f(indices(-3), zeros(2, 2)))],
        bench=[Bench('a[rows]', 'F.embedding(rows, a)', 'xp.embed_id(rows, a)', **_TABLE),
               backward('F.embedding(rows, a)', 'xp.embed_id(rows, a)', 'a', 'embed_id(rows, a)', gy=(10000, 64), **_TABLE)]),
    Row('searchsorted', np.searchsorted,
        [[_SORTED, In(2, 3)], [_SORTED, at([0, 2, 7], None), {'side': 'right'}], [_SORTED, In()], [In(0), In(3)],
         [at([3, 1, 2], None), In(4), at([1, 2, 0])]], NUMBERS, 'int64', grad=False, call=_call_searchsorted,
        wrong=[(DimensionError, lambda f: f(zeros(), 1)),
               (DimensionError, lambda f: f(zeros(2, 2), 1)),
               (DimensionError, lambda f: f(zeros(2), 1, sorter=indices(0))),
               (IndexError, lambda f: f(zeros(2), 1, sorter=indices(0, 2))),
               (ValueError, lambda f: f(zeros(2), 1, 'middle')),
               (TypeError, lambda f: f(zeros(2), [1, 2]))]),
    Row('unique', np.unique, [[In(2, 3, distinct=True)], [In(3, 4)], [In()]], ALL,
        wrong=[(TypeError, lambda f: f(zeros(2), return_index='yes'))]),
    Row('argwhere', np.argwhere, [[In(2, 3)], [In()], [at([[0, 1], [1, 0]], None)]], ALL, 'int64', grad=False),
    Row('flatnonzero', np.flatnonzero, [[In(2, 3)], [In()], [at([[0, 1], [1, 0]], None)]], ALL, 'int64', grad=False),
    Row('nonzero', np.nonzero, [[In(2, 3)]], ALL, 'int64', grad=False, wrong=[(DimensionError, lambda f: f(zeros()))]),
    Row('take', np.take,
        [[In(3, 4), at([[0, 2], [1, -1]]), {'axis': 0}],
         [In(3, 4), at([3, 3], 'int32'), {'axis': 1}],
         [In(3, 4), at([7, 0], 'int8')],
         [In(3, 4), at([9, -5]), {'axis': 1, 'mode': 'wrap'}],
         [In(3, 4), at([9, -5]), {'axis': 1, 'mode': 'clip'}]], ALL, allows=['NumPy indices'],
        wrong=[(IndexError, lambda f: f(zeros(3), indices(3))),
               (IndexError, lambda f: f(zeros(3), indices(-4))),
               (DtypeError, lambda f: f(zeros(3), zeros(1))),
               (IndexError, lambda f: f(zeros(0), indices(0)))],
        bench=[Bench('a.take(rows, 0)', 'a.index_select(0, rows)', 'a.take(rows, 0)', **_TABLE),
               Bench('a.take(numbers)', 'a.take(numbers)', 'a.take(numbers, 0)', a=In(20000 * 64), numbers=In(100000, low=0, high=20000 * 64 - 1, dtype='int64'))]),
    Row('take_along_axis', np.take_along_axis,
        [[In(3, 4), at([[0], [3], [-1]]), {'axis': 1}],
         [In(3, 4), at([[2, 1, 0, 0], [-3, 0, 0, 1]], 'int32'), {'axis': 0}],
         [In(2, 3, 4), at(np.zeros((1, 3, 2)), 'int8'), {'axis': -1}],
         [In(1, 3), at([[0, 2], [1, 1]]), {'axis': 1}],
         [In(2, 3), at(np.zeros((2, 0))), {'axis': 1}],
         [In(0, 3), at(np.zeros((0, 2))), {'axis': 1}]], ALL, allows=['NumPy indices'],
        wrong=[(IndexError, lambda f: f(zeros(3), indices(3))),
               (IndexError, lambda f: f(zeros(0), indices(0))),
               (DimensionError, lambda f: f(zeros(2, 3), indices(0))),
               (DimensionError, lambda f: f(zeros(2, 3), chainerx.zeros((3, 1), 'int64'))),
               (DimensionError, lambda f: f(zeros(3), indices(0), 1)),
               (DtypeError, lambda f: f(zeros(3), zeros(1)))]),
    Row('_add_at', _add_at, [[In(4), at([3, 0, 3]), In(3)], [In(4), at([[1, -1]], 'int32'), In(1, 2)]]),
]
