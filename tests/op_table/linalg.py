"""Products of vectors and matrices, and sums by subscripts."""
import math

import numpy as np

from chainerx import ChainerxError, DimensionError, DtypeError
from op_table.bench import Bench, product, small, with_gradient
from op_table.inputs import In
from op_table.row import ALL, NUMBERS, Row, zeros


def _linear(x, w, b=None, n_batch_axis=1):
    y = x.reshape(*x.shape[:n_batch_axis], math.prod(x.shape[n_batch_axis:])) @ w.T
    return y if b is None else y + b


def _vecdot(a, b, axis=-1):
    return np.sum(np.moveaxis(a, axis, -1) * np.moveaxis(b, axis, -1), -1)


def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    # NumPy 1 also takes vectors of two elements.
    for x, x_axis in (a, axisa), (b, axisb):
        if x.shape[x_axis if axis is None else axis] != 3:
            raise ValueError('the vectors must have three elements')
    return np.cross(a, b, axisa, axisb, axisc, axis)


def _call_einsum(f, arrays, kwargs):
    return f(kwargs['subscripts'], *arrays)


_SUMS = [
    ('ij->ji', In(2, 3)), ('ii', In(3, 3)), ('iij->ij', In(2, 2, 3)), ('i->', In(0)),
    ('ij,jk', In(2, 3), In(3, 4)), ('i,j->ji', In(2), In(3)), ('ij,', In(2, 3), In()),
    ('bij,bkj->kbi', In(2, 3, 4), In(2, 5, 4)), ('ij,jk', In(2, 1), In(3, 4)),
    ('...ij,...jk->...ik', In(2, 1, 2, 3), In(4, 3, 2)), ('ij,jk', In(2, 0), In(0, 3)),
    ('ij,jk,kl', In(2, 3), In(3, 4), In(4, 2)), ('...ii->...i', In(2, 3, 3)),
]

def _quantized_linear(x, W, scale, zero=None, dtype='int4', block_size=32):
    bits, count = int(dtype.lstrip('uint')), x.shape[-1]
    q = (W.astype(int)[..., None] >> np.arange(0, 8, bits) & 2**bits - 1).reshape(len(W), -1)[:, :count]
    if dtype[0] == 'i':
        q = np.where(q < 2 ** (bits - 1), q, q - 2**bits)
    spread = [np.repeat(a, block_size, 1)[:, :count] for a in (scale, zero) if a is not None]
    return x @ ((q - (0 if dtype[0] == 'i' else 2 ** (bits - 1)) if zero is None else q - spread[1]) * spread[0]).T


