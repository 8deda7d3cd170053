import numpy as np
import pytest
from helpers.functions import check_function

import chainer
from chainer import functions as F
from chainer.functions.noise.dropout import Dropout
from chainer.functions.noise.zoneout import Zoneout
from chainer.utils import type_check

_rng = np.random.RandomState(0)
_half = {np.float16: 1e-2}


def _draw(*shapes):
    return [_rng.uniform(-1, 1, s) for s in shapes]


@pytest.mark.parametrize('shape', [(4, 3), (), (2, 0)])
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
@pytest.mark.parametrize('ratio', [0, 0.3, 0.9])
def test_dropout(shape, dtype, ratio):
    x = chainer.Variable(np.ones(shape, dtype))
    y, mask = F.dropout(x, ratio, return_mask=True)
    assert y.dtype == mask.dtype == dtype and y.shape == mask.shape == shape
    assert set(np.unique(mask)) <= {0, np.dtype(dtype).type(1 / (1 - ratio))}
    np.testing.assert_array_equal(y.array, mask)


def test_dropout_rate():
    _, mask = F.dropout(np.ones(10000, 'f'), 0.2, return_mask=True)
    assert abs((mask == 0).mean() - 0.2) < 0.02


@pytest.mark.parametrize('shape', [(4, 3), ()])
def test_dropout_gradient(shape):
    mask = np.asarray(_rng.randint(0, 2, shape) * 2.0)
    check_function(
        lambda x: F.dropout(x, mask=mask.astype(x.dtype)), _draw(shape), lambda x: x * mask
    )


def test_dropout_outside_training():
    x = chainer.Variable(np.ones(3, 'f'))
    with chainer.using_config('train', False):
        assert F.dropout(x) is x
        y, mask = F.dropout(x, return_mask=True)
    assert y is x and mask is None


def test_dropout_keeps_the_mask():
    x = np.ones((3, 4), 'f')
    func = Dropout(0.5)
    (y,) = func.apply((x,))
    np.testing.assert_array_equal(Dropout(0.5, mask=func.mask).apply((x,))[0].array, y.array)


def test_gaussian():
    mean, ln_var, eps = _draw((3, 2), (3, 2), (3, 2))
    check_function(
        lambda m, v: F.gaussian(m, v, eps=eps.astype(m.dtype)),
        (mean, ln_var),
        lambda m, v: m + np.exp(v / 2) * eps,
        tolerances=_half,
    )


@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
def test_gaussian_noise(dtype):
    mean, ln_var = np.full(5000, 2, dtype), np.full(5000, np.log(9), dtype)
    y, eps = F.gaussian(mean, ln_var, return_eps=True)
    assert y.dtype == eps.dtype == dtype
    again = F.gaussian(mean, ln_var, eps=eps)
    np.testing.assert_array_equal(y.array, again.array)
    assert abs(y.array.astype('d').mean() - 2) < 0.2
    assert abs(y.array.astype('d').std() - 3) < 0.2


@pytest.mark.parametrize('axis', [0, 1, -1])
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
def test_gumbel_softmax(axis, dtype):
    y = F.gumbel_softmax(np.zeros((3, 4), dtype), tau=0.5, axis=axis)
    assert y.dtype == dtype
    np.testing.assert_allclose(y.array.sum(axis, dtype='d'), 1, atol=5e-3)


def test_gumbel_softmax_samples_categories():
    p = np.array([[0.1, 0.2, 0.7]] * 5000)
    y = F.gumbel_softmax(np.log(p), tau=1e-3).array
    np.testing.assert_allclose(y.mean(0), p[0], atol=0.03)
    assert F.gumbel_softmax(np.zeros((0, 3), 'f')).shape == (0, 3)
    assert F.gumbel_softmax(np.array(-2, 'f')).array == 1


