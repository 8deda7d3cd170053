import warnings

import numpy as np
import pytest
from helpers.functions import check_function

import chainer
from chainer import functions as F
from chainer.functions.normalization import batch_normalization as module
from chainer.functions.normalization.batch_renormalization import BatchRenormalizationFunction
from chainer.utils import type_check
from tests.helpers.devices import CHX, on_host

_rng = np.random.RandomState(0)
_low = {np.float16: 1e-2, np.float32: 1e-4}


def _axes(x, gamma, axis):
    if axis is None:
        return (0, *range(gamma.ndim + 1, x.ndim))
    return axis if isinstance(axis, tuple) else (axis,)


def _expand(a, x, axis):
    return np.expand_dims(a, axis)


def _reference(x, gamma, beta, axis=None, eps=2e-5):
    axis = _axes(x, gamma, axis)
    x_hat = (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)
    return x_hat * _expand(gamma, x, axis) + _expand(beta, x, axis)


def _inputs(shape, axis):
    x = _rng.uniform(-1, 1, shape)
    key = (
        shape[1:2]
        if axis is None
        else tuple([n for i, n in enumerate(shape) if i not in _axes(x, None, axis)])
    )
    return x, _rng.uniform(0.5, 1, key), _rng.uniform(-1, 1, key)


layouts = [
    ((5, 3), None),
    ((4, 3, 2), None),
    ((2, 3, 2, 2), None),
    ((4, 3), 0),
    ((4, 2, 3), (0, 1)),
    ((4, 2, 3), (0,)),
    ((2, 4, 3), 1),
    ((2, 3, 2, 2), (1, 3)),
    ((3, 2), (0, 1)),
]


@pytest.mark.parametrize('shape, axis', layouts)
def test_batch_normalization(shape, axis):
    check_function(
        lambda *xs: F.batch_normalization(*xs, axis=axis),
        _inputs(shape, axis),
        lambda *xs: _reference(*xs, axis=axis),
        tolerances=_low,
    )


def test_several_axes_of_channels():
    x = _rng.uniform(-1, 1, (4, 2, 3))
    gamma, beta = _rng.uniform(0.5, 1, (2, 2, 3))
    check_function(F.batch_normalization, (x, gamma, beta), _reference, tolerances=_low)


@pytest.mark.parametrize('shape, axis', layouts)
def test_fixed_batch_normalization(shape, axis):
    x, gamma, beta = _inputs(shape, axis)
    mean, var = _rng.uniform(-1, 1, gamma.shape), _rng.uniform(0.5, 1, gamma.shape)

    def reference(x, gamma, beta, mean, var):
        a = _axes(x, gamma, axis)
        gamma, beta, mean, var = [_expand(v, x, a) for v in (gamma, beta, mean, var)]
        return gamma * (x - mean) / np.sqrt(var + 2e-5) + beta

    check_function(
        lambda *xs: F.fixed_batch_normalization(*xs, axis=axis),
        (x, gamma, beta, mean, var),
        reference,
        tolerances=_low,
    )


def test_batches_larger_than_a_block():
    x = _rng.uniform(-1, 1, (6, 3, 20000)).astype(np.float32) + np.float32(100)
    gamma, beta = _rng.uniform(0.5, 1, (2, 3)).astype(np.float32)
    gy = _rng.uniform(-1, 1, x.shape).astype(np.float32)
    v = [chainer.Variable(a) for a in (x, gamma, beta)]
    y = F.batch_normalization(*v)
    np.testing.assert_allclose(
        y.array, _reference(*[a.astype('d') for a in (x, gamma, beta)]), atol=1e-4
    )
    y.grad = gy
    y.backward()
    w = [chainer.Variable(a.astype('d')) for a in (x[:, :, :], gamma, beta)]
    gxs = chainer.grad(
        [F.batch_normalization(*w)],
        w,
        [chainer.Variable(gy.astype('d'))],
        enable_double_backprop=True,
    )
    for a, b, tolerance in zip(v, gxs, (1e-5, 2e-2, 1e-2)):
        np.testing.assert_allclose(a.grad, b.array, atol=tolerance)


@pytest.mark.parametrize(
    'x_dtype, dtype, statistic_dtype',
    [('e', 'f', 'f'), ('e', 'e', 'e'), ('f', 'd', 'd'), ('f', 'f', 'e'), ('d', 'f', 'f')],
)
def test_mixed_dtypes(x_dtype, dtype, statistic_dtype):
    x, gamma, beta = _inputs((4, 3, 2), None)
    x, gamma, beta = x.astype(x_dtype), gamma.astype(dtype), beta.astype(dtype)
    mean, var = np.zeros(3, statistic_dtype), np.ones(3, statistic_dtype)
    v = [chainer.Variable(a) for a in (x, gamma, beta)]
    for y in (
        F.batch_normalization(*v, running_mean=mean, running_var=var),
        F.fixed_batch_normalization(*v, mean.astype(dtype), var.astype(dtype)),
    ):
        assert y.dtype == x_dtype
        for double in (False, True):
            gxs = chainer.grad(
                [y], v, [chainer.Variable(np.ones_like(x))], enable_double_backprop=double
            )
            assert [g.dtype for g in gxs] == [x_dtype, dtype, dtype]
    assert mean.dtype == var.dtype == statistic_dtype
    np.testing.assert_allclose(mean, 0.1 * x.mean((0, 2), dtype='d'), atol=2e-3)


