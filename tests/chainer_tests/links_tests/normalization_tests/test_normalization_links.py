import copy

import numpy as np
import pytest
from helpers.functions import devices

import chainer
from chainer import functions as F, links as L
from chainer.links.normalization import decorrelated_batch_normalization


def f(*shape):
    return np.random.uniform(-1, 1, shape).astype('f')


def normalize(x, axis, mean=None, var=None):
    mean = x.mean(axis, keepdims=True) if mean is None else mean
    var = x.var(axis, keepdims=True) if var is None else var
    return (x - mean) / np.sqrt(var + 2e-5)


SHAPES = [
    # Arguments, shape of inputs, aggregated axes, shape of parameters.
    (dict(size=3), (5, 3), (0,), (3,)),
    (dict(size=3), (5, 3, 2, 2), (0, 2, 3), (3,)),
    (dict(size=(3, 2)), (5, 3, 2), (0,), (3, 2)),
    (dict(axis=0), (5, 3, 2), (0,), (3, 2)),
    (dict(axis=(0, 1)), (5, 3, 2), (0, 1), (2,)),
    (dict(size=3, axis=(0, 2)), (5, 3, 2), (0, 2), (3,)),
]


@pytest.mark.parametrize('kwargs, shape, axis, size', SHAPES)
def test_batch_normalization(kwargs, shape, axis, size):
    bn = L.BatchNormalization(
        decay=0.75,
        initial_gamma=chainer.initializers.Normal(1),
        initial_beta=chainer.initializers.Normal(1),
        **kwargs,
    )
    xs = [f(*shape), f(*shape)]
    mean, var = np.zeros(size), np.ones(size)
    keep = tuple([1 if k in axis else n for k, n in enumerate(shape)])
    count = np.prod([shape[k] for k in axis])
    for x in xs:
        y = bn(x)
        gamma, beta = bn.gamma.array.reshape(keep), bn.beta.array.reshape(keep)
        np.testing.assert_allclose(y.array, gamma * normalize(x, axis) + beta, atol=1e-4)
        mean = 0.75 * mean + 0.25 * x.mean(axis)
        var = 0.75 * var + 0.25 * x.var(axis) * count / (count - 1)
    np.testing.assert_allclose(bn.avg_mean, mean, atol=1e-5)
    np.testing.assert_allclose(bn.avg_var, var, atol=1e-5)
    with chainer.using_config('train', False):
        expected = gamma * normalize(x, axis, mean.reshape(keep), var.reshape(keep)) + beta
        np.testing.assert_allclose(bn(x).array, expected, atol=1e-4)
    np.testing.assert_allclose(bn.avg_mean, mean, atol=1e-5)
    assert bn.gamma.shape == bn.beta.shape == size


@pytest.mark.parametrize('use_gamma', [False, True])
@pytest.mark.parametrize('use_beta', [False, True])
@pytest.mark.parametrize('size', [3, None])
def test_batch_normalization_without_parameters(use_gamma, use_beta, size):
    bn = L.BatchNormalization(size, axis=0, use_gamma=use_gamma, use_beta=use_beta)
    assert (bn.gamma is not None, bn.beta is not None) == (use_gamma, use_beta)
    x = f(5, 3)
    for train in True, False:
        with chainer.using_config('train', train):
            assert bn(x).shape == (5, 3)
    assert len(list(bn.params())) == use_gamma + use_beta


def test_batch_normalization_attributes():
    bn = L.BatchNormalization(3, initial_avg_mean=f(3), initial_avg_var=2)
    assert (bn.avg_var == 2).all() and bn.avg_var.dtype == np.float32
    assert bn.decay == 0.9 and bn.eps == 2e-5 and bn.N == 0
    assert sorted(chainer.serializers.npz.serialize(bn)) == [
        'N',
        'avg_mean',
        'avg_var',
        'beta',
        'gamma',
    ]
    assert str(bn) == (
        'BatchNormalization(size=3, decay=0.9, eps=2e-05, dtype=float32, '
        'use_gamma=True, use_beta=True)'
    )
    assert 'size=None' in str(L.BatchNormalization(axis=0))
    with pytest.raises(RuntimeError, match='size or axis'):
        L.BatchNormalization()
    with pytest.raises(ValueError, match='using_config'):
        bn(f(5, 3), test=True)
    with pytest.raises(TypeError, match='tune'):
        bn(f(5, 3), tune=True)


