"""Leaves whose gradients are complete while a backward goes on."""

import numpy
import pytest

import chainer
import chainer.functions as F
from chainer._core.autograd import leaves as watched
from chainer.backend import CpuDevice

on_devices = pytest.mark.parametrize(
    'device', ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]
)


def leaf(value, device='@numpy'):
    param = chainer.Parameter(numpy.array([value, value + 1], 'float32'))
    param.to_device(device)
    param.cleargrad()
    return param


def watch(backward, **names):
    """Runs a backward; returns names of leaves with their gradients when they were complete."""
    seen = []

    def on_ready(var):
        (name,) = [name for name, value in names.items() if value is var]
        seen.append((name, CpuDevice().send(var.grad).tolist()))

    with watched.watching_leaves(on_ready, [*names.values()]):
        backward()
    return seen


@on_devices
@pytest.mark.parametrize('start', [None, 5])
def test_order_and_gradients(start, device):
    """The last functions come first, and a leaf that is used twice after its second use."""
    a, b, c, unused = [leaf(value, device) for value in (1, 2, 3, 4)]
    if start is not None:
        a.grad = a.device.send(numpy.full(2, start, 'float32'))
    h = F.exp(a * b)
    loss = F.sum(h * a * c)
    expected = [CpuDevice().send(x.array) for x in chainer.grad([loss], [a, b, c])]
    expected[0] = expected[0] + (start or 0)
    seen = watch(loss.backward, a=a, b=b, c=c, unused=unused)
    assert [name for name, _ in seen] == ['c', 'a', 'b'] or [n for n, _ in seen] == ['c', 'b', 'a']
    grads = dict(seen)
    for name, var, value in ('a', a, expected[0]), ('b', b, expected[1]), ('c', c, expected[2]):
        numpy.testing.assert_allclose(grads[name], value, 1e-5)
        numpy.testing.assert_allclose(CpuDevice().send(var.grad), value, 1e-5)
    assert unused.grad is None


@on_devices
def test_outputs_without_gradient_count(device):
    """A function that no gradient reaches is no reason to wait."""
    a, b = leaf(1, device), leaf(2, device)
    y, z = F.split_axis(F.concat([a, b], 0), 2, 0)
    F.argmax(z)
    seen = watch(F.sum(y).backward, a=a, b=b)
    assert sorted(seen) == [('a', [1, 1]), ('b', [0, 0])]


@on_devices
def test_a_leaf_is_told_of_while_the_pass_goes_on(device):
    """It may lose its gradient, and gradients of other leaves are not there yet."""
    a, b = leaf(1, device), leaf(2, device)
    loss = F.sum(F.exp(F.tanh(a)) * b)
    states = []

    def on_ready(var):
        states.append((var is b, a.grad is None, b.grad is None))
        var.cleargrad()

    with watched.watching_leaves(on_ready, [a, b]):
        loss.backward()
    assert states == [(True, True, False), (False, False, True)]
    assert a.grad is None
    assert b.grad is None


@on_devices
def test_several_outputs_of_which_one_is_a_leaf(device):
    """A leaf from which the pass starts gets what it gets without a watch, at the end."""
    grads = []
    for is_watched in False, True:
        a, b = leaf(1, device), leaf(2, device)
        ones = [chainer.Variable(a.device.send(numpy.ones(2, 'float32'))) for _ in range(2)]
        y = a * b

        def backward(ys=(y, a), gys=ones):
            chainer.backward([*ys], [*gys])

        if is_watched:
            assert [name for name, _ in watch(backward, a=a, b=b)] == ['b']
        else:
            backward()
        grads.append([CpuDevice().send(var.grad).tolist() for var in (a, b)])
    assert grads[0] == grads[1]


@on_devices
def test_an_error_of_the_watcher_ends_the_pass(device):
    a = leaf(1, device)
    loss = F.sum(a * a)

    def fail(var):
        raise KeyError('watched')

    with pytest.raises(KeyError, match='watched'), watched.watching_leaves(fail, [a]):
        loss.backward()
    assert watched.watchers.on_ready is None


def test_loss_scale_and_gradients_of_views():
    a, b = leaf(1), leaf(2)
    loss = F.sum(a + b)
    watch(lambda: loss.backward(loss_scale=4.0), a=a, b=b)
    assert a._loss_scale == b._loss_scale == 4
    a.grad += 1  # it has memory of its own
    assert (b.grad == 4).all()


@pytest.mark.chainerx
def test_loss_scale_and_gradients_of_views_on_chainerx():
    """The scale is divided out, as at the end of a pass without a watch."""
    a, b = leaf(1, 'native:0'), leaf(2, 'native:0')
    loss = F.sum(a + b)
    seen = watch(lambda: loss.backward(loss_scale=4.0), a=a, b=b)
    assert sorted(seen) == [('a', [1, 1]), ('b', [1, 1])]
    a.grad += 1  # it has memory of its own
    assert CpuDevice().send(b.grad).tolist() == [1, 1]


@on_devices
def test_recorded_backward_is_not_watched(device):
    a = leaf(1, device)
    loss = F.sum(a * a)
    assert watch(lambda: loss.backward(enable_double_backprop=True), a=a) == []
    assert watched.watchers.on_ready is None


@pytest.mark.chainerx
def test_plans_are_not_watched():
    """A recording sees the pass as it is without a watch, and so do its runs."""
    a = leaf(1, 'native:0')

    @chainer.compile
    def step(x):
        a.cleargrad()
        F.sum(a * a * x).backward()

    def call():
        for _ in range(4):
            step(a.device.send(numpy.array([1, 3], 'float32')))

    watch(call, a=a)
    assert step.replays > 0
    assert CpuDevice().send(a.grad).tolist() == [2, 12]
