import numpy as np
import pytest
from helpers.functions import check_function

import chainer
from chainer import functions as F
from chainer.utils import type_check

_rng = np.random.RandomState(0)
_low = {np.float16: 1e-2, np.float32: 1e-4}


def _draw(*shapes):
    return [_rng.uniform(-1, 1, s) for s in shapes]


def _standardize(x, axis, eps=1e-5):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


@pytest.mark.parametrize('shape', [(4, 3), (1, 5), (3, 1), (0, 2), (4,), (2, 3, 4), (2, 1, 2, 3)])
def test_layer_normalization(shape):
    check_function(
        F.layer_normalization,
        _draw(shape, shape[-1], shape[-1]),
        lambda x, g, b: _standardize(x, x.ndim - 1) * g + b if x.size else x,
        tolerances=_low,
    )


def _group(x, gamma, beta, groups):
    parts = x.reshape(len(x), groups, -1)
    affine = (1, -1) + (1,) * (x.ndim - 2)
    return _standardize(parts, 2).reshape(x.shape) * gamma.reshape(affine) + beta.reshape(affine)


@pytest.mark.parametrize(
    'shape, groups',
    [((2, 4), 2), ((2, 4, 3), 1), ((2, 4, 2, 2), 2), ((2, 4, 3), 4), ((1, 2, 1, 2, 2), 2)],
)
def test_group_normalization(shape, groups):
    check_function(
        lambda x, g, b: F.group_normalization(x, groups, g, b),
        _draw(shape, shape[1], shape[1]),
        lambda x, g, b: _group(x, g, b, groups),
        tolerances=_low,
    )


@pytest.mark.parametrize('shape', [(3,), (4, 3), (2, 3, 4), (0, 3)])
def test_rms_normalization(shape):
    check_function(
        F.rms_normalization,
        _draw(shape, shape[-1]),
        lambda x, g: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * g,
        tolerances=_low,
    )


@pytest.mark.parametrize('name', ['layer', 'group', 'rms'])
def test_inputs_larger_than_a_block(name):
    f, shape = {
        'layer': (lambda x, g, b: F.layer_normalization(x, g, b), (500, 400)),
        'group': (lambda x, g, b: F.group_normalization(x, 2, g, b), (50, 4, 1000)),
        'rms': (lambda x, g, b: F.rms_normalization(x, g), (500, 400)),
    }[name]
    xs = _draw(shape, shape[1], shape[1])
    v = [chainer.Variable(x) for x in xs]
    gy = chainer.Variable(_draw(shape)[0])
    v = v[:2] if name == 'rms' else v
    args = v + [None] * (3 - len(v))
    for a, b in zip(
        chainer.grad([f(*args)], v, [gy]),
        chainer.grad([f(*args)], v, [gy], enable_double_backprop=True),
    ):
        np.testing.assert_allclose(a.array, b.array, atol=1e-9)


@pytest.mark.parametrize('x_dtype, dtype', [('e', 'f'), ('f', 'd'), ('f', 'e')])
@pytest.mark.parametrize(
    'f',
    [
        F.layer_normalization,
        lambda x, g, b: F.group_normalization(x, 2, g, b),
        lambda x, g, b: F.rms_normalization(x, g) + F.cast(b, x.dtype),
    ],
)
def test_mixed_dtypes(f, x_dtype, dtype):
    x, gamma, beta = _draw((3, 4), 4, 4)
    v = [
        chainer.Variable(x.astype(x_dtype)),
        chainer.Variable(gamma.astype(dtype)),
        chainer.Variable(beta.astype(dtype)),
    ]
    y = f(*v)
    assert y.dtype == x_dtype
    for double in (False, True):
        gxs = chainer.grad([y], v, [chainer.Variable(y.array)], enable_double_backprop=double)
        assert [g.dtype for g in gxs] == [x_dtype, dtype, dtype]


@pytest.mark.parametrize(
    'shape, axis',
    [
        ((4, 3), 1),
        ((4, 3), 0),
        ((2, 3, 2), (1, 2)),
        ((2, 3, 2), -1),
        ((2, 3, 2), (0, 2)),
        ((3,), 0),
    ],
)
@pytest.mark.parametrize('eps', [1e-5, 0.1])
def test_normalize(shape, axis, eps):
    check_function(
        lambda x: F.normalize(x, eps=eps, axis=axis),
        _draw(shape),
        lambda x: x / (np.sqrt((x**2).sum(axis, keepdims=True)) + eps),
        tolerances=_low,
    )