ROWS = [
    Row('vecdot', _vecdot, [[In(3), In(3)], [In(2, 3), In(3)], [In(2, 3), In(2, 3), {'axis': 0}], [In(4, 1, 3), In(2, 3)], [In(2, 0), In(2, 0)]], NUMBERS, tolerance=8,
        wrong=[(DimensionError, lambda f: f(zeros(2), zeros(3))), (DimensionError, lambda f: f(zeros(), zeros(3)))]),
    Row('matrix_transpose', lambda x: np.swapaxes(x, -1, -2), [[In(2, 3)], [In(2, 3, 4)], [In(0, 2)]], ALL,
        wrong=[(DimensionError, lambda f: f(zeros(2))), (DimensionError, lambda f: f(zeros()))]),
    Row('dot', np.dot, [[In(2, 3), In(3, 4)], [In(3), In(3)], [In(2, 3), In(3)], [In(2, 3, 4), In(5, 4, 2)], [In(), In(2, 3)], [In(2, 0), In(0, 3)]], NUMBERS, tolerance=8,
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(2, 3)))]),
    Row('matmul', np.matmul, [[In(2, 3), In(3, 4)], [In(3), In(3)], [In(3), In(2, 3, 4)], [In(2, 3, 4), In(4)], [In(5, 1, 2, 3), In(2, 3, 4)]], NUMBERS, tolerance=8,
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(2, 3))),
               (DimensionError, lambda f: f(zeros(), zeros(2))),
               (DimensionError, lambda f: f(zeros(2, 2, 2), zeros(3, 2, 2)))],
        bench=[product(512, 512, 512), product(512, 512, 512, left='a.T'), product(512, 512, 512, right='b.T'),
               product(512, 512, 512, left='a.T', right='b.T'), product(100, 1000, 784, right='b.T'),
               product(1000, 784, 100, left='a.T'), product(20, 2048, 512, right='b.T'), product(1, 1000, 1000),
               product(1, 1000, 1000, right='b.T'), product(4000, 8, 8), product(8, 8, 4000), product(16, 16, 16),
               product(32, 32, 32), product(64, 64, 64), product(100, 10, 1000, right='b.T'),
               Bench('a @ b', label='a @ b, 64 of 32x64x32', a=(64, 32, 64), b=(64, 64, 32)), small('a @ b'),
               small(None, ('a.requires_grad_()', 'torch.autograd.grad((a @ b).exp(), a, b)[0]'),
                     ('a.require_grad()', 'xp.grad([xp.exp(a @ b)], [a], grad_outputs=[b])[0]'), label='backward of exp(a @ b)')]),
    Row('inner', np.inner, [[In(2, 3), In(4, 3)], [In(3), In(2, 2, 3)], [In(), In(3)], [In(2, 0), In(0)]], NUMBERS, tolerance=8, wrong=[(DimensionError, lambda f: f(zeros(3), zeros(2)))]),
    Row('vdot', np.vdot, [[In(3), In(3)], [In(2, 3), In(3, 2)], [In(0), In(0, 2)]], NUMBERS, tolerance=8, wrong=[(DimensionError, lambda f: f(zeros(3), zeros(2)))]),
    Row('trace', np.trace, [[In(3, 3)], [In(2, 4), {'offset': 1}], [In(4, 2), {'offset': -2}], [In(2, 3, 4), {'axis1': 2, 'axis2': 0}], [In(2, 0)]], NUMBERS, 'sum',
        wrong=[(DimensionError, lambda f: f(zeros(3))), (DimensionError, lambda f: f(zeros(2, 2), 0, 1, 1))]),
    Row('outer', np.outer, [[In(2), In(3)], [In(2, 2), In(3)], [In(), In(0)]], NUMBERS),
    Row('kron', np.kron, [[In(2, 3), In(3, 2)], [In(2), In(2, 3)], [In(1, 2, 2), In(3)], [In(), In(2)]], NUMBERS),
    Row('cross', _cross,
        [[In(3), In(3)], [In(2, 3), In(3)], [In(4, 1, 3), In(2, 3)], [In(3, 2), In(3, 2), {'axis': 0}],
         [In(3, 2), In(2, 3), {'axisa': 0, 'axisb': 1, 'axisc': 0}], [In(0, 3), In(3)]], NUMBERS, tolerance=4,
        wrong=[(DimensionError, lambda f: f(zeros(2), zeros(2))),
               (DimensionError, lambda f: f(zeros(3), zeros(4))),
               (DimensionError, lambda f: f(zeros(), zeros(3))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(4, 3))),
               (DtypeError, lambda f: f(zeros(3, dtype='bool'), zeros(3, dtype='bool')))]),
    Row('tensordot', np.tensordot,
        [[In(2, 3, 4), In(3, 4, 2)], [In(2, 3), In(4), {'axes': 0}], [In(2, 3), In(3, 2), {'axes': 1}],
         [In(2, 3, 4), In(4, 2), {'axes': ((-1, 0), (0, 1))}], [In(2, 3), In(3, 5), {'axes': (1, 0)}],
         [In(2, 3), In(2, 3), {'axes': ([], [])}], [In(2, 0), In(0, 3), {'axes': 1}]],
        NUMBERS, tolerance=8,
        wrong=[(DimensionError, lambda f: f(zeros(2, 2), zeros(3, 3), 1)),
               (DimensionError, lambda f: f(zeros(2), zeros(2), 3)),
               (ValueError, lambda f: f(zeros(2), zeros(2), ((0,),)))]),
    Row('linear', _linear, [[In(2, 3), In(4, 3)], [In(2, 3), In(4, 3), In(4)], [In(2, 3, 2), In(4, 6), In(4)], [In(0, 3), In(4, 3), In(4)], [In(2, 3, 2), In(4, 2), In(4), {'n_batch_axis': 2}]], tolerance=8,
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(4, 2))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(4, 3), zeros(3))),
               (ChainerxError, lambda f: f(zeros(2, 3), zeros(4, 3), None, 3))],
        bench=with_gradient('F.linear(x, w, b)', 'xp.linear(x, w, b)', (100, 1000), x=(100, 784), w=(1000, 784), b=(1000,))),
    Row('quantized_linear', _quantized_linear,
        [[In(2, 5), In(3, 3, dtype='uint8', low=0, high=255), In(3, 1)],
         [In(2, 1, 5), In(3, 3, dtype='uint8', low=0, high=255), In(3, 2), {'block_size': 4}],
         [In(5, 20), In(9, 20, dtype='uint8', low=0, high=255), In(9, 2), In(9, 2), {'dtype': 'uint8', 'block_size': 16}],
         [In(20), In(2, 5, dtype='uint8', low=0, high=255), In(2, 2), {'dtype': 'int2', 'block_size': 16}],
         [In(0, 2), In(3, 1, dtype='uint8', low=0, high=255), In(3, 1)]],
        result='first', grad_inputs=(0,), tolerance=200,
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(4, 1, dtype='uint8'), zeros(4, 1))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(4, 19, dtype='uint8'), zeros(4, 1))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(8, dtype='uint8'), zeros(4, 1))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(4, 2, dtype='uint8'), zeros(4, 2))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(4, 2, dtype='uint8'), zeros(4, 1), zeros(4))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(4, 2, dtype='uint8'), zeros(4, 1), None, zeros(3))),
               (DimensionError, lambda f: f(zeros(), zeros(4, 2, dtype='uint8'), zeros(4, 1))),
               (DtypeError, lambda f: f(zeros(2, 3), zeros(4, 2), zeros(4, 1))),
               (DtypeError, lambda f: f(zeros(2, 3), zeros(4, 3, dtype='uint8'), zeros(4, 1), dtype='int8')),
               (DtypeError, lambda f: f(zeros(2, 3, dtype='int32'), zeros(4, 2, dtype='uint8'), zeros(4, 1))),
               (DtypeError, lambda f: f(zeros(2, 3), zeros(4, 2, dtype='uint8'), zeros(4, 1, dtype='int32'))),
               (ChainerxError, lambda f: f(zeros(2, 3), zeros(4, 2, dtype='uint8'), zeros(4, 1), block_size=0)),
               (ValueError, lambda f: f(zeros(2, 3), zeros(4, 2, dtype='uint8'), zeros(4, 1), dtype='int3'))]),
    Row('einsum', lambda *args: np.einsum(*args), [[*inputs, {'subscripts': text}] for text, *inputs in _SUMS], NUMBERS, call=_call_einsum, tolerance=20,
        wrong=[(ChainerxError, lambda f: f('i,i', zeros(3))),
               (ChainerxError, lambda f: f('i$', zeros(3))),
               (DimensionError, lambda f: f('i', zeros(2, 3))),
               (ChainerxError, lambda f: f('i->j', zeros(3)))]),
]
