"""Fourier transforms against NumPy in double precision; test_fft_gradients.py has the gradients."""

import itertools

import numpy as np
import pytest
from chainerx_tests.fourier import ONE_AXIS, REAL_INPUT, REAL_OUTPUT, SEVERAL, TRANSFORMS, numbers

import chainerx

TOLERANCE = {'float32': 3e-6, 'float64': 1e-13}
COMPLEX = {'float32': 'complex64', 'float64': 'complex128'}
NORMS = 'backward', 'ortho', 'forward', None


def cast(a, dtype):
    return a.astype(COMPLEX[dtype] if a.dtype.kind == 'c' else dtype)


def check(name, a, dtype='float64', x=None, **kwargs):
    """Compares with NumPy; ``x`` is another chainerx array of the same elements."""
    expected = getattr(np.fft, name)(
        a.astype('complex128' if a.dtype.kind == 'c' else 'float64'), **kwargs
    )
    x = chainerx.array(cast(a, dtype)) if x is None else x
    y = getattr(chainerx.fft, name)(x, **kwargs)
    assert y.dtype == (dtype if name in REAL_OUTPUT else COMPLEX[dtype])
    assert y.shape == expected.shape and y.device == x.device
    scale = np.abs(expected).max(initial=0)
    np.testing.assert_allclose(
        chainerx.to_numpy(y), expected, rtol=0, atol=TOLERANCE[dtype] * (scale + 1e-30)
    )
    return y


@pytest.mark.parametrize('dtype', COMPLEX)
@pytest.mark.parametrize('name', ONE_AXIS)
def test_lengths(name, dtype):
    for n in (1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 17, 30, 37, 64, 101, 128, 251, 1000, 1009):
        if n == 1 and name in REAL_OUTPUT:
            check(name, numbers(name, 1), dtype, n=1)
            continue
        check(name, numbers(name, n), dtype)
        check(name, numbers(name, 3, n), dtype)
        check(name, numbers(name, n, 5), dtype, axis=0)
    check(name, numbers(name, 2, 100003), dtype)


@pytest.mark.parametrize('norm', NORMS)
@pytest.mark.parametrize('name', ONE_AXIS)
def test_arguments(name, norm):
    a = numbers(name, 4, 5, 6)
    for axis, n in itertools.product((0, 1, -1), (None, 1, 2, 4, 5, 6, 9, 16)):
        check(name, a, axis=axis, n=n, norm=norm)


@pytest.mark.parametrize('norm', NORMS)
@pytest.mark.parametrize('name', SEVERAL)
def test_arguments_of_several_axes(name, norm):
    a = numbers(name, 4, 5, 6)
    for axes in (None, (0,), (1, 2), (2, 0), (-1, -3, 1)):
        check(name, a, axes=axes, norm=norm)
        for sizes in (1, 3), (8, 2, 5), (5, 7, 4):
            if axes is not None and len(sizes) == len(axes):
                check(name, a, s=sizes, axes=axes, norm=norm)
    x = chainerx.array(a)
    function = getattr(chainerx.fft, name)
    # -1 keeps a length, and without axes the last ones are meant.
    for kwargs, same in [
        ({'s': (3, -1), 'axes': (0, 1)}, {'s': (3, 8 if name == 'irfftn' else 5), 'axes': (0, 1)}),
        ({'s': (3, 4)}, {'s': (3, 4), 'axes': (1, 2)}),
        ({'s': 4}, {'s': (4,), 'axes': (2,)}),
        ({'axes': 1}, {'axes': (1,)}),
    ]:
        y, z = function(x, **kwargs), function(x, **same)
        np.testing.assert_array_equal(chainerx.to_numpy(y), chainerx.to_numpy(z))


@pytest.mark.parametrize('dtype', COMPLEX)
@pytest.mark.parametrize('name', TRANSFORMS)
def test_strides(name, dtype):
    a = numbers(name, 4, 6, 5)
    x = chainerx.array(cast(a, dtype))
    check(name, a.transpose(2, 0, 1), dtype, x.transpose(2, 0, 1))
    check(name, a[::-1, ::2, 1:], dtype, x[::-1, ::2, 1:])
    check(name, a[:, None, 0], dtype, x[:, None, 0])
    wide = np.broadcast_to(a[:, :1], (4, 3, 5))
    check(name, wide, dtype, chainerx.broadcast_to(x[:, :1], (4, 3, 5)))
    if name in REAL_INPUT:  # a view with gaps of half an element
        z = chainerx.array(cast(a + 1j * a, dtype))
        check(name, a, dtype, chainerx.imag(z))


