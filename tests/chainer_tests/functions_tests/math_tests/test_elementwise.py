"""Elementwise mathematical functions, one row each."""

import numpy as np
import pytest
from helpers.functions import check_function, devices
from scipy import special

import chainer
from chainer import functions as F
from chainer.utils import type_check

# name, reference, lower and upper end of the domain
UNARY = [
    ('exp', np.exp, -2, 2),
    ('expm1', np.expm1, -2, 2),
    ('log', np.log, 0.3, 3),
    ('log2', np.log2, 0.3, 3),
    ('log10', np.log10, 0.3, 3),
    ('log1p', np.log1p, -0.6, 3),
    ('sin', np.sin, -3, 3),
    ('cos', np.cos, -3, 3),
    ('tan', np.tan, -1, 1),
    ('arcsin', np.arcsin, -0.8, 0.8),
    ('arccos', np.arccos, -0.8, 0.8),
    ('arctan', np.arctan, -3, 3),
    ('sinh', np.sinh, -2, 2),
    ('cosh', np.cosh, -2, 2),
    ('arctanh', np.arctanh, -0.8, 0.8),
    ('sqrt', np.sqrt, 0.3, 3),
    ('rsqrt', lambda x: 1 / np.sqrt(x), 0.3, 3),
    ('square', np.square, -2, 2),
    ('absolute', np.abs, -2, 2),
    ('erf', special.erf, -2, 2),
    ('erfc', special.erfc, -2, 2),
    ('erfcx', special.erfcx, -1, 2),
    ('erfinv', special.erfinv, -0.8, 0.8),
    ('erfcinv', special.erfcinv, 0.3, 1.7),
    ('ndtr', special.ndtr, -2, 2),
    ('ndtri', special.ndtri, 0.2, 0.8),
    ('log_ndtr', special.log_ndtr, -3, 2),
    ('lgamma', special.gammaln, 0.5, 4),
    ('digamma', special.digamma, 0.5, 4),
]
UNARY_IDS = [row[0] for row in UNARY]
SHAPES = [(2, 3), (), (2, 0)]


def _sample(shape, low, high, seed=0):
    return np.random.RandomState(seed).uniform(low, high, shape)


@pytest.mark.parametrize('name, reference, low, high', UNARY, ids=UNARY_IDS)
@pytest.mark.parametrize('shape', SHAPES, ids=str)
def test_unary(name, reference, low, high, shape):
    f = getattr(F, name)
    with np.errstate(all='ignore'):
        check_function(
            f,
            [_sample(shape, low, high)],
            reference,
            tolerances={np.float16: 2e-2},
            grad_tolerance=1e-3,
        )


@pytest.mark.parametrize('name', UNARY_IDS)
def test_unary_bad_input(name):
    f = getattr(F, name)
    if name != 'absolute':
        with pytest.raises(type_check.InvalidType):
            f(np.ones(2, np.int32))
    with pytest.raises((TypeError, AttributeError)):
        f([1.0, 2.0])


@pytest.mark.parametrize(
    'name, label',
    [('exp', 'exp'), ('log1p', 'log1p'), ('sqrt', 'sqrt'), ('erf', 'erf'), ('absolute', '|_|')],
)
def test_label(name, label):
    x = chainer.Variable(np.full(2, 0.5, np.float32))
    assert getattr(F, name)(x).creator.label == label
    assert F.fmod(x, x).creator.label == 'fmod'


BINARY = [
    ('maximum', np.maximum),
    ('minimum', np.minimum),
    ('arctan2', np.arctan2),
    ('fmod', np.fmod),
]


@pytest.mark.parametrize('name, reference', BINARY, ids=[row[0] for row in BINARY])
@pytest.mark.parametrize(
    'shapes', [((2, 3), (2, 3)), ((2, 3), (1, 3)), ((3,), (2, 1)), ((), ())], ids=str
)
def test_binary(name, reference, shapes):
    inputs = [_sample(s, 0.6, 2, seed) for seed, s in enumerate(shapes)]
    check_function(getattr(F, name), inputs, reference, grad_tolerance=1e-3)


@pytest.mark.parametrize('name', [row[0] for row in BINARY])
def test_binary_bad_input(name):
    f = getattr(F, name)
    x = np.ones(2, np.float32)
    with pytest.raises(type_check.InvalidType):
        f(x, np.ones(3, np.float32))
    with pytest.raises(type_check.InvalidType):
        f(np.ones(2, np.int64), np.ones(2, np.int64))
    if name != 'arctan2':
        with pytest.raises(type_check.InvalidType):
            f(x, np.ones(2, np.float64))


