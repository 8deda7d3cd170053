"""Comparison, logic and bits."""
import numpy as np

import chainerx
from chainerx import DimensionError
from op_table.bench import Bench, small
from op_table.inputs import In
from op_table.row import ALL, INTS, Row, binary, unary, zeros

_BITS = ('bool',) + INTS


def comparison(name, reference, **options):
    return binary(name, reference, ALL, 'bool', grad=False, **options)


def kind(name, reference):
    odd = In(4, values=[np.nan, np.inf, -np.inf, 1.], dtype='float32')
    return Row(name, reference, [[In(2, 3)], [odd]], ALL, 'bool', grad=False, elementwise=True)


def _as_array(f, arrays, kwargs):
    """Calls a function whose result is a bool."""
    y = f(*arrays, **kwargs)
    assert isinstance(y, bool)
    return np.array(y) if isinstance(arrays[0], np.ndarray) else chainerx.array(y)


def closeness(name, reference, **options):
    x = In(2, 3)
    near = [In(4, values=values, dtype='float32') for values in ([1, np.nan, np.inf, -np.inf], [1 + 1e-6, np.nan, np.inf, np.inf])]
    cases = [[x, x], [near[0], near[1]], [near[0], near[1], {'equal_nan': True}]]
    if name != 'array_equal':
        cases += [[x, In(4, 1, 1)], [x, In(2, 3), {'rtol': 0.5, 'atol': 0.25}]]
    return Row(name, reference, cases, ALL, 'bool', grad=False, **options)


def bitwise(name, reference):
    return binary(name, reference, _BITS, first=(-50, 50), second=(-50, 50), grad=False)


def shift(name, reference):
    return binary(name, reference, INTS, 'first', first=(-20, 20), second=(0, 3), grad=False)


ROWS = [
    closeness('isclose', np.isclose, wrong=[(TypeError, lambda f: f(1, 2)), (DimensionError, lambda f: f(zeros(2), zeros(3)))]),
    closeness('allclose', np.allclose, call=_as_array, wrong=[(TypeError, lambda f: f(1, 2)), (DimensionError, lambda f: f(zeros(2), zeros(3)))]),
    closeness('array_equal', np.array_equal, call=_as_array, wrong=[(TypeError, lambda f: f(zeros(2), 0))]),
    comparison('equal', np.equal),
    comparison('not_equal', np.not_equal),
    comparison('greater', np.greater, bench=[Bench('a > b'), small('a > b')]),
    comparison('greater_equal', np.greater_equal),
    comparison('less', np.less),
    comparison('less_equal', np.less_equal),
    comparison('logical_and', np.logical_and),
    comparison('logical_or', np.logical_or),
    comparison('logical_xor', np.logical_xor),
    unary('logical_not', np.logical_not, dtypes=ALL, result='bool', grad=False),
    kind('isnan', np.isnan),
    kind('isinf', np.isinf),
    kind('isfinite', np.isfinite),
    bitwise('bitwise_and', np.bitwise_and),
    bitwise('bitwise_or', np.bitwise_or),
    bitwise('bitwise_xor', np.bitwise_xor),
    unary('invert', np.invert, -50, 50, dtypes=_BITS, result='same', grad=False),
    shift('left_shift', np.left_shift),
    shift('right_shift', np.right_shift),
]
