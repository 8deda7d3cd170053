"""Libraries that are written for the standard run on chainerx arrays."""

import array_api_compat
import einops.array_api
import numpy as np
import opt_einsum
import pytest

import chainerx
from chainerx import array_api as xp


def test_array_api_compat():
    x = chainerx.ones((2, 3))
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x, x, 1.0) is xp
    assert array_api_compat.device(x) == x.device
    assert array_api_compat.to_device(x, 'native:1').device.name == 'native:1'
    assert array_api_compat.size(x) == 6
    assert not array_api_compat.is_lazy_array(x)
    assert array_api_compat.is_writeable_array(x)


def test_program_for_any_namespace():
    def standardize(x):
        namespace = array_api_compat.array_namespace(x)
        mean = namespace.mean(x, axis=0, keepdims=True)
        return (x - mean) / namespace.std(x, axis=0, correction=1, keepdims=True)

    a = np.random.RandomState(0).normal(size=(5, 3))
    x = chainerx.array(a).require_grad()
    y = standardize(x)
    np.testing.assert_allclose(chainerx.to_numpy(y), standardize(a), rtol=1e-12)
    y[0].sum().backward()
    assert x.grad.shape == (5, 3)


@pytest.mark.parametrize(
    ('name', 'pattern', 'options'),
    [
        ('rearrange', 'b (h s) c -> b h (s c)', {'s': 2}),
        ('rearrange', 'b h c -> (c b) h', {}),
        ('reduce', 'b (h s) c -> b c', {'s': 2, 'reduction': 'sum'}),
        ('reduce', 'b h c -> h () 1', {'reduction': 'max'}),
        ('repeat', 'b h c -> b (h r) c', {'r': 3}),
    ],
)
def test_einops(name, pattern, options):
    a = np.random.RandomState(0).normal(size=(2, 4, 3))
    x = chainerx.array(a).require_grad()
    y = getattr(einops.array_api, name)(x, pattern, **options)
    np.testing.assert_allclose(chainerx.to_numpy(y), getattr(einops, name)(a, pattern, **options))
    y.sum().backward()
    assert x.grad.shape == a.shape


def test_einops_of_several_arrays():
    arrays = [chainerx.array(np.full((2, n), n)) for n in (1, 3)]
    packed, shapes = einops.array_api.pack(arrays, 'b *')
    assert packed.tolist() == [[1, 3, 3, 3]] * 2
    assert [x.tolist() for x in einops.array_api.unpack(packed, shapes, 'b *')] == [
        x.tolist() for x in arrays
    ]


@pytest.mark.parametrize(
    'formula', ['ij,jk,kl->il', 'bij,bjk->bik', 'ij,ij->', 'ijk,lk,mj->ilm', 'ii,ij->j']
)
def test_opt_einsum(formula):
    sizes = dict(zip('bijklm', (2, 3, 3, 3, 4, 2), strict=True))
    random = np.random.RandomState(0)
    values = [
        random.normal(size=[sizes[c] for c in term])
        for term in formula.partition('->')[0].split(',')
    ]
    arrays = [chainerx.array(a).require_grad() for a in values]
    y = opt_einsum.contract(formula, *arrays)
    np.testing.assert_allclose(chainerx.to_numpy(y), np.einsum(formula, *values), rtol=1e-10)
    y.sum().backward()
    assert all(x.grad.shape == x.shape for x in arrays)
