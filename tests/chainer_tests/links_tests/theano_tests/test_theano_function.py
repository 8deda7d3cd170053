import sys
import types

import numpy as np
import pytest

import chainer
from chainer import links as L


def test_without_theano(monkeypatch):
    monkeypatch.setitem(sys.modules, 'theano', None)
    with pytest.raises(RuntimeError, match='install Theano'):
        L.TheanoFunction((), ())


class TensorVariable:
    """Stands for a variable of Theano: what computes it from the values of others."""

    def __init__(self, compute=None):
        self.compute = compute

    def type(self, name):
        return TensorVariable()


@pytest.fixture
def theano(monkeypatch):
    """A Theano that knows the product of two inputs, and its gradients."""

    def function(inputs, outputs, on_unused_input=None):
        return lambda *values: [y.compute(*values) for y in outputs]

    def grad(cost, known_grads, wrt, disconnected_inputs):
        assert cost is None and disconnected_inputs == 'ignore'
        assert len(known_grads) == 1 and len(wrt) == 2
        return [TensorVariable(lambda x, y, g: g * y), TensorVariable(lambda x, y, g: g * x)]

    module = types.ModuleType('theano')
    module.function = function
    module.tensor = types.SimpleNamespace(TensorVariable=TensorVariable, grad=grad)
    monkeypatch.setitem(sys.modules, 'theano', module)


def test_computes(theano):
    link = L.TheanoFunction(
        (TensorVariable(), TensorVariable()), TensorVariable(lambda x, y: x * y)
    )
    x, y, g = (np.random.uniform(-1, 1, (2, 3)) for _ in range(3))
    chainer.gradient_check.check_backward(link, (x, y), g, dtype='d')
    np.testing.assert_array_equal(link(x, y).array, x * y)
    x, y = chainer.Variable(x), chainer.Variable(y)
    z = link(x, y)
    z.grad = g
    z.backward(enable_double_backprop=True)
    with pytest.raises(RuntimeError, match='double'):
        chainer.grad([x.grad_var], [y])


def test_refuses_other_objects(theano):
    with pytest.raises(TypeError, match='outputs'):
        L.TheanoFunction(TensorVariable(), 'y')
