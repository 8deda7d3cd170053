"""einops on variables and arrays of ChainerX gives what it gives on arrays of NumPy."""

import importlib

import numpy as np
import pytest

import chainer
from chainer.backends import einops as backend
from tests.helpers.devices import CHX

CASES = [
    ('rearrange', 'a b c -> c (b a)', {}),
    ('rearrange', 'a (b1 b2) c -> b1 a (c b2)', {'b1': 3}),
    ('rearrange', 'a b c -> a 1 b c', {}),
    ('reduce', 'a b c -> b', {'reduction': 'sum'}),
    ('reduce', 'a b c -> c a', {'reduction': 'mean'}),
    ('reduce', '... c -> ...', {'reduction': 'max'}),
    ('reduce', 'a b c ->', {'reduction': 'min'}),
    ('reduce', 'a b c -> a b', {'reduction': 'prod'}),
    ('repeat', 'a b c -> a b c r', {'r': 3}),
    ('repeat', 'a b c -> (a r) (b s) c', {'r': 2, 's': 2}),
]
KINDS = [
    'variable',
    *[pytest.param(kind, marks=pytest.mark.chainerx) for kind in ('on-chainerx', 'chainerx')],
]


@pytest.fixture
def einops():
    einops = pytest.importorskip('einops')
    backend.register()
    backend.register()
    return einops


@pytest.mark.parametrize('name, pattern, kwargs', CASES)
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('kind', KINDS)
def test_values_and_gradients(einops, name, pattern, kwargs, dtype, kind):
    x = np.random.RandomState(0).permutation(60).reshape(2, 6, 5).astype(dtype) / 32
    function = getattr(einops, name)
    expected = function(x, pattern, **kwargs)
    if kind == 'variable':
        value = chainer.Variable(x)
    else:
        array = chainer.get_device(CHX[0]).send(x)
        value = chainer.Variable(array) if kind == 'on-chainerx' else array.require_grad()
    result = function(value, pattern, **kwargs)
    assert type(result) is type(value)
    assert result.dtype == dtype and result.shape == expected.shape
    tolerance = 5e-2 if dtype == 'float16' else 1e-5
    array = chainer.get_device('@numpy').send(getattr(result, 'array', result))
    np.testing.assert_allclose(array, expected, rtol=tolerance)
    chainer.functions.sum(result).backward()
    assert value.grad.shape == x.shape


@pytest.mark.parametrize('kind', [KINDS[0], KINDS[2]])
def test_other_functions(einops, kind):
    x = np.arange(12, dtype='f').reshape(3, 4)
    send = chainer.Variable if kind == 'variable' else chainer.get_device(CHX[0]).send
    numpy = chainer.get_device('@numpy')

    def check(actual, expected):
        np.testing.assert_array_equal(numpy.send(getattr(actual, 'array', actual)), expected)

    check(einops.einsum(send(x), send(x), 'i j, k j -> i k'), x @ x.T)
    check(einops.rearrange([send(x), send(x + 1)], 'l a b -> a (l b)'), np.hstack([x, x + 1]))
    packed, shapes = einops.pack([send(x), send(x[:, 0])], 'a *')
    check(packed, np.hstack([x, x[:, :1]]))
    check(einops.unpack(packed, shapes, 'a *')[1], x[:, 0])
    check(einops.reduce(send(x.astype('i')), 'a b -> a', 'sum'), x.sum(1))
    check(einops.reduce(send(x > 5), 'a b -> b', 'any'), (x > 5).any(0))
    check(einops.reduce(send(x > 5), 'a b ->', 'all'), False)
    with pytest.raises(ValueError, match="operation must be one of .*, but is 'median'"):
        backend._registered[0]().reduce(send(x), 'median', (0,))


def test_einops_is_not_installed(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(backend, '_registered', [])
    monkeypatch.setattr(importlib, 'import_module', missing)
    with pytest.raises(ImportError, match='einops'):
        backend.register()
