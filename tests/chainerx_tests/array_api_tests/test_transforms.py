"""Fourier transforms beside array_api_strict."""

import numpy as np
import pytest
from chainerx_tests.array_api_tests.common import FLOATS, arrays, compare, strict
from chainerx_tests.fourier import ONE_AXIS, REAL_INPUT, SEVERAL, TRANSFORMS
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import chainerx
from chainerx import array_api as xp

SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=6)
NORMS = st.sampled_from(['backward', 'ortho', 'forward'])


def _complex(name, x):
    """A complex array made of a real one, unless the transform takes that."""
    return x if name in REAL_INPUT else (x + 1j * x[::-1]).astype(np.result_type(x, np.complex64))


def _compare(name, x, **kwargs):
    expected = np.asarray(getattr(strict.fft, name)(strict.asarray(x, copy=True), **kwargs))
    got = chainerx.to_numpy(getattr(xp.fft, name)(xp.asarray(x, copy=True), **kwargs))
    assert got.dtype == expected.dtype and got.shape == expected.shape
    limit = 1e-4 if x.dtype.name in ('float32', 'complex64') else 1e-12
    np.testing.assert_allclose(got, expected, rtol=limit, atol=limit * 10)


@pytest.mark.parametrize('name', ONE_AXIS)
@given(data=st.data())
def test_one_axis(name, data):
    x = _complex(name, data.draw(arrays(FLOATS, SHAPES, low=-8, high=8)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    n = data.draw(st.none() | st.integers(1, 9))
    _compare(name, x, axis=axis, n=n, norm=data.draw(NORMS))


@pytest.mark.parametrize('name', SEVERAL)
@given(data=st.data())
def test_several_axes(name, data):
    x = _complex(name, data.draw(arrays(FLOATS, SHAPES, low=-8, high=8)))
    axes = data.draw(st.permutations(range(x.ndim)))[: data.draw(st.integers(1, x.ndim))]
    s = data.draw(st.none() | st.just([data.draw(st.integers(1, 7)) for _ in axes]))
    _compare(name, x, axes=axes, s=s, norm=data.draw(NORMS))


def test_all_transforms_are_there():
    assert {*TRANSFORMS, 'fftfreq', 'rfftfreq', 'fftshift', 'ifftshift'} == {
        n for n in dir(xp.fft) if n[0] != '_'
    }


@pytest.mark.parametrize('name', ['fftfreq', 'rfftfreq'])
@pytest.mark.parametrize('dtype', [None, *FLOATS])
def test_frequencies(name, dtype):
    for n, d in (1, 1.0), (4, 0.25), (7, 3.0):
        options = {'dtype': dtype} if dtype else {}
        compare(
            lambda xp, n=n, d=d, options=options: getattr(xp.fft, name)(
                n, d=d, **{k: getattr(xp, v) for k, v in options.items()}
            )
        )


@pytest.mark.parametrize('name', ['fftshift', 'ifftshift'])
@given(x=arrays(FLOATS, SHAPES, low=-8, high=8), last=st.booleans())
def test_shifts(name, x, last):
    compare(lambda xp, x: getattr(xp.fft, name)(x, axes=(-1,) if last else None), x)