def test_ties_give_the_gradient_to_the_first():
    for f in (F.maximum, F.minimum):
        x, y = (chainer.Variable(np.ones(2, np.float32)) for _ in range(2))
        F.sum(f(x, y)).backward()
        np.testing.assert_array_equal(x.grad, [1, 1])
        np.testing.assert_array_equal(y.grad, [0, 0])


@pytest.mark.parametrize('name', ['floor', 'ceil', 'sign', 'fix'])
@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.float64])
def test_rounding(name, device, dtype):
    x = np.array([-1.5, -1, -0.2, 0, 0.2, 1.7], dtype)
    device = chainer.get_device(device)
    expected = (np.trunc if name == 'fix' else getattr(np, name))(x)
    for v in (device.send(x), chainer.Variable(device.send(x))):
        y = getattr(F, name)(v)
        assert y.dtype == dtype and y.device == device
        np.testing.assert_array_equal(chainer.get_device('@numpy').send(y.array), expected)


@pytest.mark.parametrize('bounds', [(-0.5, 0.7), (None, 0.7), (-0.5, None)])
def test_clip(bounds):
    check_function(
        lambda x: F.clip(x, *bounds), [_sample((3, 4), -2, 2)], lambda x: np.clip(x, *bounds)
    )


def test_clip_without_bounds():
    with pytest.raises(ValueError):
        F.clip(np.ones(2, np.float32), None, None)


def test_clip_passes_the_gradient_at_the_bounds():
    x = chainer.Variable(np.array([0, 0.5, 1, 2], np.float32))
    F.sum(F.clip(x, 0, 1)).backward()
    np.testing.assert_array_equal(x.grad, [1, 1, 1, 0])


@pytest.mark.parametrize('n', [0, 1, np.array([[1, 2, 0]])])
def test_polygamma(n):
    check_function(
        lambda x: F.polygamma(n, x),
        [_sample((2, 3), 0.5, 3)],
        lambda x: special.polygamma(n, x),
        tolerances={np.float16: 5e-2},
        on_chainerx=False,
        grad_tolerance=1e-3,
    )


@pytest.mark.parametrize('n', [1.5, np.ones(2)])
def test_polygamma_bad_input(n):
    with pytest.raises(type_check.InvalidType):
        F.polygamma(n, np.ones(2, np.float32))


def test_zeta():
    check_function(
        lambda q: F.zeta(3.0, q),
        [_sample((2, 3), 1, 3)],
        lambda q: special.zeta(3.0, q),
        tolerances={np.float16: 2e-2},
    )


def test_linear_interpolate():
    inputs = [_sample((2, 3), 0, 1, seed) for seed in range(3)]
    check_function(F.linear_interpolate, inputs, lambda p, x, y: p * x + (1 - p) * y)
    with pytest.raises(type_check.InvalidType):
        F.linear_interpolate(inputs[0], inputs[1], inputs[2][:1])


def test_identity():
    x, y = chainer.Variable(np.ones(2, np.float32)), chainer.Variable(np.zeros(3, np.float32))
    assert F.identity(x).array is x.array
    assert [v.shape for v in F.identity(x, y)] == [(2,), (3,)]
    check_function(F.identity, [_sample((2, 3), 0, 1)], lambda x: x)


@pytest.mark.parametrize('name, op', [('bias', np.add), ('scale', np.multiply)])
@pytest.mark.parametrize('shape, axis', [((3,), 1), ((3, 4), 1), ((2, 3), 0), ((), 0)])
def test_bias_and_scale(name, op, shape, axis):
    f = getattr(F, name)
    x, y = _sample((2, 3, 4), -1, 1), _sample(shape, -1, 1, 1)
    expand = (1,) * axis + shape + (1,) * (3 - axis - len(shape))
    check_function(lambda x, y: f(x, y, axis), [x, y], lambda x, y: op(x, y.reshape(expand)))
    with pytest.raises(type_check.InvalidType):
        f(x, np.ones(2), 1)
    with chainer.using_config('debug', True), pytest.raises(AssertionError, match='y.shape'):
        f(x, np.ones(2), 1)
