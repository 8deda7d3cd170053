"""What the tests of ``chainerx.array_api`` share: the oracle, arrays, and comparisons."""

import array_api_strict as strict
import numpy as np
from hypothesis import settings, strategies as st
from hypothesis.extra import numpy as hnp

from chainerx import array_api as xp

strict.set_array_api_strict_flags(api_version='2024.12')
# The same examples in each run.
settings.register_profile(
    'array_api', max_examples=25, deadline=None, derandomize=True, database=None
)
settings.load_profile('array_api')

FLOATS = ('float32', 'float64')
INTEGERS = ('int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64')
COMPLEX = ('complex64', 'complex128')
INEXACT = FLOATS + COMPLEX
REALS = INTEGERS + FLOATS
NUMBERS = REALS + COMPLEX
ALL = ('bool', *NUMBERS)
TOLERANCES = {'float32': 1e-5, 'float64': 1e-12, 'complex64': 1e-5, 'complex128': 1e-12}
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


def elements(dtype, special=True, low=None, high=None):
    """Elements of a dtype; with infinite ones, not-a-number and signed zeros unless limited."""
    dtype = np.dtype(dtype)
    if dtype.kind == 'b':
        return st.booleans()
    if dtype.kind in 'iu':
        info = np.iinfo(dtype)
        return st.integers(
            info.min if low is None else max(low, info.min), info.max if high is None else high
        )
    if dtype.kind == 'c':
        part = elements(f'f{dtype.itemsize // 2}', special, low, high)
        return st.builds(complex, part, part)
    if not special or low is not None:
        low, high = (-8, 8) if low is None else (low, high)
        return st.integers(low * 16, high * 16).map(lambda n: n / 16)
    return st.one_of(
        st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0]),
        st.floats(-1e3, 1e3, width=8 * dtype.itemsize),
    )


def arrays(dtypes, shapes=SHAPES, **limits):
    """NumPy arrays of one of the dtypes."""
    return st.sampled_from(dtypes).flatmap(
        lambda d: hnp.arrays(d, shapes, elements=elements(d, **limits))
    )


def pairs(dtypes, **limits):
    """Pairs of NumPy arrays of dtypes of one kind whose shapes broadcast."""

    @st.composite
    def draw(draw):
        first = draw(st.sampled_from(dtypes))
        second = draw(st.sampled_from([d for d in dtypes if _promotes(first, d)]))
        shapes = draw(
            hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3)
        ).input_shapes
        return tuple(
            draw(hnp.arrays(d, s, elements=elements(d, **limits)))
            for d, s in zip((first, second), shapes, strict=True)
        )

    return draw()


def _kind(dtype):
    return np.dtype(dtype).kind.replace('u', 'i').replace('c', 'f')


def _promotes(a, b):
    """Whether the standard promotes two dtypes: integers, but uint64 with unsigned ones only, or others of a kind."""
    return _kind(a) == _kind(b) == _kind(np.promote_types(a, b))


def assert_same(got, expected, tolerance=1):
    """Compares what both libraries return: arrays, tuples of them, or other values."""
    if isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        if hasattr(expected, '_fields'):
            assert got._fields == expected._fields
        for g, e in zip(got, expected, strict=True):
            assert_same(g, e, tolerance)
        return
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if expected.dtype.kind == 'c':
        _assert_complex(got, expected, tolerance * TOLERANCES[expected.dtype.name])
    elif expected.dtype.kind == 'f':
        limit = tolerance * TOLERANCES[expected.dtype.name]
        np.testing.assert_allclose(got, expected, rtol=limit, atol=limit * 1e-3)
        zeros = (got == 0) & (expected == 0)
        np.testing.assert_array_equal(np.signbit(got)[zeros], np.signbit(expected)[zeros])
    else:
        np.testing.assert_array_equal(got, expected)


def _assert_complex(got, expected, limit):
    """Compares numbers by their distance, and where a part is not finite by both parts."""
    finite = np.isfinite(expected)
    np.testing.assert_allclose(got[finite], expected[finite], rtol=limit, atol=limit * 1e-3)
    for part in ('real', 'imag'):
        np.testing.assert_allclose(
            getattr(got, part)[~finite], getattr(expected, part)[~finite], rtol=limit
        )


def compare(call, *values, tolerance=1):
    """Runs a call with each namespace on the same values; NumPy arrays become arrays."""

    def run(namespace):
        args = [namespace.asarray(v, copy=True) if isinstance(v, np.ndarray) else v for v in values]
        return call(namespace, *args)

    with np.errstate(all='ignore'):
        expected = run(strict)
    assert_same(run(xp), expected, tolerance)
