"""Copies of variables and parameters have one array, now and later, and gradients of their own."""

import copy
import gc

import numpy as np
import pytest

import chainer
from chainer import functions as F, initializers, links as L
from tests.helpers.devices import CHX


def _array(*shape, seed=0):
    return np.random.RandomState(seed).rand(*shape).astype(np.float32)


def test_copy():
    x = chainer.Variable(_array(2, 3), name='x')
    x.grad = _array(2, 3, seed=1)
    y = copy.copy(x)
    assert y.array is x.array and y.grad is x.grad and y.name == 'x'
    assert y.node is not x.node
    y.cleargrad()
    assert x.grad is not None


def test_copy_is_a_leaf():
    x = chainer.Variable(_array(3))
    h = x * 2
    z = copy.copy(h)
    assert z.creator is None and z.rank == 0
    F.sum(z * 3).backward()
    assert x.grad is None and h.grad is None
    np.testing.assert_array_equal(z.grad, [3, 3, 3])


@pytest.mark.parametrize('which', range(3))
def test_arrays_are_set_together(which):
    x = chainer.Parameter(initializers.Normal(), (2, 3))
    nodes = [x.node]
    variables = [x, copy.copy(x)]
    variables.append(copy.copy(variables[1]))
    nodes += [v.node for v in variables[1:]]
    array = _array(4, seed=5)
    variables[which].array = array
    for v, node in zip(variables, nodes):
        assert v.array is array and v.node is node and node.shape == (4,)
    del variables[which], v
    gc.collect()
    variables[0].array = _array(5)
    assert variables[1].array is variables[0].array


@pytest.mark.parametrize('which', range(2))
@pytest.mark.parametrize('make', [chainer.Parameter, lambda: chainer.Parameter(1.0)])
def test_uninitialized_parameters(make, which):
    params = [make()]
    params.append(copy.copy(params[0]))
    params[which].initialize((2, 3))
    assert params[0].array is params[1].array is not None
    assert np.isnan(params[which].grad).all()
    assert params[1 - which].grad is None


@pytest.mark.chainerx
def test_chainerx():
    link = L.Linear(3, 2).to_device(CHX[0])
    link.cleargrads()
    x = chainer.get_device(CHX[0]).send(_array(4, 3))
    F.sum(link(x)).backward()
    before = chainer.backends.cuda.to_cpu(link.W.grad).copy()
    shared = link.copy()
    assert shared.W.array.data_ptr == link.W.array.data_ptr
    assert shared.W.grad is None and link.W.grad is not None
    shared.cleargrads()
    F.sum(shared(x) * 2).backward()
    np.testing.assert_array_equal(chainer.backends.cuda.to_cpu(link.W.grad), before)
    np.testing.assert_allclose(chainer.backends.cuda.to_cpu(shared.W.grad), before * 2)
    twin = copy.copy(link.W)
    np.testing.assert_array_equal(chainer.backends.cuda.to_cpu(twin.grad), before)
    twin.array = x
    assert link.W.shape == shared.W.shape == (4, 3)
    lazy = L.Linear(None, 2).to_device(CHX[0])
    other = lazy.copy()
    other(x)
    assert lazy.W.array.data_ptr == other.W.array.data_ptr


@pytest.mark.chainerx
def test_moved_copies_part():
    x = chainer.Variable(_array(3))
    y, z = copy.copy(x), copy.copy(x)
    y.to_device(CHX[0])
    assert x.xp is np and z.array is x.array
    x.array = _array(3, seed=1)
    assert z.array is x.array
    assert y.xp is not np and y.array.shape == (3,)
    y.to_device('@numpy')
    y.array = _array(5)
    assert x.shape == (3,)
    p = chainer.Parameter()
    q, r = copy.copy(p), copy.copy(p)
    q.to_chx()
    r.to_device('@numpy')
    p.initialize(2)
    assert r.array is p.array and not q.is_initialized
    q.initialize(3)
    assert q.device.name == 'native:0' and p.shape == (2,)


@pytest.mark.parametrize('copies', [copy.deepcopy, lambda v: copy.deepcopy(copy.copy(v))])
def test_deep_copies_share_nothing(copies):
    x = chainer.Parameter(_array(3), name='p')
    y = copies(x)
    y.array = _array(5)
    assert x.shape == (3,)


def test_shared_link_initializes_both():
    link = L.Linear(None, 4)
    shared = link.copy()
    assert not shared.W.is_initialized
    x = _array(2, 3)
    y = shared(x)
    assert link.W.array is shared.W.array
    np.testing.assert_array_equal(link(x).array, y.array)
    chain = chainer.Sequential(L.Linear(None, 2), F.relu, L.Linear(None, 2))
    twin = chain.copy()
    chain(x)
    for p, q in zip(chain.params(), twin.params()):
        assert p.array is q.array and p is not q


def test_names_of_copied_links():
    link = L.Linear(2, 3)
    link.name = 'own'
    assert link.copy('share').name is None
    assert link.copy('copy').name == link.copy('init').name == 'own'
