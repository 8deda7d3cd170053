"""Conversions of variables and ChainerX arrays to numbers, text and NumPy."""

import copy

import numpy as np
import pytest
from helpers.functions import devices

import chainer
import chainer.functions as F
import chainerx


@pytest.fixture(params=devices())
def device(request):
    return chainer.get_device(request.param)


def _variable(device, data, dtype=np.float32):
    return chainer.Variable(device.send(np.array(data, dtype)))


@pytest.mark.parametrize(
    ('convert', 'expected'),
    [
        (float, 2.5),
        (int, 2),
        (complex, 2.5 + 0j),
        (lambda x: f'{x:.3f}', '2.500'),
        (lambda x: f'{x:8.1e}|', ' 2.5e+00|'),
        (lambda x: '%.1f' % x, '2.5'),  # noqa: UP031
        (lambda x: f'{x}', 'variable(2.5)'),
        (lambda x: np.asarray(x, np.float64), np.float64(2.5)),
        (lambda x: np.array([x, x], np.float32).tolist(), [2.5, 2.5]),
        (lambda x: np.mean([x, x]), 2.5),
    ],
)
@pytest.mark.parametrize('in_graph', [False, True])
def test_scalars(device, convert, expected, in_graph):
    x = _variable(device, 2.5)
    value = convert(x * 1 if in_graph else x)
    assert value == expected
    assert type(value) is type(expected) or isinstance(value, np.floating | np.ndarray)


@pytest.mark.parametrize('shape', [(1,), (1, 1)])
def test_one_element_is_a_number(device, shape):
    x = _variable(device, np.full(shape, 2.5))
    assert float(x) == 2.5
    assert f'{x:.2f}' == '2.50'


@pytest.mark.parametrize(
    'convert',
    [float, int, complex, lambda x: f'{x:.2f}'],
    ids=['float', 'int', 'complex', 'format'],
)
@pytest.mark.parametrize('x', [np.zeros(2, np.float32), np.zeros((0,), np.float32), None])
def test_other_shapes_are_no_numbers(convert, x):
    with pytest.raises(TypeError, match='needs a variable of one element, not one'):
        convert(chainer.Variable(x))


@pytest.mark.parametrize('shape', [(), (3,), (2, 3), (0, 2)])
@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.float64, np.int32])
def test_numpy(device, shape, dtype):
    data = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    x = chainer.Variable(device.send(data))
    for y in x, x.detach(), chainer.Variable(x.array, requires_grad=False):
        for array in np.asarray(y), np.array(y), y.numpy():
            assert type(array) is np.ndarray and array.dtype == dtype
            np.testing.assert_array_equal(array, data)
    if shape and x.size:
        is_on_host = device.name in ('@numpy', 'native:0')
        assert np.shares_memory(x.numpy(), x.numpy()) == is_on_host
    assert not np.shares_memory(np.array(x), x.numpy())


def test_a_conversion_without_a_copy(device):
    x = _variable(device, [1, 2])
    np.testing.assert_array_equal(x.__array__(copy=False), [1, 2])
    np.testing.assert_array_equal(x.__array__('float32', copy=False), [1, 2])
    with pytest.raises(ValueError, match='float32 becomes an array of float64 only by a copy'):
        x.__array__('float64', copy=False)