@pytest.mark.parametrize('double', [False, True])
def test_normalize_zero_vector(double):
    x = chainer.Variable(np.array([[0, 0], [3, 4]], 'f'))
    y = F.normalize(x, eps=0.5)
    np.testing.assert_array_equal(y.array[0], 0)
    (gx,) = chainer.grad(
        [y], [x], [chainer.Variable(np.ones((2, 2), 'f'))], enable_double_backprop=double
    )
    np.testing.assert_allclose(gx.array[0], 2)
    if double:
        (ggx,) = chainer.grad([gx], [x])
        assert np.isfinite(ggx.array).all()


def _lrn(x, n, k, alpha, beta):
    squares = np.zeros_like(x)
    for i in range(x.shape[1]):
        squares[:, i] = (x[:, max(0, i - n // 2) : i + n // 2 + 1] ** 2).sum(1)
    return x / (k + alpha * squares) ** beta


@pytest.mark.parametrize('shape', [(2, 7, 3, 2), (2, 3), (2, 1, 2)])
@pytest.mark.parametrize('args', [(5, 2, 1e-4, 0.75), (3, 1, 0.5, 0.6), (2, 1, 0.5, 0.5)])
def test_local_response_normalization(shape, args):
    check_function(
        lambda x: F.local_response_normalization(x, *args),
        _draw(shape),
        lambda x: _lrn(x, *args),
        tolerances=_low,
    )


_matrix, _vector = np.ones((2, 4), 'f'), np.ones(4, 'f')


@pytest.mark.parametrize(
    'call',
    [
        lambda: F.layer_normalization(np.ones((2, 4, 1), 'f'), _vector, _vector),
        lambda: F.layer_normalization(_matrix.astype('i'), _vector, _vector),
        lambda: F.layer_normalization(_matrix, _vector[:3], _vector[:3]),
        lambda: F.layer_normalization(_matrix, _vector, _vector.astype('d')),
        lambda: F.group_normalization(_vector, 2, _vector, _vector),
        lambda: F.group_normalization(_matrix, 2, _vector[:2], _vector[:2]),
        lambda: F.group_normalization(_matrix, 2, _vector, _vector.astype('d')),
        lambda: F.rms_normalization(_matrix, _vector[:3]),
        lambda: F.rms_normalization(_matrix, _matrix),
        lambda: F.normalize(_matrix.astype('i')),
        lambda: F.normalize(_matrix, axis=2),
        lambda: F.normalize(_matrix, axis=(0, -3)),
        lambda: F.local_response_normalization(_vector),
        lambda: F.local_response_normalization(_matrix.astype('i')),
    ],
)
def test_bad_input(call):
    with pytest.raises(type_check.InvalidType):
        call()


@pytest.mark.parametrize(
    'call, error',
    [
        (lambda: F.group_normalization(_matrix, 3, _vector, _vector), ValueError),
        (lambda: F.group_normalization(_matrix, 0, _vector, _vector), ZeroDivisionError),
        (lambda: F.group_normalization(_matrix, 2.0, _vector, _vector), TypeError),
        (lambda: F.normalize(_matrix, axis='x'), TypeError),
        (lambda: F.normalize(_matrix, axis=[0]), TypeError),
        (lambda: F.normalize(_matrix, axis=(0, 0)), ValueError),
    ],
)
def test_bad_argument(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.gpu
@pytest.mark.parametrize(
    'f, n_params',
    [
        (F.batch_normalization, 2),
        (F.fixed_batch_normalization, 4),
        (
            lambda x, g, b: F.layer_normalization(
                x.reshape(4, 8), *[F.concat([a, a], axis=0) for a in (g, b)]
            ),
            2,
        ),
        (lambda x, g, b: F.group_normalization(x, 2, g, b), 2),
        (lambda x, g: F.rms_normalization(x.transpose(0, 2, 1), g), 1),
        (F.normalize, 0),
        (F.local_response_normalization, 0),
        (lambda x: F.decorrelated_batch_normalization(x, groups=2), 0),
    ],
)
def test_gpu(f, n_params):
    inputs = [_rng.uniform(0.5, 1, s) for s in [(4, 4, 2)] + [4] * n_params]
    results = []
    for name in ('@numpy', '@cupy:0'):
        v = [chainer.Variable(chainer.get_device(name).send(x)) for x in inputs]
        y = f(*v)
        gxs = chainer.grad([F.sum(F.sin(y))], v)
        results.append([chainer.get_device('@numpy').send(a.array) for a in (y, *gxs)])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, atol=1e-8)
