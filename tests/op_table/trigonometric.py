"""Trigonometric and hyperbolic functions."""
import numpy as np

from op_table.bench import Bench, with_gradient
from op_table.row import FLOATS, binary, unary

ROWS = [
    unary('sin', np.sin, ulp=(2, -50, 50), bench=['float32']),
    unary('cos', np.cos, ulp=(2, -50, 50), bench=['float32']),
    unary('tan', np.tan, -1, 1, tolerance=4, ulp=(4, -50, 50), bench=['float32']),
    unary('arcsin', np.arcsin, -0.9, 0.9, ulp=(3, -1, 1), bench=['float32']),
    unary('arccos', np.arccos, -0.9, 0.9, ulp=(2, -1, 1)),
    unary('arctan', np.arctan, ulp=(3, -5, 5), bench=['float32']),
    binary('arctan2', np.arctan2, FLOATS, first=(0.2, 2), avoid=(0,), ulp=(3, -9, 9), bench=[Bench('np.arctan2(a, b)', 'torch.atan2(a, b)', 'xp.arctan2(a, b)')]),
    unary('sinh', np.sinh, ulp=(3, -90, 90), bench=['float32']),
    unary('cosh', np.cosh, ulp=(2, -90, 90), bench=['float32']),
    unary('tanh', np.tanh, ulp=(3, -10, 10), bench=['float16', 'float32', *with_gradient('torch.tanh(x)', 'xp.tanh(x)', (1000, 1000), x=(1000, 1000))]),
    unary('arcsinh', np.arcsinh, ulp=(3, -5, 5), bench=['float32']),
    unary('arccosh', np.arccosh, 1.5, 3, ulp=(3, 1, 5)),
    unary('arctanh', np.arctanh, -0.9, 0.9, ulp=(3, -1, 1), bench=['float32']),
]
