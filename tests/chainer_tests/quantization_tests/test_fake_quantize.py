"""The functions of quantization: values as ONNX defines them, and gradients straight through."""

import numpy
import pytest

import chainer
import chainer.functions as F
from chainer import quantization
from chainer.utils import type_check

DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]
DTYPES = [numpy.float16, numpy.float32, numpy.float64]
LIMITS = {'int8': (-128, 127), 'uint8': (0, 255), 'int4': (-8, 7)}


def _numbers(dtype, shape=(4, 5)):
    return numpy.random.RandomState(0).uniform(-4, 4, shape).astype(dtype)


def _sent(device, *arrays):
    device = chainer.get_device(device)
    device.use()
    return [device.send(x) for x in arrays]


def _back(x):
    return chainer.backend.CpuDevice().send(getattr(x, 'array', x))


def _integers(x, scale, zero, low, high):
    """The formula, from number to number."""
    y = [
        min(max(round(float(a / s)) + int(z), low), high)
        for a, s, z in numpy.broadcast(x, scale, zero)
    ]
    return numpy.array(y).reshape(x.shape)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('kind', ['int8', 'uint8'])
@pytest.mark.parametrize(
    ('shape', 'axis'), [((), 0), ((4, 5), None), ((4, 5), 0), ((4, 5), -1), ((3, 4, 5), 1)]
)
def test_values(shape, axis, kind, dtype, device):
    x = _numbers(dtype, shape)
    length = () if axis is None or not shape else (shape[axis],)
    scale = numpy.asarray(numpy.random.RandomState(1).uniform(0.01, 0.05, length), dtype)
    zero = numpy.asarray(numpy.random.RandomState(2).randint(0, 100, length), kind)
    axis = axis or 0
    tail = (1,) * (len(shape) - 1 - axis % max(len(shape), 1)) if length else ()
    low, high = LIMITS[kind]
    wide = scale.reshape(length + tail), zero.reshape(length + tail)
    expected = _integers(x, *wide, low, high)

    arrays = _sent(device, x, scale, zero)
    q = quantization.quantize_linear(*arrays, axis)
    assert q.dtype == kind
    numpy.testing.assert_array_equal(_back(q), expected)
    y = quantization.dequantize_linear(q, *arrays[1:], axis)
    assert y.dtype == dtype
    real = (expected - wide[1].astype(float)) * wide[0].astype(float)
    numpy.testing.assert_allclose(_back(y), real, rtol=2 * numpy.finfo(dtype).eps)
    if not length:
        fake = quantization.fake_quantize(arrays[0], arrays[1], int(zero), kind, axis)
        numpy.testing.assert_array_equal(_back(fake), _back(y))


@pytest.mark.parametrize('dtype', DTYPES)
def test_halves_are_rounded_to_even(dtype):
    x = numpy.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], dtype)
    one, zero = numpy.array(1, dtype), numpy.array(1, numpy.int8)
    q = quantization.quantize_linear(x, one, zero).array
    numpy.testing.assert_array_equal(q, [-1, -1, 1, 1, 3, 3])
    y = quantization.fake_quantize(x, one, 1).array
    numpy.testing.assert_array_equal(y, [-2, -2, 0, 0, 2, 2])


def test_numbers_beyond_the_limits():
    x = numpy.array([-numpy.inf, -1e30, 1e30, numpy.inf], numpy.float32)
    scale = numpy.array(0.5, numpy.float32)
    q = quantization.quantize_linear(x, scale, numpy.array(3, numpy.uint8)).array
    numpy.testing.assert_array_equal(q, [0, 0, 255, 255])
    y = quantization.fake_quantize(x, scale, 3, 'uint8').array
    numpy.testing.assert_array_equal(y, [-1.5, -1.5, 126, 126])


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('kind', LIMITS)
@pytest.mark.parametrize(('shape', 'axis'), [((4, 5), None), ((4, 5), 0), ((4, 5), 1)])
def test_gradients(shape, axis, kind, dtype, device):
    """Those of both orders in closed form; the scale lets some numbers be clipped."""
    low, high = LIMITS[kind]
    zero = (low + high) // 2 + 1
    length = () if axis is None else (shape[axis],)
    scale = numpy.random.RandomState(1).uniform(4, 8, length) / high
    scale = numpy.asarray(scale, dtype)
    x = _numbers(dtype, shape)
    x[::2] *= 3
    gy, ggx = _numbers(dtype, shape), _numbers(dtype, (20,)).reshape(shape).T.reshape(shape)
    by = scale if axis is None else scale.reshape((-1, 1) if axis == 0 else (1, -1))
    u = x.astype(float) / by
    inside = (u >= low - zero) & (u <= high - zero)
    assert 0 < inside.sum() < inside.size
    gx = gy * inside
    steps = numpy.rint(numpy.clip(u, low - zero, high - zero)) - u * inside
    others = tuple(i for i in range(2) if i != axis)
    gscale = (gy * steps).sum(axis=others)

    x, scale, gy, ggx = [chainer.Variable(a) for a in _sent(device, x, scale, gy, ggx)]
    y = quantization.fake_quantize(x, scale, zero, kind, axis or 0)
    assert y.dtype == dtype
    gradients = chainer.grad([y], [x, scale], [gy], enable_double_backprop=True)
    tolerance = {'rtol': 50 * numpy.finfo(dtype).eps, 'atol': 4e3 * numpy.finfo(dtype).eps}
    numpy.testing.assert_allclose(_back(gradients[0]), gx, **tolerance)
    if dtype != numpy.float16:  # whose steps are too coarse for the differences
        numpy.testing.assert_allclose(_back(gradients[1]), gscale, **tolerance)
    # The gradients are linear in gy, and, straight through, do not depend on x or scale.
    second = chainer.grad([F.sum(gradients[0] * ggx)], [gy, x, scale], set_grad=False)
    numpy.testing.assert_allclose(_back(second[0]), _back(ggx) * inside, **tolerance)
    for g in second[1:]:
        if g is not None:
            tolerance['atol'] = 200 * float(numpy.finfo(dtype).eps) / _back(scale).min()
            numpy.testing.assert_allclose(_back(g), 0, **tolerance)


def test_an_empty_array():
    x = numpy.zeros((0, 3), numpy.float32)
    assert quantization.fake_quantize(x, numpy.ones(3, numpy.float32), axis=1).shape == (0, 3)


def test_views():
    x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4).T[::2]
    y = quantization.fake_quantize(x, numpy.array(3, numpy.float32)).array
    numpy.testing.assert_array_equal(y, numpy.rint(x / 3) * 3)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'dtype': 'int16'}, "dtype must be one of uint8, int8, int4, but is 'int16'"),
        ({'zero_point': 128}, 'zero_point must be from -128 to 127, but is 128'),
        ({'zero_point': -1, 'dtype': 'uint8'}, 'zero_point must be from 0 to 255, but is -1'),
    ],
)
def test_wrong_arguments(arguments, message):
    one = numpy.ones((), numpy.float32)
    with pytest.raises(ValueError, match=message):
        quantization.fake_quantize(one, one, **arguments)


@pytest.mark.parametrize(
    ('x', 'scale', 'zero'),
    [('i', 'f', 'b'), ('f', 'd', 'b')],
)
def test_wrong_dtypes(x, scale, zero):
    with pytest.raises(type_check.InvalidType):
        quantization.quantize_linear(*[numpy.ones((), dtype) for dtype in (x, scale, zero)])
    with pytest.raises(type_check.InvalidType):
        quantization.dequantize_linear(numpy.ones(2, 'b'), numpy.ones((), 'i'))