@pytest.mark.parametrize('shape, axis', [((4, 3), None), ((2, 4, 3), 1), ((1, 3), None)])
def test_running_statistics(shape, axis):
    x, gamma, beta = _inputs(shape, axis)
    mean, var = _rng.uniform(1, 2, (2, *gamma.shape))
    mean_0, var_0 = mean.copy(), var.copy()
    func = module.BatchNormalization(1e-3, mean, var, 0.8, axis)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UserWarning)
        func.apply((x, gamma, beta))
    a = _axes(x, gamma, axis)
    m = x.size // gamma.size
    np.testing.assert_allclose(mean, 0.8 * mean_0 + 0.2 * x.mean(a))
    np.testing.assert_allclose(var, 0.8 * var_0 + 0.2 * x.var(a) * m / max(m - 1, 1))
    assert func.running_mean is mean and func.running_var is var
    np.testing.assert_allclose(func.mean, x.mean(a))
    np.testing.assert_allclose(func.inv_std, (x.var(a) + 1e-3) ** -0.5)


def test_statistics_stay_in_recomputation():
    x, gamma, beta = _inputs((4, 3), None)
    mean, var = np.zeros(3), np.ones(3)
    with chainer.using_config('in_recomputing', True):
        F.batch_normalization(x, gamma, beta, running_mean=mean, running_var=var)
    assert (mean == 0).all() and (var == 1).all()


@pytest.mark.parametrize('shape, axis', [((1, 3), None), ((1, 3, 1, 1), None), ((2, 1), 1)])
def test_one_element_for_each_channel(shape, axis):
    x, gamma, beta = _inputs(shape, axis)
    with pytest.warns(UserWarning, match='one element'):
        y = F.batch_normalization(x, gamma, beta, axis=axis)
    np.testing.assert_allclose(
        y.array, np.broadcast_to(_expand(beta, x, _axes(x, gamma, axis)), shape)
    )


def test_empty_batch():
    gamma, beta, mean = np.ones(3), np.zeros(3), np.zeros(3)
    var = np.ones(3)
    x = chainer.Variable(np.zeros((0, 3, 2)))
    y = F.batch_normalization(x, gamma, beta, running_mean=mean, running_var=var)
    assert y.shape == (0, 3, 2) and (var == 1).all()
    y.grad = y.array
    y.backward()
    assert x.grad.shape == x.shape


def test_graph_survives_backward():
    v = [chainer.Variable(a) for a in _inputs((4, 3), None)]
    y = F.batch_normalization(*v)
    gy = chainer.Variable(_rng.uniform(-1, 1, y.shape))
    first, second = [chainer.grad([y], v, [gy]) for _ in range(2)]
    for a, b in zip(first, second):
        np.testing.assert_array_equal(a.array, b.array)


def _run(fixed=False, **kwargs):
    x, gamma, beta = np.ones((2, 3), 'f'), np.ones(3, 'f'), np.ones(3, 'f')
    inputs = {'x': x, 'gamma': gamma, 'beta': beta}
    inputs.update({k: v for k, v in kwargs.items() if k in inputs})
    options = {k: v for k, v in kwargs.items() if k not in inputs}
    if fixed:
        return F.fixed_batch_normalization(**inputs, **{'mean': gamma, 'var': gamma, **options})
    return F.batch_normalization(*inputs.values(), **options)


@pytest.mark.parametrize(
    'kwargs, error',
    [
        ({'x': np.ones((2, 3), 'i')}, type_check.InvalidType),
        ({'gamma': np.ones(2, 'f')}, type_check.InvalidType),
        ({'gamma': np.ones(3, 'i')}, type_check.InvalidType),
        ({'beta': np.ones(2, 'f')}, type_check.InvalidType),
        ({'beta': np.ones(3, 'd')}, type_check.InvalidType),
        ({'x': np.ones(3, 'f')}, type_check.InvalidType),
        ({'axis': 1}, type_check.InvalidType),
        ({'axis': (1, 0)}, RuntimeError),
        ({'axis': 'x'}, TypeError),
        ({'axis': 1.0}, TypeError),
    ],
)
@pytest.mark.parametrize('fixed', [False, True])
def test_bad_input(kwargs, error, fixed):
    with pytest.raises(error):
        _run(fixed, **kwargs)


def test_bad_arguments():
    with pytest.raises(type_check.InvalidType):
        _run(True, mean=np.ones(2, 'f'))
    with pytest.raises(ValueError, match='train argument'):
        _run(train=True)
    with pytest.raises(TypeError):
        _run(nothing=1)


class _HalvedImpl(module.GeneralBatchNormalizationImpl):
    """Two workers that have the same batch."""

    workers = 2

    def total(self, partial):
        return partial * 2


