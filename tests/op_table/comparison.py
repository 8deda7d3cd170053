"""Comparison, logic and bits."""
import numpy as np

from op_table.bench import Bench, small
from op_table.inputs import In
from op_table.row import ALL, INTS, Row, binary, unary

_BITS = ('bool',) + INTS


def comparison(name, reference, **options):
    return binary(name, reference, ALL, 'bool', grad=False, **options)


def kind(name, reference):
    odd = In(4, values=[np.nan, np.inf, -np.inf, 1.], dtype='float32')
    return Row(name, reference, [[In(2, 3)], [odd]], ALL, 'bool', grad=False, elementwise=True)


def bitwise(name, reference):
    return binary(name, reference, _BITS, first=(-50, 50), second=(-50, 50), grad=False)


def shift(name, reference):
    return binary(name, reference, INTS, 'first', first=(-20, 20), second=(0, 3), grad=False)


ROWS = [
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