@pytest.mark.parametrize('name', TRANSFORMS)
def test_real_and_narrow_dtypes(name):
    """What is no double is computed in single precision; real numbers are complex ones."""
    a = np.arange(12).reshape(3, 4) % 5
    for dtype in ('float16', 'float32', 'int8', 'int64', 'uint64', 'bool'):
        x = chainerx.array(a.astype(dtype))
        check(name, a.astype(dtype), 'float32', x)
    check(name, a, 'float32', chainerx.array(a).astype('bfloat16'))
    check(name, a.astype('float64'), 'float64')


@pytest.mark.parametrize('name', TRANSFORMS)
def test_no_elements(name):
    dtype = 'complex64' if name not in REAL_INPUT else 'float32'
    y = getattr(chainerx.fft, name)(
        chainerx.zeros((0, 4), dtype), **({'axes': (1,)} if name in SEVERAL else {})
    )
    assert y.shape[0] == 0 and y.shape[1] > 2
    with pytest.raises(ValueError, match='at least 1'):
        getattr(chainerx.fft, name)(chainerx.zeros((3, 0), dtype))
    # Zeros that continue no elements.
    if name in ONE_AXIS:
        y = getattr(chainerx.fft, name)(chainerx.zeros((3, 0), dtype), n=4)
        assert y.shape[0] == 3 and not chainerx.to_numpy(y).any()


def test_no_axes():
    for name in 'fftn', 'ifftn':
        x = chainerx.array([[1.0, 2.0]])
        y = getattr(chainerx.fft, name)(x, axes=())
        assert y.dtype == 'complex128' and y.tolist() == [[1, 2]] and y is not x
        assert getattr(chainerx.fft, name)(chainerx.array(3j)).tolist() == 3j
    for name in 'rfftn', 'irfftn':
        with pytest.raises(chainerx.DimensionError, match='at least one axis'):
            getattr(chainerx.fft, name)(chainerx.array(3.0))


@pytest.mark.parametrize('name', ONE_AXIS)
def test_bad_arguments(name):
    function = getattr(chainerx.fft, name)
    x = chainerx.ones((2, 4))
    for n in (0, -1, -(2**63)):
        with pytest.raises(ValueError, match=f'n must be at least 1, but is {n}'):
            function(x, n=n)
    for n in (2**40, 2**61, 2**63 - 1):
        with pytest.raises((ValueError, MemoryError)):
            function(x, n=n)
    for n in (2**63, 1.5, '4', [4]):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            function(x, n=n)
    for axis in (2, -3, 2**62):
        with pytest.raises(chainerx.DimensionError, match=str(axis)):
            function(x, axis=axis)
    for norm in ('', 'no', 1):
        with pytest.raises((TypeError, ValueError), match='norm'):
            function(x, norm=norm)
    with pytest.raises(chainerx.DimensionError):
        function(chainerx.array(1.0))
    with pytest.raises(TypeError, match='ndarray'):
        function(np.ones(3))


@pytest.mark.parametrize('name', SEVERAL)
def test_bad_arguments_of_several_axes(name):
    function = getattr(chainerx.fft, name)
    x = chainerx.ones((2, 4))
    for axes in ((0, 0), (0, -2), (1, 1)):
        with pytest.raises(chainerx.DimensionError):
            function(x, axes=axes)
    for axes in ((2,), (0, -3), 2**40):
        with pytest.raises(chainerx.DimensionError, match='out of bounds|axis'):
            function(x, axes=axes)
    for s in ((0, 4), (2, 0), (-2, 4)):
        with pytest.raises(ValueError, match='at least 1'):
            function(x, s=s)
    with pytest.raises(chainerx.DimensionError, match='2 axes, but has 1'):
        function(x, s=(4,), axes=(0, 1))
    with pytest.raises(chainerx.DimensionError, match='3 lengths'):
        function(x, s=(4, 4, 4))
    for s in ((2**40, 2**40), (2**62, 2), (2, 2**62)):
        with pytest.raises((ValueError, MemoryError)):
            function(x, s=s)
    with pytest.raises((TypeError, ValueError)):
        function(x, s=(1.5, 2))


@pytest.mark.parametrize('name', REAL_INPUT)
def test_complex_input_of_real_transforms(name):
    with pytest.raises(chainerx.DtypeError, match='a must be real, but has dtype complex64'):
        getattr(chainerx.fft, name)(chainerx.ones(4, 'complex64'))


