"""Expressions that are no op of the table: views, conversions, and operands of several shapes."""

from op_table.bench import Bench, matrix, small
from op_table.inputs import In

_TABLE = {
    'a': In(20000, 64),
    'rows': In(10000, low=0, high=19999, dtype='int64'),
    'mask': In(20000, dtype='bool'),
    'masks': In(20000, 64, dtype='bool'),
}

_LARGE = [
    Bench("a.astype('d')", 'a.double()', "a.astype('d')", a=(1000000,)),
    Bench("a.astype('e')", 'a.half()', "a.astype('e')", a=(1000000,)),
    matrix('a + a.T'),
    matrix('a + a[0]'),
    matrix('a + a[:, :1]'),
    matrix('a[:, ::2] + 1'),
    Bench('a[rows]', **_TABLE),
    Bench('a[mask]', **_TABLE),
    Bench('a[masks]', **_TABLE),
    Bench('a[rows, rows % 64]', **_TABLE),
    Bench(
        'a[1000:-1000, 8:-8].copy()',
        'a[1000:-1000, 8:-8].clone()',
        'a[1000:-1000, 8:-8].copy()',
        **_TABLE,
    ),
]

_SMALL = [
    small('a[1]'),
    small('a[1:3]'),
    small('a[:, 1]'),
    small("a.astype('d')", 'a.double()', "a.astype('d')"),
    small('a.max().item()', check=False),
]

BENCHMARKS = _LARGE + _SMALL
