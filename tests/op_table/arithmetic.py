"""Arithmetic."""
import numpy as np

from chainerx import DimensionError
from op_table.bench import Bench, small
from op_table.inputs import In
from op_table.row import ALL, FLOATS, NUMBERS, Row, binary, unary, zeros


def _clip(x, low, high):
    return np.minimum(np.maximum(x, low), high)


_TORCH_GRAD, _CHX_GRAD = 'a.requires_grad_()', 'a.require_grad()'

ROWS = [
    binary('add', np.add, ALL, bench=[*[Bench('a + b', dtype=t) for t in (*FLOATS, 'int32')], small('a + b'), small('a + 1'), small('a + b', (_TORCH_GRAD, 'a + b'), (_CHX_GRAD, 'a + b'), label='a + b, recorded'), small('a.__iadd__(b)', label='a += b', check=False)]),
    binary('subtract', np.subtract),
    binary('multiply', np.multiply, ALL, bench=[Bench('a * b'), small('a * b'), small(None, (_TORCH_GRAD, 'torch.autograd.grad(a * b, a, b)[0]'), (_CHX_GRAD, 'xp.grad([a * b], [a], grad_outputs=[b])[0]'), label='backward of a * b')]),
    binary('divide', np.true_divide, result='float', second=(1, 3), bench=[Bench('a / b')]),
    binary('floor_divide', np.floor_divide, second=(1, 3), grad=False),
    binary('remainder', np.remainder, first=(0.2, 0.9), second=(1, 3)),
    binary('fmod', np.fmod, first=(0.2, 0.9), second=(1, 3)),
    binary('power', np.power, first=(1, 3), second=(1, 3), tolerance=4, ulp=(2, -9, 9), bench=[Bench('a ** b'), Bench('a ** b', dtype='float64'), Bench('a ** 3')]),
    unary('negative', np.negative, result='same'),
    unary('reciprocal', lambda x: 1 / x, 0.5, 3, dtypes=FLOATS, ulp=(0, -3, 3)),
    binary('maximum', np.maximum, ALL, bench=['float32']),
    binary('minimum', np.minimum, ALL),
    Row('where', np.where, [[In(2, 3, dtype='bool'), In(2, 3), In(2, 3)], [In(3, dtype='bool'), In(2, 1), In(1, 3)]], ALL, elementwise=True, wrong=[(ValueError, lambda f: f(zeros(2), zeros(2))), (ValueError, lambda f: f(zeros(2), y=0)), (TypeError, lambda f: f(1)), (DimensionError, lambda f: f(zeros()))], bench=['float32', small('xp.where(a > 0, a, b)')]),
    Row('_clip', _clip, [[In(2, 3), In(3, low=-1.5, high=-1), In(2, 3, low=1, high=1.5)]], elementwise=True, grad_inputs=(0,)),
    Row('clip', _clip, [[In(2, 3), {'a_min': 0, 'a_max': 1}]], NUMBERS, call=lambda f, a, kw: f(a[0], *kw.values()), wrong=[(ValueError, lambda f: f(zeros(2), None, None))]),
    Row('round', np.round, [[In(2, 3, low=-9, high=9)], [In(2, 3), {'decimals': 1}], [In(2, 3, low=-200, high=200), {'decimals': -2}], [In(4, values=[0.5, 1.5, 2.5, 0.49])]], NUMBERS, grad=False),
]