@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
def test_zoneout(dtype):
    h, x = np.zeros(5000, dtype), np.ones(5000, dtype)
    y = F.zoneout(h, x, 0.3)
    assert y.dtype == dtype and set(np.unique(y.array)) == {0, 1}
    assert abs(y.array.astype('d').mean() - 0.7) < 0.03
    with chainer.using_config('train', False):
        assert F.zoneout(h, x, 0.3).array is x
    for ratio, expected in ((0, x), (1, h)):
        np.testing.assert_array_equal(F.zoneout(h, x, ratio).array, expected)


def test_zoneout_gradient():
    flags = np.array([[True, False, True]])

    def f(h, x):
        func = Zoneout(0.5)
        func.flag_x = flags
        return func.apply((h, x))[0]

    for shape in ((1, 3), (3,)):
        check_function(f, _draw((1, 3), shape), lambda h, x: np.where(flags, x, h))


@pytest.mark.parametrize('batchwise', [False, True])
@pytest.mark.parametrize('bias', [False, True])
@pytest.mark.parametrize('x_shape', [(2, 6), (2, 3, 2)])
def test_simplified_dropconnect(batchwise, bias, x_shape):
    mask = _rng.randint(0, 2, (2, 4, 6) if batchwise else (4, 6)).astype(bool)

    def reference(x, W, b=0):
        return np.einsum('...mk,...k->...m', W * mask / 0.7, x.reshape(2, 6)) + b

    check_function(
        lambda *xs: F.simplified_dropconnect(
            *xs, ratio=0.3, mask=mask, use_batchwise_mask=batchwise
        ),
        _draw(x_shape, (4, 6), *[4] * bias),
        reference,
        tolerances=_half,
    )


@pytest.mark.parametrize('batchwise', [False, True])
def test_simplified_dropconnect_mask(batchwise):
    x, W = np.ones((50, 20), 'f'), np.ones((10, 20), 'f')
    y = F.simplified_dropconnect(x, W, ratio=0.2, use_batchwise_mask=batchwise)
    mask = y.creator.mask
    assert mask.shape == ((50, 10, 20) if batchwise else (10, 20))
    assert abs(mask.mean() - 0.8) < 0.1
    np.testing.assert_allclose(F.simplified_dropconnect(x, W, train=False).array, x @ W.T)


_x, _w = np.ones((2, 3), 'f'), np.ones((4, 3), 'f')


@pytest.mark.parametrize(
    'call',
    [
        lambda: F.dropout(_x.astype('i')),
        lambda: F.gaussian(_x, _x[:1]),
        lambda: F.gaussian(_x, _x.astype('d')),
        lambda: F.zoneout(_x, _x[:, :2]),
        lambda: F.zoneout(_x, _x.astype('d')),
        lambda: F.simplified_dropconnect(_x, _w[:, :2]),
        lambda: F.simplified_dropconnect(_x[0], _w),
        lambda: F.simplified_dropconnect(_x, _w, _w),
        lambda: F.simplified_dropconnect(_x, _w, _w[:3, 0]),
        lambda: F.simplified_dropconnect(_x, _w, mask=np.ones((3, 4, 3), bool)),
        lambda: F.simplified_dropconnect(
            _x, _w, mask=np.ones((4, 2), bool), use_batchwise_mask=False
        ),
    ],
)
def test_bad_input(call):
    with pytest.raises(type_check.InvalidType):
        call()


@pytest.mark.parametrize('ratio', [-0.1, 1.0, 2.0])
@pytest.mark.parametrize(
    'f',
    [
        lambda r: F.dropout(_x, r),
        lambda r: F.simplified_dropconnect(_x, _w, ratio=r),
    ],
)
def test_bad_ratio(f, ratio):
    with pytest.raises(ValueError, match='ratio'):
        f(ratio)


@pytest.mark.parametrize('kwargs, error', [({'train': True}, ValueError), ({'foo': 1}, TypeError)])
@pytest.mark.parametrize(
    'f', [lambda **kw: F.dropout(_x, **kw), lambda **kw: F.zoneout(_x, _x, **kw)]
)
def test_bad_arguments(f, kwargs, error):
    with pytest.raises(error):
        f(**kwargs)
