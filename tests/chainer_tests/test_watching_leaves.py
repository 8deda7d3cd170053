"""Leaves whose gradients are complete while a backward goes on."""

import numpy
import pytest

import chainer
import chainer.functions as F
from chainer._core.autograd import leaves as watched


def leaf(value):
    return chainer.Parameter(numpy.array([value, value + 1], 'float32'))


def watch(backward, leaves, **names):
    """Runs a backward; returns names of leaves with their gradients when they were complete."""
    seen = []

    def on_ready(var):
        (name,) = [name for name, value in names.items() if value is var]
        seen.append((name, var.grad.tolist()))

    with watched.watching_leaves(on_ready):
        backward()
    return seen


@pytest.mark.parametrize('start', [None, 5])
def test_order_and_gradients(start):
    """The last functions come first, and a leaf that is used twice after its second use."""
    a, b, c, unused = leaf(1), leaf(2), leaf(3), leaf(4)
    for var in a, b, c, unused:
        var.cleargrad()
    if start is not None:
        a.grad = numpy.full(2, start, 'float32')
    h = F.exp(a * b)
    loss = F.sum(h * a * c)
    expected = [x.array for x in chainer.grad([loss], [a, b, c])]
    expected[0] = expected[0] + (start or 0)
    seen = watch(loss.backward, [a, b, c], a=a, b=b, c=c, unused=unused)
    assert [name for name, _ in seen] == ['c', 'a', 'b'] or [n for n, _ in seen] == ['c', 'b', 'a']
    grads = dict(seen)
    for name, var, value in ('a', a, expected[0]), ('b', b, expected[1]), ('c', c, expected[2]):
        numpy.testing.assert_allclose(grads[name], value, 1e-5)
        numpy.testing.assert_allclose(var.grad, value, 1e-5)
    assert unused.grad is None


def test_outputs_without_gradient_count():
    """A function that no gradient reaches is no reason to wait."""
    a, b = leaf(1), leaf(2)
    y, z = F.split_axis(F.concat([a, b], 0), 2, 0)
    F.argmax(z)
    seen = watch(F.sum(y).backward, [a, b], a=a, b=b)
    assert sorted(seen) == [('a', [1, 1]), ('b', [0, 0])]


def test_loss_scale_and_gradients_of_views():
    a, b = leaf(1), leaf(2)
    loss = F.sum(a + b)
    watch(lambda: loss.backward(loss_scale=4.0), [a, b], a=a, b=b)
    assert a._loss_scale == b._loss_scale == 4
    a.grad += 1  # it has memory of its own
    assert (b.grad == 4).all()


def test_recorded_backward_is_not_watched():
    a = leaf(1)
    loss = F.sum(a * a)
    assert watch(lambda: loss.backward(enable_double_backprop=True), [a], a=a) == []
    assert watched.watchers.on_ready is None
