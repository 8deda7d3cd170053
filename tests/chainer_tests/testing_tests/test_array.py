import numpy
import pytest

import chainer
from chainer import testing


@pytest.mark.parametrize(
    'x,y',
    [
        (numpy.ones(3, 'f'), numpy.ones(3)),
        (numpy.ones((2, 3)), 1),
        ([1, 2], (1, 2)),
        (numpy.ones(2, 'f'), numpy.float32(1.00001)),
        (numpy.zeros((0, 3)), numpy.zeros((0, 3))),
        (numpy.array(numpy.nan), numpy.nan),
        (numpy.array([numpy.inf, 1]), numpy.array([numpy.inf, 1.00001])),
        (numpy.array([True, False]), numpy.array([True, False])),
    ],
)
def test_close(x, y):
    testing.assert_allclose(x, y)


@pytest.mark.parametrize(
    'x,y',
    [
        ([1.0], [1.001]),
        (numpy.ones((2, 3)), numpy.ones((3, 2))),
        ([numpy.nan], [1.0]),
        ([numpy.inf], [1.0]),
        (0.0, 2e-5),
    ],
)
def test_not_close(x, y):
    with pytest.raises(AssertionError, match='assert_allclose failed'):
        testing.assert_allclose(x, y)


def test_variable():
    x = chainer.Variable(numpy.ones(2))
    for arguments in [(x, x.array), (x.array, x)]:
        with pytest.raises(TypeError, match='Variable'):
            testing.assert_allclose(*arguments)


def test_tolerances():
    testing.assert_allclose([100.0], [101.0], atol=0, rtol=0.01)
    testing.assert_allclose([100.0], [101.0], atol=1, rtol=0)
    with pytest.raises(AssertionError):
        testing.assert_allclose([100.0], [101.0], atol=0.5, rtol=0.004)


def test_message_names_worst_element():
    with pytest.raises(AssertionError) as e:
        testing.assert_allclose([[1.0, 2.0], [3.0, 4.1]], [[1.0, 2.01], [3.0, 4.0]])
    text = str(e.value)
    assert 'shape: (2, 2) (2, 2)' in text
    assert 'dtype: float64 float64' in text
    assert 'x[i]: 4.1' in text
    assert 'y[i]: 4.0' in text


def test_message_without_values():
    with pytest.raises(AssertionError) as e:
        testing.assert_allclose([1.0], [2.0], verbose=False)
    assert '\nx: ' not in str(e.value)


@pytest.mark.gpu
def test_gpu():
    from chainer.backends import cuda

    testing.assert_allclose(cuda.cupy.ones(2), numpy.ones(2))


@pytest.mark.chainerx
def test_chainerx():
    import chainerx

    testing.assert_allclose(chainerx.ones((2,)), numpy.ones(2))
