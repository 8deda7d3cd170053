"""Gradients of parameters before anything sets them."""

import copy
import pickle

import numpy as np
import pytest
from helpers.functions import devices

import chainer
import chainer.functions as F
import chainer.links as L


@pytest.fixture(params=devices())
def device(request):
    return chainer.get_device(request.param)


def _numpy(array):
    return chainer.get_device('@numpy').send(array)


def _pickled(x):
    return pickle.loads(pickle.dumps(x))


def _shown(x):
    for p in x.params() if isinstance(x, chainer.Link) else [x]:
        assert np.isnan(_numpy(p.grad)).all()
        assert p.grad_var is not None
    return x


PREPARE = {
    'nothing': lambda x: x,
    'read': _shown,
    'deepcopy': copy.deepcopy,
    'read, then deepcopy': lambda x: copy.deepcopy(_shown(x)),
    'pickle': _pickled,
    'read, then pickle': lambda x: _pickled(_shown(x)),
    'pickle, then read': lambda x: _shown(_pickled(x)),
}


@pytest.mark.parametrize('prepare', PREPARE.values(), ids=PREPARE)
def test_it_reads_as_nan_until_the_first_backward(device, prepare):
    p = chainer.Parameter(2, (3,))
    p = prepare(p)
    p.to_device(device)
    for _ in range(2):
        assert p.grad.dtype == np.float32 and p.grad.shape == (3,)
        assert np.isnan(_numpy(p.grad)).all()
        assert p.grad is p.grad or device.xp is not np
    F.sum(p * p).backward()
    np.testing.assert_array_equal(_numpy(p.grad), [4, 4, 4])
    F.sum(p * p).backward()
    np.testing.assert_array_equal(_numpy(p.grad), [8, 8, 8])
    p.cleargrad()
    assert p.grad is None


@pytest.mark.parametrize('prepare', PREPARE.values(), ids=PREPARE)
@pytest.mark.parametrize('double', [False, True])
def test_training_that_clears_gradients_last(device, prepare, double):
    model = chainer.Chain(used=L.Linear(None, 2), unused=L.Linear(2, 2))
    x = device.send(np.ones((4, 3), np.float32))
    model.to_device(device)
    model.used(x)
    model = prepare(model)
    optimizer = chainer.optimizers.Adam().setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1))
    for _ in range(3):
        loss = F.sum(model.used(x) ** 2)
        loss.backward(enable_double_backprop=double)
        optimizer.update()
        model.cleargrads()
    for param in model.params():
        assert np.isfinite(_numpy(param.array)).all()
        assert param.grad is None


TOUCH = {
    'grad': lambda p: setattr(p, 'grad', p.xp.full_like(p.array, 5)),
    'grad_var': lambda p: setattr(p, 'grad_var', chainer.Variable(p.xp.full_like(p.array, 5))),
    'in place': lambda p: p.grad.fill(5),
    'addgrad': lambda p: p.addgrad(chainer.Variable(p.array, grad=p.xp.full_like(p.array, 5))),
}


@pytest.mark.parametrize('touch', TOUCH.values(), ids=TOUCH)
def test_what_a_program_sets_accumulates(device, touch):
    p = chainer.Parameter(2, (3,))
    p.to_device(device)
    touch(p)
    np.testing.assert_array_equal(_numpy(p.grad), [5, 5, 5])
    F.sum(p * p).backward()
    np.testing.assert_array_equal(_numpy(p.grad), [9, 9, 9])


def test_nan_that_backward_computes_stays(device):
    link = chainer.Link()
    with link.init_scope():
        link.p = chainer.Parameter(2, (3,))
    link.to_device(device)
    optimizer = chainer.optimizers.SGD().setup(link)
    F.sum(link.p * np.nan).backward()
    assert np.isnan(_numpy(link.p.grad)).all()
    optimizer.update()
    assert np.isnan(_numpy(link.p.array)).all()


def test_other_gradients_are_as_in_chainer_7(device):
    p = chainer.Parameter(chainer.initializers.Normal(1))
    p.cleargrad()
    p.initialize((2,))
    assert p.grad is None
    for x in chainer.Parameter(np.zeros(2, np.float32)), chainer.Parameter(np.arange(2)):
        x.to_device(device)
        assert x.grad is None
    assert copy.copy(L.Linear(2, 2)).W.grad is not None
    assert L.Linear(2, 2).copy().W.grad is None


def test_addgrad_of_a_fresh_gradient_adds_nothing(device):
    p, q = chainer.Parameter(1, (2,)), chainer.Parameter(1, (2,))
    q.to_device(device)
    q.grad = q.xp.full_like(q.array, 3)
    q.addgrad(p)
    np.testing.assert_array_equal(_numpy(q.grad), [3, 3])


def test_hooks_see_the_sum():
    class Names(chainer.FunctionHook):
        def __init__(self):
            self.names = []

        def forward_preprocess(self, function, in_data):
            self.names.append(function.label)

    p = chainer.Parameter(2, (3,))
    y = F.sum(p)
    with Names() as hook:
        y.backward()
    assert hook.names == ['BroadcastTo', '_ + _']
    np.testing.assert_array_equal(p.grad, [1, 1, 1])