def test_results_of_functions_convert_too(device):
    x = _variable(device, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(np.asarray(x * x), [[1, 4], [9, 16]])
    np.testing.assert_array_equal((x * x).numpy(), [[1, 4], [9, 16]])
    assert np.allclose(x, x.array if device.xp is np else x.numpy())
    with pytest.raises(TypeError, match='without an array'):
        chainer.Variable(None).numpy()


def test_sums_of_recorded_scalars_are_differentiable(device):
    x = _variable(device, [1, 2])
    losses = [F.sum(x), F.sum(x * x)]
    for total in np.sum(losses), np.sum(np.array(losses)), np.multiply(2, losses[0]) * 2:
        assert isinstance(total, chainer.Variable)
    x.cleargrad()
    np.sum(losses).backward()
    np.testing.assert_array_equal(chainer.get_device('@numpy').send(x.grad), [3, 5])


@pytest.mark.parametrize('f', [np.exp, np.log1p, np.modf, np.sign, lambda x: np.maximum(x, 0)])
def test_functions_that_would_leave_the_graph(device, f):
    with pytest.raises(RuntimeError, match='use a function of chainer.functions, or the array'):
        f(_variable(device, [1, 2]))


@pytest.mark.parametrize('f', [np.isfinite, np.isnan, np.signbit])
def test_functions_without_a_gradient(f):
    x = chainer.Variable(np.array([1, np.inf], np.float32))
    np.testing.assert_array_equal(f(x), f(x.array))


@pytest.mark.parametrize('name', ['sum', 'mean', 'max', 'min', 'prod'])
@pytest.mark.parametrize(
    'args', [{}, {'axis': 0}, {'axis': -1, 'keepdims': True}, {'axis': (0, 1)}]
)
def test_reductions(device, name, args):
    data = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
    x = chainer.Variable(device.send(data))
    y = getattr(x, name)(**args)
    assert isinstance(y, chainer.Variable) and y.requires_grad
    expected = getattr(data, name)(**args)
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-6)
    z = getattr(np, name)(x, **args)
    assert isinstance(z, chainer.Variable)
    np.testing.assert_allclose(z.numpy(), expected, rtol=1e-6)
    with pytest.raises(TypeError, match='out must be None'):
        getattr(x, name)(out=data)


def test_detach(device):
    x = _variable(device, [1, 2])
    y = x * x
    z = y.detach()
    assert z is not y and not z.requires_grad and y.requires_grad
    assert z.device == y.device and z.name is None
    w = F.sum(z * x)
    x.cleargrad()
    w.backward()
    np.testing.assert_array_equal(chainer.get_device('@numpy').send(x.grad), [1, 4])
    assert np.shares_memory(z.numpy(), y.numpy()) == (device.name in ('@numpy', 'native:0'))


def test_operators_with_arrays_give_variables(device):
    x = _variable(device, [1, 2])
    array = device.send(np.array([3, 4], np.float32))
    for y in (array + x, array * x, array - x, array / x, array**x, x + array, 2 * x):
        assert isinstance(y, chainer.Variable)
    total = copy.copy(array)
    total = total + x
    assert isinstance(total, chainer.Variable)
    if device.xp is np:
        total = array.copy()
        total += x  # a new variable, as the array's memory is in no graph
        assert isinstance(total, chainer.Variable)


@pytest.mark.skipif(not chainerx.is_available(), reason='without ChainerX')
@pytest.mark.parametrize(
    ('format_spec', 'value', 'expected'),
    [
        ('.2f', 1.25, '1.25'),
        ('6.1f', 1.25, '   1.2'),
        ('d', 3, '3'),
        ('%', 0.5, '50.000000%'),
        ('', 1.5, str),
    ],
)
@pytest.mark.parametrize('shape', [(), (1, 1)])
def test_format_of_chainerx(format_spec, value, expected, shape):
    x = chainerx.array(np.full(shape, value))
    assert format(x, format_spec) == (str(x) if expected is str else expected)


@pytest.mark.skipif(not chainerx.is_available(), reason='without ChainerX')
def test_errors_of_chainerx():
    with pytest.raises(TypeError, match=r"'.2f' needs an array with one element.*\(2,\)"):
        format(chainerx.zeros(2), '.2f')
    with pytest.raises(ValueError, match='Unknown format code'):
        format(chainerx.zeros(()), 'd')
    with pytest.raises(TypeError, match=r'numpy.ndarray.*convert one with chainerx.asarray'):
        np.zeros(2) + chainerx.zeros(2)