def test_implementation_is_selected():
    x, gamma, beta = _inputs((4, 3), None)
    mean, var = np.zeros(3), np.zeros(3)
    v = [chainer.Variable(a) for a in (x, gamma, beta)]
    func = module.BatchNormalization(
        mean=mean, var=var, decay=0.0, impl_selector=lambda f, xs: _HalvedImpl()
    )
    (y,) = func.apply(v)
    np.testing.assert_allclose(y.array, _reference(x, gamma, beta))
    np.testing.assert_allclose(var, np.concatenate([x, x]).var(0, ddof=1))
    gy = _rng.uniform(-1, 1, x.shape)
    (gx,) = chainer.grad([y], v[:1], [chainer.Variable(gy)])
    (e,) = chainer.grad([F.batch_normalization(*v)], v[:1], [chainer.Variable(gy)])
    np.testing.assert_allclose(gx.array, e.array)
    with pytest.raises(NotImplementedError):
        chainer.grad([y], v[:1], [chainer.Variable(gy)], enable_double_backprop=True)


# -- renormalization


@pytest.mark.parametrize('shape', [(5, 3), (4, 3, 2), (2, 3, 2, 2)])
@pytest.mark.parametrize('rmax, dmax', [(1, 0), (3, 1), (1.01, 0.01)])
def test_batch_renormalization(shape, rmax, dmax):
    x, gamma, beta = _inputs(shape, None)
    mean, var = _rng.uniform(-1, 1, 3), _rng.uniform(0.2, 1, 3)

    def corrections(x):
        axis = _axes(x, gamma, None)
        std = np.sqrt(var + 2e-5)
        return (
            np.clip(np.sqrt(x.var(axis) + 2e-5) / std, 1 / rmax, rmax),
            np.clip((x.mean(axis) - mean) / std, -dmax, dmax),
        )

    def reference(x, gamma, beta):
        r, d = corrections(x)
        return _reference(x, gamma * r, gamma * d + beta)

    def f(*xs):
        return F.batch_renormalization(*xs, rmax, dmax, running_mean=mean, running_var=var)

    check_function(
        f, (x, gamma, beta), reference, grad=False, tolerances={np.float16: 2e-2, np.float32: 1e-4}
    )
    # The corrections count as constants in the gradient.
    r, d = corrections(x)

    def fixed(*xs):
        func = BatchRenormalizationFunction(mean=mean, var=var, update_statistics=False)
        func.r, func.d = r, d
        return func.apply(xs)[0]

    check_function(fixed, (x, gamma, beta), reference, dtypes=(np.float64,), on_chainerx=False)
    v = [chainer.Variable(a) for a in (x, gamma, beta)]
    gy = chainer.Variable(_rng.uniform(-1, 1, shape))
    for double in (False, True):
        for a, b in zip(
            chainer.grad([f(*v)], v, [gy], enable_double_backprop=double),
            chainer.grad([fixed(*v)], v, [gy]),
        ):
            np.testing.assert_allclose(a.array, b.array, atol=1e-10)


@pytest.mark.parametrize('update', [False, True])
def test_renormalization_updates_statistics(update):
    x, gamma, beta = _inputs((4, 3), None)
    mean, var = np.zeros(3), np.ones(3)
    F.batch_renormalization(
        x,
        gamma,
        beta,
        3,
        1,
        running_mean=mean,
        running_var=var,
        decay=0.9,
        update_statistics=update,
    )
    if update:
        np.testing.assert_allclose(mean, 0.1 * x.mean(0))
        np.testing.assert_allclose(var, 0.9 + 0.1 * x.var(0, ddof=1))
    else:
        assert (mean == 0).all() and (var == 1).all()


def test_fixed_batch_renormalization():
    x, gamma, beta = _inputs((4, 3), None)
    mean, var = np.zeros(3), np.ones(3)
    with pytest.warns(DeprecationWarning):
        y = F.fixed_batch_renormalization(x, gamma, beta, mean, var)
    np.testing.assert_array_equal(
        y.array, F.fixed_batch_normalization(x, gamma, beta, mean, var).array
    )


@pytest.mark.parametrize('missing', ['running_mean', 'running_var'])
def test_renormalization_needs_statistics(missing):
    options = {'running_mean': np.zeros(3), 'running_var': np.ones(3), missing: None}
    with pytest.raises(TypeError, match=missing):
        F.batch_renormalization(*_inputs((4, 3), None), 1, 0, **options)


# -- devices


@pytest.mark.chainerx
@pytest.mark.parametrize('on_device', [pytest.param(False, marks=on_host), True])
def test_running_statistics_on_chainerx(on_device):
    x, gamma, beta = _inputs((4, 3), None)
    device = chainer.get_device(CHX[0])
    mean, var = np.zeros(3), np.ones(3)
    if on_device:
        mean, var = device.send((mean, var))
    F.batch_normalization(*device.send((x, gamma, beta)), running_mean=mean, running_var=var)
    mean, var = chainer.get_device('@numpy').send((mean, var))
    np.testing.assert_allclose(mean, 0.1 * x.mean(0))
    np.testing.assert_allclose(var, 0.9 + 0.1 * x.var(0, ddof=1))
