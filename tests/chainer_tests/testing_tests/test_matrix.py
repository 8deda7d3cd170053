import numpy
import pytest

from chainer import testing


@pytest.mark.parametrize('shape', [(2, 3), (4, 4), (2, 5, 3), (0, 2, 2), (2, 0, 3)])
@pytest.mark.parametrize('dtype', [numpy.float32, numpy.float64, numpy.complex64])
def test_singular_values(shape, dtype):
    k = min(shape[-2:])
    expected = numpy.sort(numpy.random.uniform(0.5, 2, shape[:-2] + (k,)))[..., ::-1]
    a = testing.generate_matrix(shape, dtype=dtype, singular_values=expected)
    assert a.shape == shape
    assert a.dtype == dtype
    s = numpy.linalg.svd(a, compute_uv=False)
    testing.assert_allclose(s, expected)


def test_scalar_and_default_dtype():
    a = testing.generate_matrix((3, 3), singular_values=2)
    assert a.dtype == numpy.float64
    testing.assert_allclose(a.dot(a.T), 4 * numpy.eye(3))


@pytest.mark.parametrize(
    'shape,kwargs,error',
    [
        ((2, 2), {}, TypeError),
        ((2,), {'singular_values': 1}, ValueError),
        ((2, 2), {'singular_values': [1, -1]}, ValueError),
        ((2, 2), {'singular_values': [1, 1, 1]}, ValueError),
        ((2, 2), {'singular_values': 1, 'dtype': int}, ValueError),
        ((2, 2), {'singular_values': 1, 'foo': 2}, TypeError),
    ],
)
def test_bad_arguments(shape, kwargs, error):
    with pytest.raises(error):
        testing.generate_matrix(shape, **kwargs)