@pytest.mark.parametrize(
    'config, dtype, expected',
    [
        (np.float32, None, 'f'),
        (np.float16, None, 'e'),
        (chainer.mixed16, None, 'f'),
        (np.float32, 'd', 'd'),
        (np.float32, chainer.mixed16, 'f'),
    ],
)
def test_batch_normalization_dtypes(config, dtype, expected):
    with chainer.using_config('dtype', config):
        bn = L.BatchNormalization(3, dtype=dtype)
    arrays = [bn.gamma.array, bn.beta.array, bn.avg_mean, bn.avg_var]
    assert [a.dtype for a in arrays] == [np.dtype(expected)] * 4
    assert bn.gamma.grad.dtype == np.dtype(expected)


def test_batch_normalization_leaves_initializers_alone():
    gamma = chainer.initializers.Constant(2)
    bn = L.BatchNormalization(3, dtype='d', initial_gamma=gamma)
    assert gamma.dtype is None and (bn.gamma.array == 2).all()


def test_finetuning():
    bn = L.BatchNormalization(3)
    bn(f(5, 3))
    bn.start_finetuning()
    xs = [f(5, 3) for _ in range(3)]
    for n, x in enumerate(xs, start=1):
        bn(x, finetune=True)
        assert bn.N == n
    np.testing.assert_allclose(bn.avg_mean, np.mean([x.mean(0) for x in xs], 0), atol=1e-6)
    np.testing.assert_allclose(bn.avg_var, np.mean([x.var(0, ddof=1) for x in xs], 0), atol=1e-6)
    bn.start_finetuning()
    assert bn.N == 0


RECOMPUTED = [
    lambda: L.BatchNormalization(4),
    lambda: L.BatchRenormalization(4, 2, 1),
    lambda: L.DecorrelatedBatchNormalization(4, 2),
]


@pytest.mark.parametrize('make', RECOMPUTED)
def test_recomputation_counts_once(make):
    x = chainer.Variable(f(9, 4))
    plain, forgetful = make(), make()
    F.sum(plain(x, finetune=True)).backward()
    F.sum(F.forget(lambda x: forgetful(x, finetune=True), x)).backward()
    for name in plain._persistent:
        np.testing.assert_array_equal(getattr(plain, name), getattr(forgetful, name))
    assert forgetful.N == 1


@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize(
    'wrap',
    [
        F.forget,
        lambda link, x: F.forget(lambda x: F.forget(link, x), x),
    ],
)
@pytest.mark.parametrize(
    'make',
    [
        lambda: L.BatchRenormalization(3, rmax=2, dmax=1, decay=0.3),
        lambda: L.Linear(3, 4).add_hook(chainer.link_hooks.SpectralNormalization()),
    ],
)
def test_side_effects_do_not_change_gradients(make, wrap, device):
    """What is computed again sees the statistics that it saw at first, in several calls, too."""
    xs = [f(4, 3) * 3 for _ in range(2)]
    results = []
    for call in lambda link, x: link(x), wrap:
        np.random.seed(0)
        link = make()
        link.to_device(device)
        link.cleargrads()
        inputs = [chainer.Variable(link.device.send(x)) for x in xs]
        sum([F.sum(call(link, x) ** 2) for x in inputs]).backward()
        arrays = [x.grad for x in inputs]
        arrays += [p.grad for p in link.params()]
        arrays += [getattr(link, name) for name in sorted(link._persistent) if name != 'N']
        results.append([chainer.get_device('@numpy').send(a) for a in arrays])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5, rtol=1e-5)


def test_batch_renormalization():
    link = L.BatchRenormalization(3, rmax=2, dmax=1, decay=0.5)
    link.avg_mean[...] = f(3)
    x = f(5, 3)
    mean, var = link.avg_mean.copy(), link.avg_var.copy()
    expected = F.batch_renormalization(
        x,
        link.gamma,
        link.beta,
        2,
        1,
        running_mean=mean,
        running_var=var,
        decay=0.5,
        update_statistics=True,
    )
    np.testing.assert_array_equal(link(x).array, expected.array)
    np.testing.assert_array_equal(link.avg_mean, mean)
    np.testing.assert_array_equal(link.avg_var, var)
    with chainer.using_config('train', False):
        np.testing.assert_allclose(link(x).array, normalize(x, 0, mean, var), atol=1e-5)
    assert link.rmax == 2 and link.dmax == 1


