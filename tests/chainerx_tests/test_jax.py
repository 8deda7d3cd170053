"""Exchange of arrays with JAX, whose arrays nothing may change."""

import numpy as np
import pytest

import chainerx

jax = pytest.importorskip('jax')
pytest.importorskip('ml_dtypes')

DTYPES = [
    *('bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'),
    *('bfloat16', 'float16', 'float32', 'float64', 'complex64', 'complex128'),
]


@pytest.fixture(autouse=True)
def _use_64_bits():
    with jax.enable_x64(True):
        yield


def _array(dtype):
    return chainerx.array(np.arange(6).reshape(2, 3) % 2, dtype)


@pytest.mark.parametrize('dtype', DTYPES)
def test_to_jax(dtype):
    x = _array(dtype)
    for mine in (x, x[1:], x[0, 1], x.T.copy()):
        theirs = jax.numpy.from_dlpack(mine)
        assert theirs.dtype.name == dtype
        assert theirs.tolist() == mine.tolist()


@pytest.mark.parametrize('dtype', DTYPES)
def test_from_jax(dtype):
    theirs = jax.numpy.asarray(np.arange(6).reshape(2, 3) % 2, dtype)
    mine = chainerx.from_dlpack(theirs, copy=True)
    assert mine.dtype.name == dtype
    assert mine.tolist() == theirs.tolist()
    mine.fill(1)
    assert theirs.tolist() == _array(dtype).tolist()


def test_arrays_that_nothing_may_change():
    theirs = jax.numpy.ones(3, 'float32')
    mine = chainerx.from_dlpack(theirs)  # a copy, since arrays of ChainerX can be changed
    mine.fill(2)
    assert theirs.tolist() == [1, 1, 1]


def test_values_of_functions():
    """Functions of one library take what those of the other give."""
    x = np.linspace(-1, 1, 12).reshape(3, 4)
    theirs = jax.numpy.fft.rfft(jax.numpy.tanh(jax.numpy.from_dlpack(chainerx.array(x))))
    mine = chainerx.fft.rfft(chainerx.tanh(chainerx.array(x)))
    mixed = chainerx.from_dlpack(theirs, copy=True) - mine
    assert float(chainerx.absolute(mixed).max()) < 1e-14
