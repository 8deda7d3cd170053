"""Debug mode warns of NumPy arrays that change between forward and backward."""

import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
from tests.helpers.devices import CHX

SIZES = [3, 100000]  # NumPy's code and ChainerX's kernels


class Product(chainer.FunctionNode):
    """Keeps its inputs and needs no output."""

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward(self, indexes, gys):
        x, y = self.get_retained_inputs()
        return gys[0] * y, gys[0] * x


def product(x):
    return Product().apply((x, x.array + 1))[0]


def variable(n, dtype=np.float32):
    return chainer.Variable(np.linspace(1, 2, n).astype(dtype))


@pytest.mark.parametrize('n', SIZES)
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
@pytest.mark.parametrize(
    'function, changed, label',
    [
        (F.exp, 'output', 'exp'),
        (F.tanh, 'output', 'Tanh'),
        (F.log, 'input', 'log'),
        (lambda x: x * x, 'input', r'_ \* _'),
        (product, 'input', 'Product'),
        (lambda x: x + 1, 'output', None),
        (F.exp, 'gradient', None),
        (F.exp, 'nothing', None),
        (product, 'output', None),
    ],
)
def test_warnings(function, changed, label, dtype, n):
    x = variable(n, dtype)
    with chainer.using_config('debug', True):
        y = function(x)
        y.grad = np.ones_like(y.array)
        others = {'output': y.array, 'input': x.array, 'gradient': y.grad}
        if changed in others:
            others[changed][-1] = 7
        if label is None:
            y.backward()  # warnings are errors
        else:
            with pytest.warns(
                RuntimeWarning, match=rf'^{label} \(Backward\): .* shape \({n},\)'
            ) as w:
                y.backward()
            assert 'test_changes_in_place.py' in str(w[0].message)  # tells the call
    assert x.grad.dtype == dtype


def test_arrays_of_all_shapes():
    for array in np.array(2.0), np.zeros((0, 3)), np.ones((4, 6))[::2, ::-1], np.ones((2, 3)).T:
        x = chainer.Variable(array)
        with chainer.using_config('debug', True):
            y = F.log(x + 1)
            y.grad = y.array
            y.backward()
            y = F.log(x)
            y.grad = np.ones_like(y.array)
            if array.size:
                array[...] = 3
                with pytest.warns(RuntimeWarning, match='log'):
                    y.backward()


def test_outside_of_debug_mode():
    for forward, backward in (False, False), (False, True):
        x = variable(3)
        with chainer.using_config('debug', forward):
            y = F.exp(x)
        y.array[0] = 5
        y.grad = np.ones(3, np.float32)
        with chainer.using_config('debug', backward):
            y.backward()
    # The forward decides.
    with chainer.using_config('debug', True):
        y = F.exp(x)
    y.array[0] = 5
    y.grad = np.ones(3, np.float32)
    with pytest.warns(RuntimeWarning, match='exp'):
        y.backward()


def test_double_backprop():
    x = variable(3)
    with chainer.using_config('debug', True):
        y = F.exp(x)
        (gx,) = chainer.grad([y], [x], enable_double_backprop=True)
        (ggx,) = chainer.grad([gx], [x])
        np.testing.assert_allclose(ggx.array, np.exp(x.array), rtol=1e-6)
        y.array[0] = 5
        with pytest.warns(RuntimeWarning, match='exp'):
            chainer.grad([gx], [x])


def test_parameters_between_forward_and_backward():
    link = chainer.links.Linear(3, 2)
    with chainer.using_config('debug', True):
        y = F.sum(link(variable(3)[None]))
        optimizer = chainer.optimizers.SGD().setup(link)
        link.cleargrads()
        y.backward()
        optimizer.update()
        y = F.sum(link(variable(3)[None]))
        link.W.array[...] += 1
        with pytest.warns(RuntimeWarning, match='LinearFunction'):
            y.backward()


@pytest.mark.chainerx
def test_chainerx_refuses():
    x = chainer.Variable(chainer.get_device(CHX[0]).send(np.ones(3, np.float32)))
    with chainer.using_config('debug', True), warnings.catch_warnings():
        y = F.exp(x)
        y.array[0] = 5
        y.grad = y.array
        with pytest.raises(Exception, match='changed in place'):
            y.backward()
