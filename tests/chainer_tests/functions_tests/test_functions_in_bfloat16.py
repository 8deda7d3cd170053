"""Every function takes bfloat16 on ChainerX and NumPy, and gives values and gradients near those of float32."""

import numpy as np
import pytest
from helpers.function_table import ROWS

import chainer
import chainerx

ml_dtypes = pytest.importorskip('ml_dtypes')
# NumPy itself multiplies no matrices of bfloat16; the kernels of ChainerX do.
pytestmark = pytest.mark.chainerx
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = BFLOAT16, np.dtype('float32')
DEVICES = ['@numpy', 'native:0'] if chainerx.is_available() else ['@numpy']


def run(row, dtype, device):
    """Outputs and gradients of a call on numbers that bfloat16 holds."""
    np.random.seed(0)
    device = chainer.get_device(device)
    with chainer.using_device(device):
        xs = []
        for a in row.inputs:
            if a.dtype.kind == 'f':
                a = a.astype('float32').astype(BFLOAT16).astype(dtype)
            xs.append(chainer.Variable(device.send(a), requires_grad=a.dtype in FLOATS))
        ys = row.f(*xs)
        ys = [y for y in (ys if isinstance(ys, (tuple, list)) else [ys])]
        inputs = [x for x in xs if x.dtype in FLOATS]
        outputs = [y for y in ys if isinstance(y, chainer.Variable) and y.dtype in FLOATS]
        if not outputs or not row.checks.get('grad', True):
            return ys, []
        halves = [device.send(np.full(y.shape, 0.5).astype(y.dtype)) for y in outputs]
        grads = chainer.grad(outputs, inputs, [chainer.Variable(g) for g in halves])
    return ys, grads


def to_float64(array):
    return chainer.get_device('@numpy').send(chainer.as_array(array)).astype('float64')


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('name', ROWS)
def test_function(name, device):
    row = ROWS[name]
    actual, actual_grads = run(row, BFLOAT16, device)
    expected, expected_grads = run(row, np.dtype('float32'), device)
    for a, e in zip([*actual, *actual_grads], [*expected, *expected_grads], strict=True):
        assert (a is None) == (e is None)
        if a is None:
            continue
        if e.dtype == 'float32':
            assert a.dtype == BFLOAT16
        if row.noisy:
            continue
        a, e = to_float64(a), to_float64(e)
        scale = abs(e).max(initial=1, where=np.isfinite(e))
        np.testing.assert_allclose(a, e, rtol=0, atol=0.08 * scale)