def test_special_values():
    for name in ONE_AXIS:
        a = numbers(name, 3, 8)
        a[1, 3] = np.nan
        y = chainerx.to_numpy(getattr(chainerx.fft, name)(chainerx.array(a)))
        assert np.isnan(y[1]).any() and np.isfinite(y[[0, 2]]).all()


def test_the_imaginary_parts_that_do_not_count():
    z = chainerx.array([1 + 5j, 2 - 1j, 3 - 7j])
    real = chainerx.array([1, 2 - 1j, 3])
    for name in 'irfft', 'hfft':
        f = getattr(chainerx.fft, name)
        assert f(z).tolist() == f(real).tolist()
        assert f(z, n=5).tolist() != f(real, n=5).tolist()  # the last one is a pair


@pytest.mark.parametrize('shape', [(8, 1000), (1000, 8), (3, 64, 64), (20000,)])
@pytest.mark.parametrize('name', TRANSFORMS)
def test_bits_do_not_depend_on_threads(name, shape):
    x = chainerx.array(numbers(name, *shape))
    for a in x, x.astype('complex64' if x.dtype == 'complex128' else 'float32'):
        before, results = chainerx._core._get_num_threads(), []
        try:
            for threads in 1, 2, 3:
                chainerx._core._set_num_threads(threads)
                y = getattr(chainerx.fft, name)(a, **({} if name in SEVERAL else {'axis': 0}))
                results.append(chainerx.to_numpy(y).tobytes())
        finally:
            chainerx._core._set_num_threads(before)
        assert len(set(results)) == 1


@pytest.mark.parametrize('n', [1, 2, 5, 8])
def test_frequencies(n):
    for d in (1.0, 0.1, -3, 2):
        for name in 'fftfreq', 'rfftfreq':
            y = getattr(chainerx.fft, name)(n, d)
            assert y.dtype == 'float64'
            np.testing.assert_array_equal(chainerx.to_numpy(y), getattr(np.fft, name)(n, d))
            for dtype in 'float16', 'float32':
                z = getattr(chainerx.fft, name)(n, d=d, dtype=dtype, device='native:1')
                assert z.device.name == 'native:1'
                np.testing.assert_array_equal(
                    chainerx.to_numpy(z), getattr(np.fft, name)(n, d).astype(dtype)
                )


@pytest.mark.parametrize('name', ['fftfreq', 'rfftfreq'])
def test_bad_frequencies(name):
    function = getattr(chainerx.fft, name)
    for n in (0, -1):
        with pytest.raises(ValueError, match=f'n must be at least 1, but is {n}'):
            function(n)
    with pytest.raises(ValueError, match='d must not be zero'):
        function(4, 0)
    for dtype in ('int32', 'complex64', 'bool'):
        with pytest.raises(chainerx.DtypeError, match=f'floating point, not {dtype}'):
            function(4, dtype=dtype)
    for n in (1.5, '4', None):
        with pytest.raises(TypeError):
            function(n)
    with pytest.raises(TypeError):
        function(4, 1j)
    with pytest.raises((ValueError, MemoryError)):
        function(2**62)


@pytest.mark.parametrize('name', ['fftshift', 'ifftshift'])
def test_shifts(name):
    a = np.arange(60).reshape(3, 4, 5)
    for dtype in ('int8', 'bool', 'float16', 'complex64'):
        for axes in (None, 0, (1, 2), (-1,), ()):
            y = getattr(chainerx.fft, name)(chainerx.array(a.astype(dtype)), axes=axes)
            assert y.dtype == dtype
            expected = getattr(np.fft, name)(a.astype(dtype), axes)
            np.testing.assert_array_equal(chainerx.to_numpy(y), expected)
    assert getattr(chainerx.fft, name)(chainerx.array(2.0)).tolist() == 2
    assert getattr(chainerx.fft, name)(chainerx.zeros((0, 3))).shape == (0, 3)
    for axes in (3, (0, 0), -4):
        with pytest.raises(chainerx.DimensionError):
            getattr(chainerx.fft, name)(chainerx.array(a), axes=axes)


def test_other_libraries_with_the_engine():
    """Tables of other lengths and of other copies of pocketfft do not mix with these."""
    fft = pytest.importorskip('scipy.fft')
    for n in [*range(2, 40), 100, 243, 1009] * 2:
        a = numbers('fft', 3, n)
        np.testing.assert_allclose(
            chainerx.to_numpy(chainerx.fft.fft(chainerx.array(a))), fft.fft(a), atol=1e-11
        )
