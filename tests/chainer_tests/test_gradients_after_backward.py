"""Which gradients a backward pass uses, keeps and clears."""

import numpy as np
import pytest

import chainer
from chainer import functions as F


def _var(*values):
    return chainer.Variable(np.array(values, np.float32))


class Multi(chainer.FunctionNode):
    """Two and three times the input; notes the gradients that it gets."""

    def forward(self, inputs):
        return inputs[0] * 2, inputs[0] * 3

    def backward(self, indexes, gys):
        self.gys = [None if gy is None else gy.array.tolist() for gy in gys]
        terms = [gy * factor for gy, factor in zip(gys, (2, 3)) if gy is not None]
        return (sum(terms[1:], terms[0]),)


@pytest.mark.parametrize('double', [False, True])
@pytest.mark.parametrize('retain', [False, True])
@pytest.mark.parametrize('given', [False, True])
def test_root_and_intermediate(given, retain, double):
    x = _var(1, 2)
    h = x * 3
    y = F.sum(h * h)
    if given:
        y.grad = np.array(1, np.float32)
    y.backward(retain_grad=retain, enable_double_backprop=double)
    np.testing.assert_array_equal(x.grad, [18, 36])
    if retain:
        np.testing.assert_array_equal(y.grad, 1)
        np.testing.assert_array_equal(h.grad, [6, 12])
    else:
        assert y.grad is None and h.grad is None and y.grad_var is None


def test_leaves():
    x, vector = chainer.Variable(np.array(3.0)), _var(1, 2)
    x.backward()
    np.testing.assert_array_equal(x.grad, 1)
    x.backward(loss_scale=2)
    np.testing.assert_array_equal(x.grad, 1)
    vector.backward()
    assert vector.grad is None


@pytest.mark.parametrize('double', [False, True])
def test_gradient_set_on_a_sibling(double):
    x = _var(1, 2)
    func = Multi()
    a, b = func.apply((x,))
    a.grad = np.array([10, 100], np.float32)
    F.sum(b).backward(enable_double_backprop=double)
    assert func.gys == [[10, 100], [1, 1]]
    np.testing.assert_array_equal(x.grad, [23, 203])
    assert a.grad is None and b.grad is None


def test_retained_gradient_of_a_sibling():
    x = _var(1, 2)
    a, b = Multi().apply((x,))
    given = a.grad = np.array([10, 100], np.float32)
    F.sum(b).backward(retain_grad=True)
    assert a.grad is given
    np.testing.assert_array_equal(b.grad, [1, 1])


def test_gradient_set_on_an_intermediate_variable():
    x = _var(1, 2)
    h = x * 3
    y = F.sum(h)
    aside = x * 4
    aside.grad = np.array([5, 5], np.float32)
    h.grad = np.array([7, 7], np.float32)
    y.backward()
    # The gradient that arrives replaces the one that was set.
    np.testing.assert_array_equal(x.grad, [3, 3])
    assert h.grad is None
    np.testing.assert_array_equal(aside.grad, [5, 5])


@pytest.mark.parametrize('which', [0, 1])
def test_unchain_cuts_one_output(which):
    x = _var(1, 2, 3, 4)
    outputs = F.split_axis(x, 2, 0)
    outputs[which].unchain()
    assert outputs[which].creator is None and outputs[1 - which].creator is not None
    F.sum(outputs[0] * 2 + outputs[1] * 2).backward()
    expected = np.array([[2, 2], [2, 2]])
    expected[which] = 0
    np.testing.assert_array_equal(x.grad, expected.ravel())
    np.testing.assert_array_equal(outputs[which].grad, [2, 2])
    assert outputs[1 - which].grad is None


def test_users_arrays_are_not_shared():
    x = _var(1, 2)
    given = np.ones(2, np.float32)
    y = x + 0
    y.grad = given
    y.backward()
    x.grad[...] = 5
    np.testing.assert_array_equal(given, [1, 1])
    z = x + 0
    x.cleargrad()
    chainer.backward([z], [chainer.Variable(given)])
    x.grad[...] = 5
    np.testing.assert_array_equal(given, [1, 1])


def test_loss_scale_is_forgotten():
    x = _var(1, 2)
    F.sum(x).backward(loss_scale=4)
    np.testing.assert_array_equal(x.grad, [4, 4])
    assert x._loss_scale == 4
    x.cleargrad()
    F.sum(x).backward()
    assert x._loss_scale is None
