"""Functions of CuPy arrays give the same on ChainerX's kernels as on CuPy."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainerx
from chainer._core.engines.kernels import KernelTape
from chainer.backends import cuda
from chainer.functions.math.exponential import Exp
from tests.helpers.function_table import ROWS
from tests.helpers.functions import _KernelWatch

pytestmark = [pytest.mark.chainerx, pytest.mark.gpu]
# The first has code of its own for GPUs, and the others need complex numbers.
OTHERS = {'rsqrt', 'fft', 'ifft'}


def _send(x, device):
    return chainer.get_device(device).send(x.astype('f') if x.dtype.kind == 'f' else x)


def _results(name, setting, device):
    """Outputs and gradients of both orders, and whether a kernel has run."""
    row = ROWS[name]
    np.random.seed(0)
    if device.startswith('@cupy'):
        with cuda.get_device_from_id(int(device[-1])):
            cuda.cupy.random.seed(0)
    with chainer.using_config('use_native_kernels', setting):
        xs = [chainer.Variable(_send(x, device)) for x in row.inputs]
        targets = [x for x in xs if x.dtype.kind == 'f']
        with _KernelWatch() as watch:
            ys = row.f(*xs)
        ys = [chainer.as_variable(y) for y in (ys if isinstance(ys, (tuple, list)) else [ys])]
        results = list(ys)
        known = [y for y in ys if y.dtype.kind == 'f' and y.requires_grad]
        double = row.checks.get('double', True)
        if known:
            loss = sum([F.sum(F.sin(y)) for y in known])
            results += chainer.grad([loss], targets, enable_double_backprop=double)
            gxs = [g for g in results[len(ys) :] if g is not None and g.requires_grad]
            if double and gxs:
                results += chainer.grad([sum([F.sum(F.sin(g)) for g in gxs])], targets)
    host = chainer.get_device('@numpy').send
    return [None if y is None else host(y.array) for y in results], watch.used


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
# The second one is not current.
@pytest.mark.parametrize(
    'device', ['@cupy:0', pytest.param('@cupy:1', marks=pytest.mark.multi_gpu(2))]
)
@pytest.mark.parametrize('name', ROWS)
def test_same_results(name, device):
    expected, used = _results(name, 'never', device)
    assert not used
    actual, used = _results(name, 'always', device)
    assert used == (name not in OTHERS and _results(name, 'always', '@numpy')[1])
    for a, b in zip(actual, expected, strict=True):
        if a is None or b is None:
            # A gradient that is zero everywhere may be left out.
            assert not np.any(a if b is None else b)
            continue
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def _tape(x, setting='auto'):
    with chainer.using_config('use_native_kernels', setting):
        return F.exp(chainer.Variable(x)).creator._tape


def test_where_kernels_serve():
    x = _send(np.ones((2, 3)), '@cupy:0')
    assert isinstance(_tape(x), KernelTape)
    assert isinstance(_tape(x[:1, :1].copy()), KernelTape)
    assert not isinstance(_tape(x, 'never'), KernelTape)
    with cuda.Stream():
        assert isinstance(_tape(x), KernelTape)
    with chainerx.Stream('cuda:0'):
        assert isinstance(_tape(x), KernelTape)
    for view in x.T, x[:, ::2]:
        assert isinstance(_tape(view), KernelTape)
    for unusual in x[::-1], x[:0]:
        assert not isinstance(_tape(unusual), KernelTape)


def test_no_copies(monkeypatch):
    x = _send(np.ones((2, 3)), '@cupy:0')
    pointers = []
    forward = Exp.forward_chainerx

    def look(self, inputs):
        (y,) = forward(self, inputs)
        pointers.extend([inputs[0].data_ptr + inputs[0].offset, y.data_ptr])
        return (y,)

    monkeypatch.setattr(Exp, 'forward_chainerx', look)
    with chainer.using_config('use_native_kernels', 'always'):
        y = F.exp(x)
    assert isinstance(y.array, cuda.ndarray)
    assert pointers == [x.data.ptr, y.array.data.ptr]
