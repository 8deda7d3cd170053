import numpy as np
import pytest
from helpers.functions import check_function

import chainer
from chainer import functions as F
from chainer.utils import type_check

_rng = np.random.RandomState(0)


def _split(x, groups):
    channels = x.shape[1]
    return np.moveaxis(x, 1, 0).reshape(groups, channels // groups, -1)


def _join(y, shape):
    return np.moveaxis(y.reshape(shape[1], shape[0], *shape[2:]), 0, 1)


def _statistics(x, groups, eps):
    parts = _split(x, groups)
    mean = parts.mean(2)
    projections = []
    for part in parts:
        cov = np.cov(part, bias=True).reshape(len(part), -1) + eps * np.eye(len(part))
        d, e = np.linalg.eigh(cov)
        projections.append(e @ np.diag(d**-0.5) @ e.T)
    return mean, np.stack(projections)


def _apply(x, mean, projection, groups):
    return _join(projection @ (_split(x, groups) - mean[:, :, None]), x.shape)


@pytest.mark.parametrize(
    'shape, groups', [((8, 2), 1), ((8, 4), 2), ((4, 4, 3), 4), ((3, 4, 2, 3), 2)]
)
def test_decorrelated_batch_normalization(shape, groups):
    check_function(
        lambda x: F.decorrelated_batch_normalization(x, groups=groups, eps=1e-2),
        [_rng.uniform(-1, 1, shape)],
        lambda x: _apply(x, *_statistics(x, groups, 1e-2), groups),
        tolerances={np.float16: 2e-2, np.float32: 1e-4},
    )


@pytest.mark.parametrize('shape, groups', [((4, 4), 2), ((3, 4, 2), 1)])
def test_fixed_decorrelated_batch_normalization(shape, groups):
    size = shape[1] // groups
    check_function(
        lambda *xs: F.fixed_decorrelated_batch_normalization(*xs, groups=groups),
        [_rng.uniform(-1, 1, s) for s in (shape, (groups, size), (groups, size, size))],
        lambda *xs: _apply(*xs, groups),
        tolerances={np.float16: 2e-2},
    )


@pytest.mark.parametrize('dtype', ['f', 'e'])
def test_mixed_dtypes(dtype):
    x = _rng.uniform(-1, 1, (3, 4)).astype(dtype)
    y = F.fixed_decorrelated_batch_normalization(
        x, np.zeros((2, 2), 'f'), np.ones((2, 2, 2), 'f'), groups=2
    )
    assert y.dtype == dtype
    assert F.decorrelated_batch_normalization(x, groups=2).dtype == dtype


@pytest.mark.parametrize('device', ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)])
def test_running_statistics(device):
    device = chainer.get_device(device)
    x = _rng.uniform(-1, 1, (6, 4))
    mean, projection = [device.send(a) for a in (np.zeros((2, 2)), np.stack([np.eye(2)] * 2))]

    def call():
        F.decorrelated_batch_normalization(
            chainer.Variable(device.send(x)),
            groups=2,
            eps=1e-3,
            running_mean=mean,
            running_projection=projection,
            decay=0.9,
        )

    with chainer.using_config('in_recomputing', True):
        call()
    assert (mean == 0).all()
    call()
    e_mean, e_projection = _statistics(x, 2, 1e-3)
    host = chainer.get_device('@numpy')
    np.testing.assert_allclose(host.send(mean), 0.1 * e_mean)
    # As in Chainer 7, times 6 / (6 - 1) for a batch of six.
    np.testing.assert_allclose(host.send(projection), 0.9 * np.eye(2) + 0.1 * 6 / 5 * e_projection)


@pytest.mark.parametrize(
    'call',
    [
        lambda x: F.decorrelated_batch_normalization(x, groups=3),
        lambda x: F.decorrelated_batch_normalization(x[0], groups=2),
        lambda x: F.decorrelated_batch_normalization(x.astype('i'), groups=2),
        lambda x: F.fixed_decorrelated_batch_normalization(x, x[:1], np.ones((1, 3, 3)), groups=1),
        lambda x: F.fixed_decorrelated_batch_normalization(x, x[:1, :3], np.ones((1, 3, 3)), 1),
    ],
)
def test_bad_input(call):
    with pytest.raises(type_check.InvalidType):
        call(np.ones((2, 4)))
