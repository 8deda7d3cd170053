"""Activations."""
import numpy as np
import scipy.special

from chainerx import DimensionError
from op_table.bench import Bench, small, with_gradient
from op_table.inputs import In
from op_table.row import FLOATS, Row, binary, unary, zeros


def _times(x, weight):
    """Product that is a negative zero where x is minus infinity, as the limit is."""
    return np.where(np.isneginf(x), -0.0, x * weight)


def _crelu(x, axis=1):
    return np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], axis)


def _gradient(torch, chx):
    return with_gradient(torch, chx, (1000, 1000), x=(1000, 1000))


ROWS = [
    unary('relu', lambda x: np.maximum(x, 0), avoid=(0,), bench=[Bench('np.maximum(a, 0)', 'xp.relu(a)'), small('np.maximum(a, 0)', 'xp.relu(a)'), *_gradient('torch.relu(x)', 'xp.relu(x)'), small(None, ('a.requires_grad_()', 'torch.autograd.grad(a.relu().sum(), a)[0]'), ('a.require_grad()', 'xp.grad([xp.relu(a).sum()], [a])[0]'), label='backward of sum(relu(a))')]),
    binary('_relu_grad', lambda gy, y: gy * (y > 0), FLOATS, avoid=(0,), grad_inputs=(0,)),
    unary('sigmoid', scipy.special.expit, tolerance=4, ulp=(3, -104, 20), bench=[Bench('1 / (1 + np.exp(-a))', 'xp.sigmoid(a)'), *_gradient('torch.sigmoid(x)', 'xp.sigmoid(x)')]),
    binary('_sigmoid_grad', lambda gy, y: gy * y * (1 - y), FLOATS, second=(0.1, 0.9), tolerance=4),
    unary('leaky_relu', lambda x, slope=0.2: np.where(x >= 0, x, slope * x), avoid=(0,), dtypes=FLOATS, bench=[Bench(None, 'F.leaky_relu(a, 0.2)', 'xp.leaky_relu(a)')]),
    unary('elu', lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)), avoid=(0,), dtypes=FLOATS, ulp=(2, -20, 2), bench=[Bench(None, 'F.elu(a)', 'xp.elu(a)')]),
    unary('softplus', lambda x, beta=1.0: np.logaddexp(0, beta * x) / beta, dtypes=FLOATS, tolerance=4, ulp=(3, -104, 20), bench=[Bench(None, 'F.softplus(a)', 'xp.softplus(a)')]),
    unary('clipped_relu', lambda x, z=20.0: np.clip(x, 0, z), avoid=(0,)),
    # CUDA's expf is off by 2 ulp itself.
    unary('silu', lambda x: _times(x, scipy.special.expit(x)), dtypes=FLOATS, tolerance=4, ulp=(4, -110, 20), gpu_ulp=5, bench=[Bench(None, 'F.silu(a)', 'xp.silu(a)')]),
    # The product has |x| < 14.2 times the error of a probability that is subnormal, 1 ulp.
    unary('gelu', lambda x: _times(x, scipy.special.ndtr(x)), dtypes=FLOATS, tolerance=8, ulp=(4, -15, 6), gpu_ulp=14, bench=[Bench(None, 'F.gelu(a)', 'xp.gelu(a)')]),
    Row('crelu', _crelu, [[In(2, 3, avoid=(0,))], [In(2, 3, avoid=(0,)), {'axis': 0}], [In(0, 3)]], wrong=[(DimensionError, lambda f: f(zeros(3)))]),
]