def test_decorrelated_batch_normalization():
    link = L.DecorrelatedBatchNormalization(4, 2, decay=0.5)
    x = f(20, 4)
    y = link(x).array
    for part in slice(0, 2), slice(2, 4):
        np.testing.assert_allclose(np.cov(y[:, part].T, ddof=0), np.eye(2), atol=1e-2)
    np.testing.assert_allclose(link.avg_mean.ravel(), 0.5 * x.mean(0), atol=1e-6)
    with chainer.using_config('train', False):
        expected = F.fixed_decorrelated_batch_normalization(
            x, link.avg_mean, link.avg_projection, groups=2
        )
        np.testing.assert_array_equal(link(x).array, expected.array)
    link(x, finetune=True)
    assert link.N == 1
    np.testing.assert_allclose(link.avg_mean.ravel(), x.mean(0), atol=1e-6)
    link.start_finetuning()
    assert link.N == 0
    with pytest.raises(ValueError, match='groups'):
        L.DecorrelatedBatchNormalization(5, 2)


@pytest.mark.parametrize('groups', [1, 2])
def test_decorrelated_batch_normalization_loads_old_files(groups):
    link = L.DecorrelatedBatchNormalization(4, groups)
    n = 4 // groups
    data = {'N': np.array(3), 'avg_mean': f(n), 'avg_projection': f(n, n)}
    loader = chainer.serializers.NpzDeserializer(data)
    if groups == 1:
        loader.load(link)
    else:
        with pytest.warns(UserWarning, match='Chainer v6'):
            loader.load(link)
    assert link.N == 3
    assert link.avg_mean.shape == (groups, n) and link.avg_projection.shape == (groups, n, n)
    for k in range(groups):
        np.testing.assert_array_equal(link.avg_mean[k], data['avg_mean'])
        np.testing.assert_array_equal(link.avg_projection[k], data['avg_projection'])
    link(f(9, 4))  # the loaded arrays are updated in place


def test_decorrelated_batch_normalization_refuses_other_shapes():
    fix_mean = decorrelated_batch_normalization.fix_avg_mean
    with pytest.raises(ValueError, match='avg_mean'):
        fix_mean(f(1, 2, 3), 1)
    with pytest.raises(ValueError, match='avg_projection'):
        decorrelated_batch_normalization.fix_avg_projection(f(2), 1)
    link = L.DecorrelatedBatchNormalization(4, 2)
    before = copy.deepcopy(link)
    data = {'N': np.array(3), 'avg_mean': f(2, 3), 'avg_projection': f(2, 2, 2)}
    with pytest.raises(ValueError, match='shape mismatch'):
        chainer.serializers.NpzDeserializer(data).load(link)
    np.testing.assert_array_equal(link.avg_projection, before.avg_projection)


def test_decorrelated_batch_normalization_loads_what_there_is():
    link = L.DecorrelatedBatchNormalization(4, 2)
    chainer.serializers.NpzDeserializer({'N': np.array(3)}, strict=False).load(link)
    assert link.N == 3 and (link.avg_mean == 0).all()


def test_group_normalization():
    link = L.GroupNormalization(2, eps=1e-3, initial_gamma=chainer.initializers.Normal(1))
    x = f(2, 4, 3)
    y = link(x).array
    for part in slice(0, 2), slice(2, 4):
        mean = x[:, part].mean((1, 2), keepdims=True)
        std = np.sqrt(x[:, part].var((1, 2), keepdims=True) + 1e-3)
        np.testing.assert_allclose(
            y[:, part], (x[:, part] - mean) / std * link.gamma.array[part, None], atol=1e-5
        )
    with pytest.raises(ValueError, match='at least 2'):
        L.GroupNormalization(2)(f(4))


@pytest.mark.parametrize('size', [None, 4])
@pytest.mark.parametrize('shape', [(4,), (3, 4), (2, 3, 4)])
def test_layer_normalization(shape, size):
    link = L.LayerNormalization(size, eps=1e-3)
    x = f(*shape)
    link(x)
    link.beta.array[...] = f(4)
    expected = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(link(x).array, expected + link.beta.array, atol=1e-5)


def test_rms_normalization():
    link = L.RMSNormalization(eps=1e-3, initial_gamma=chainer.initializers.Normal(1))
    x = f(2, 3, 4)
    expected = x / np.sqrt((x * x).mean(2, keepdims=True) + 1e-3)
    np.testing.assert_allclose(link(x).array, expected * link.gamma.array, atol=1e-5)
    assert link.gamma.shape == (4,)


@pytest.mark.parametrize(
    'make',
    [
        lambda: L.BatchNormalization(4),
        lambda: L.GroupNormalization(2, 4),
        lambda: L.LayerNormalization(4),
    ],
)
def test_gradients(make):
    link = make()
    x = f(5, 4).astype('d')
    chainer.gradient_check.check_backward(
        link,
        x,
        f(5, 4).astype('d'),
        params=(link.gamma, link.beta),
        dtype='d',
        atol=1e-3,
        rtol=1e-3,
    )
