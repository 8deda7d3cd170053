"""Distributions of numbers, held against scipy.stats."""

import math
import warnings

import numpy
import pytest
from scipy import integrate, stats

import chainer
import chainer.distributions as D
from chainer import gradient_check, testing
from tests.helpers.devices import CHX
from tests.helpers.distribution_table import ROWS

each_row = pytest.mark.parametrize('row', ROWS, ids=repr)
shapes = pytest.mark.parametrize('shape', [(), (2, 3)])
tolerances = {numpy.float16: 2e-2, numpy.float32: 1e-4, numpy.float64: 1e-7}


def check(actual, expected, dtype):
    assert isinstance(actual, chainer.Variable)
    assert actual.dtype == dtype
    assert actual.shape == numpy.shape(expected)
    tol = tolerances[dtype]
    testing.assert_allclose(actual.array, expected, atol=tol, rtol=tol)


@each_row
@shapes
@pytest.mark.parametrize('dtype', [numpy.float16, numpy.float32, numpy.float64])
def test_values(row, shape, dtype):
    params = row.draw(shape, dtype)
    dist = row.cls(**params)
    expected = row.scipy(**{k: v.astype(float) for k, v in params.items()})
    assert dist.batch_shape == shape
    assert dist.event_shape == ()
    assert dist.support == row.support
    assert dist.xp is numpy
    x = numpy.asarray(row.points(expected), dtype)
    at = x.astype(float)
    q = numpy.linspace(0.1, 0.9, 6).reshape(2, 3).astype(dtype)
    q = q if shape else q[0, 1]
    density = 'pmf' if row.discrete else 'pdf'
    check(dist.log_prob(x), getattr(expected, 'log' + density)(at), dtype)
    properties = {'mean': 'mean', 'variance': 'var', 'stddev': 'std', 'entropy': 'entropy'}
    methods = {
        'prob': density,
        'cdf': 'cdf',
        'log_cdf': 'logcdf',
        'survival_function': 'sf',
        'log_survival_function': 'logsf',
    }
    for name in row.has:
        if name in properties:
            value = getattr(dist, name)
            check(value, getattr(expected, properties[name])(), dtype)
            assert getattr(dist, name) is value or name == 'entropy'
        elif name in methods:
            check(getattr(dist, name)(x), getattr(expected, methods[name])(at), dtype)
        elif name == 'icdf':
            check(dist.icdf(q), expected.ppf(q.astype(float)), dtype)
        else:
            assert name == 'mode' and dist.mode is dist.loc


@each_row
def test_other_members(row):
    dist = row.cls(**row.draw((2,)))
    for name in 'mean', 'variance', 'stddev', 'mode', 'covariance', 'entropy':
        if name not in row.has and not (row.cls is D.Cauchy and name in ('mean', 'variance')):
            with pytest.raises(NotImplementedError, match=f'{row.cls.__name__}.{name}'):
                getattr(dist, name)
    names = 'prob cdf icdf log_cdf survival_function log_survival_function perplexity'
    for name in names.split():
        if name not in row.has:
            with pytest.raises(NotImplementedError, match=f'{row.cls.__name__}.{name}'):
                getattr(dist, name)(numpy.ones(2))


@each_row
def test_broadcast_points(row):
    params = row.draw((3,))
    expected = row.scipy(**params)
    x = row.points(expected)
    x = numpy.stack([x, x[::-1]])
    if row.cls in (D.Uniform, D.Pareto):
        x = numpy.stack([x[0], x[0]])
    name = 'logpmf' if row.discrete else 'logpdf'
    check(row.cls(**params).log_prob(x), getattr(expected, name)(x), numpy.float64)
    with chainer.using_config('enable_backprop', False):
        check(
            row.cls(**params).log_prob(chainer.Variable(x)),
            getattr(expected, name)(x),
            numpy.float64,
        )


@each_row
def test_params(row):
    params = {k: chainer.Variable(v) for k, v in row.draw((3,), numpy.float32).items()}
    dist = row.cls(**params)
    assert set(dist.params) == set(row.names)
    for name, value in dist.params.items():
        assert isinstance(value, chainer.Variable)
        assert value is getattr(dist, name)
    for name, value in params.items():
        if name in row.names:
            assert dist.params[name] is value


@each_row
def test_number_params(row):
    params = {k: float(v) for k, v in row.draw(()).items()}
    dist = row.cls(**params)
    expected = row.scipy(**params)
    assert dist.batch_shape == ()
    x = float(row.points(expected))
    name = 'logpmf' if row.discrete else 'logpdf'
    check(dist.log_prob(x), getattr(expected, name)(x), numpy.float32)


@each_row
@pytest.mark.parametrize('sample_shape', [(), 2, (2,), (4, 1), (0,)])
def test_sample_shape(row, sample_shape):
    dist = row.cls(**row.draw((2, 3), numpy.float32))
    x = dist.sample(sample_shape)
    expected = sample_shape if isinstance(sample_shape, tuple) else (sample_shape,)
    assert isinstance(x, chainer.Variable)
    assert x.shape == expected + (2, 3)
    assert x.dtype == (numpy.int64 if row.cls is D.Bernoulli else numpy.float32)
    assert dist.sample_n(5).shape == (5, 2, 3)
    assert numpy.isfinite(dist.log_prob(dist.sample((2,))).array).all()


@each_row
def test_sample_distribution(row):
    params = row.draw((2,))
    dist = row.cls(**params)
    numpy.random.seed(0)
    x = dist.sample(4000).array
    expected = row.scipy(**params)
    for i in range(2):
        cdf = row.scipy(**{k: v[i] for k, v in params.items()})
        if row.discrete:
            value = int(numpy.round(expected.mean()[i]))
            p = cdf.pmf(value)
            share = (x[:, i] == value).mean()
            assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / len(x))
        else:
            assert stats.kstest(x[:, i], cdf.cdf).pvalue > 1e-4
    if 'mean' in row.has:
        error = numpy.sqrt(expected.var() / len(x))
        assert (abs(x.mean(axis=0) - expected.mean()) < 5 * error).all()


@each_row
def test_sample_gradient(row):
    params = {k: chainer.Variable(v) for k, v in row.draw((3,)).items()}
    x = row.cls(**params).sample((100,))
    if x.creator is not None:
        chainer.functions.sum(x).backward()
    assert tuple(k for k, v in params.items() if v.grad is not None) == row.differentiable


@each_row
@pytest.mark.parametrize(
    'name', ['log_prob', 'prob', 'cdf', 'icdf', 'entropy', 'mean', 'variance', 'stddev']
)
def test_gradients(row, name):
    if name not in row.has and name != 'log_prob':
        pytest.skip(f'{row.cls.__name__} has no {name}')
    params = row.draw((3,))
    x = row.points(row.scipy(**params)).astype(float)
    if name == 'icdf':
        x = numpy.array([0.2, 0.4, 0.7])
    by_point = name in ('log_prob', 'prob', 'cdf', 'icdf')
    differentiable = by_point and not row.discrete

    def function(*args):
        dist = row.cls(**dict(zip(params, args)))
        if not by_point:
            return getattr(dist, name) * 1
        return getattr(dist, name)(args[-1] if differentiable else x)

    arguments = tuple(params.values()) + ((x,) if differentiable else ())
    kwargs = {'dtype': numpy.float64, 'atol': 1e-4, 'rtol': 1e-4}
    gy = numpy.random.uniform(-1, 1, 3)
    gradient_check.check_backward(function, arguments, gy, **kwargs)


@pytest.mark.parametrize('row', [r for r in ROWS if r.outside], ids=repr)
def test_one_point_outside_of_support(row):
    params = row.draw((), numpy.float32)
    dist = row.cls(**params)
    expected = row.scipy(**params)
    for outside in row.outside:
        x = numpy.array(outside, numpy.float32)
        check(dist.log_prob(x), numpy.array(-numpy.inf), numpy.float32)
        if 'cdf' in row.has:
            check(dist.cdf(x), expected.cdf(outside), numpy.float32)


def test_one_point_with_binary_check():
    dist = D.Bernoulli(numpy.array(0.2, 'f'), binary_check=True)
    for x, prob in (0, 0.8), (1, 0.2), (2, 0), (0.5, 0):
        check(dist.prob(numpy.array(x, 'f')), numpy.array(prob), numpy.float32)
    logit = chainer.Variable(numpy.array(0.2, 'f'))
    D.Bernoulli(logit=logit, binary_check=True).log_prob(numpy.array(2, 'f')).backward()
    assert logit.grad == 0


@pytest.mark.parametrize('row', [r for r in ROWS if r.outside], ids=repr)
def test_outside_of_support(row):
    params = {k: chainer.Variable(v) for k, v in row.draw((3,)).items()}
    dist = row.cls(**params)
    inside = row.points(row.scipy(**row.draw((3,))))
    for outside in row.outside:
        x = chainer.Variable(numpy.array(inside, float))
        x.array[1] = outside
        y = dist.log_prob(x)
        numpy.testing.assert_array_equal(numpy.isneginf(y.array), [False, True, False])
        chainer.functions.sum(y[::2] * 1.0).backward()
        for v in (x, *params.values()):
            if v.grad is not None:
                assert numpy.isfinite(v.grad).all()
        if 'cdf' in row.has:
            testing.assert_allclose(
                dist.cdf(x).array[1], row.scipy(**row.draw((3,))).cdf(outside)[1]
            )


@pytest.mark.parametrize('row', [row for row in ROWS if row.outside], ids=repr)
def test_number_outside_of_support(row):
    # Comparisons of 0-dimensional arrays give scalars of NumPy.
    params = {k: chainer.Variable(v) for k, v in row.draw(()).items()}
    dist = row.cls(**params)
    for outside in row.outside:
        for x in outside, numpy.array(outside, float):
            y = dist.log_prob(x)
            assert y.shape == () and numpy.isneginf(y.array)


def quad_kl(p, q, discrete):
    if discrete:
        x = numpy.arange(200)
        with numpy.errstate(invalid='ignore'):
            terms = p.pmf(x) * (p.logpmf(x) - q.logpmf(x))
        return numpy.nansum(terms)
    low, high = p.ppf(1e-13), p.ppf(1 - 1e-13)
    edges = p.ppf([1e-6, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-6])
    edges = [low, *edges, high]
    return sum(
        integrate.quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), a, b)[0]
        for a, b in zip(edges, edges[1:])
    )


@pytest.mark.parametrize('row', [r for r in ROWS if r.cls not in (D.Cauchy, D.Chisquare)], ids=repr)
def test_kl_divergence(row):
    params1, params2 = row.draw((3,)), row.draw((3,), seed=1)
    if row.cls is D.Pareto:
        params1['scale'] += 3
    if row.cls is D.Beta:  # the integration does not like poles
        params1, params2 = ({k: v + 1 for k, v in p.items()} for p in (params1, params2))
    if row.cls is D.Uniform and 'low' in params1:
        params2 = {'low': params1['low'] - 1, 'high': params1['high'] + 0.5}
    elif row.cls is D.Uniform:
        params2 = {'loc': params1['loc'] - 1, 'scale': params1['scale'] + 2}
    actual = chainer.kl_divergence(row.cls(**params1), row.cls(**params2))
    expected = [
        quad_kl(
            row.scipy(**{k: v[i] for k, v in params1.items()}),
            row.scipy(**{k: v[i] for k, v in params2.items()}),
            row.discrete,
        )
        for i in range(3)
    ]
    assert actual.shape == (3,)
    testing.assert_allclose(actual.array, expected, atol=1e-6, rtol=1e-6)
    same = chainer.kl_divergence(row.cls(**params1), row.cls(**params1))
    testing.assert_allclose(same.array, numpy.zeros(3), atol=1e-12)
    if 'entropy' in row.has:
        testing.assert_allclose(
            chainer.cross_entropy(row.cls(**params1), row.cls(**params2)).array,
            expected + row.scipy(**params1).entropy(),
            atol=1e-6,
            rtol=1e-6,
        )


def test_infinite_kl_divergence():
    d = D.Uniform(low=numpy.zeros(3), high=numpy.ones(3))
    other = D.Uniform(low=numpy.array([0.0, 0.5, -1.0]), high=numpy.array([1.0, 1.0, 0.9]))
    numpy.testing.assert_array_equal(
        chainer.kl_divergence(d, other).array, [0, numpy.inf, numpy.inf]
    )
    d = D.Pareto(numpy.ones(2), numpy.ones(2))
    other = D.Pareto(numpy.array([1.0, 2.0]), numpy.ones(2))
    numpy.testing.assert_array_equal(chainer.kl_divergence(d, other).array, [0, numpy.inf])


@pytest.mark.parametrize(
    'cls,kwargs',
    [
        (D.Normal, {'loc': 1}),
        (D.Normal, {'loc': 1, 'scale': 1, 'log_scale': 0}),
        (D.Bernoulli, {}),
        (D.Bernoulli, {'p': 0.5, 'logit': 0}),
        (D.Uniform, {}),
        (D.Uniform, {'low': 0}),
        (D.Uniform, {'low': 0, 'scale': 1}),
        (D.Uniform, {'low': 0, 'high': 1, 'loc': 0, 'scale': 1}),
        (D.Uniform, {'low': 0, 'high': 1, 'loc': 0}),
    ],
)
def test_contradictory_params(cls, kwargs):
    with pytest.raises(ValueError, match='not both'):
        cls(**kwargs)


@pytest.mark.parametrize('cls', [D.Normal, D.Uniform])
def test_unknown_param(cls):
    with pytest.raises(TypeError):
        cls(loc=1, scale=1, size=2)


@each_row
def test_parameters_broadcast(row):
    if len(row.params) == 1:
        pytest.skip('one parameter')
    params = row.draw((2, 3))
    first, second = params
    params[first], params[second] = params[first][:, :1], params[second][0]
    d = row.cls(**params)
    # The attributes keep their shapes.
    assert d.batch_shape == (2, 3)
    assert [v.shape for v in d.params.values()] == [(2, 1), (3,)]
    full = row.cls(**{k: numpy.broadcast_to(v, (2, 3)) for k, v in params.items()})
    x = row.points(row.scipy(**params))
    testing.assert_allclose(d.log_prob(x).array, full.log_prob(x).array)
    for name in row.has:
        actual, expected = getattr(d, name), getattr(full, name)
        if callable(actual):
            x = numpy.full((2, 3), 0.5) if name == 'icdf' else x
            actual, expected = actual(x), expected(x)
        testing.assert_allclose(numpy.broadcast_to(actual.array, (2, 3)), expected.array, atol=1e-7)
    numpy.random.seed(0)
    actual = d.sample(4)
    numpy.random.seed(0)
    assert actual.shape == (4, 2, 3)
    testing.assert_allclose(actual.array, full.sample(4).array)


def test_parameters_do_not_broadcast():
    with pytest.raises(ValueError, match=r'broadcastable shapes: loc \(2, 3\), scale \(2,\)'):
        D.Normal(numpy.zeros((2, 3)), numpy.ones(2))


# What the distribution with all parameters p draws, by the routines of NumPy.
draws = [
    (D.Bernoulli, 1, lambda r, p, size: r.binomial(1, p, size)),
    (D.Beta, 2, lambda r, p, size: r.beta(p, p, size)),
    (D.Cauchy, 2, lambda r, p, size: p + p * r.standard_cauchy(size)),
    (D.Chisquare, 1, lambda r, p, size: r.chisquare(p, size)),
    (D.Exponential, 1, lambda r, p, size: r.standard_exponential(size) / p),
    (D.Gamma, 2, lambda r, p, size: p * r.standard_gamma(p, size)),
    (D.Geometric, 1, lambda r, p, size: r.geometric(p, size)),
    (D.Gumbel, 2, lambda r, p, size: p + p * r.gumbel(size=size)),
    (D.Laplace, 2, lambda r, p, size: p + p * r.laplace(size=size)),
    (D.LogNormal, 2, lambda r, p, size: numpy.exp(p + p * r.standard_normal(size))),
    (D.Normal, 2, lambda r, p, size: p + p * r.standard_normal(size)),
    (D.Pareto, 2, lambda r, p, size: p * (1 + r.pareto(p, size))),
    (D.Poisson, 1, lambda r, p, size: r.poisson(p, size)),
]


@pytest.mark.parametrize('cls,n_params,routine', draws)
@pytest.mark.parametrize('dtype', [numpy.float16, numpy.float32, numpy.float64])
def test_draws(cls, n_params, routine, dtype):
    p = numpy.array([[0.2, 0.9, 0.5], [0.7, 0.4, 0.6]], dtype)
    dist = cls(*[p] * n_params)
    expected = routine(numpy.random.RandomState(3), p.astype(float), (4, 2, 3))
    for method, n in ('sample_n', 4), ('sample', 4), ('sample', (4,)):
        numpy.random.seed(3)
        actual = getattr(dist, method)(n)
        assert actual.dtype == (numpy.int64 if cls is D.Bernoulli else dtype)
        tol = tolerances[dtype]
        testing.assert_allclose(actual.array, expected, atol=tol, rtol=tol)


@pytest.mark.parametrize('row', [r for r in ROWS if r.discrete], ids=repr)
def test_integer_points(row):
    dist = row.cls(**row.draw((3,), numpy.float32))
    x = numpy.ones(3, numpy.int32)
    testing.assert_allclose(dist.log_prob(x).array, dist.log_prob(x.astype('f')).array)


def test_cauchy_has_no_moments():
    d = D.Cauchy(numpy.zeros(2), numpy.ones(2))
    for name in 'mean', 'variance':
        with pytest.warns(RuntimeWarning, match=f'(?i){name} of the cauchy'):
            value = getattr(d, name)
        assert value.shape == (2,)
        assert numpy.isnan(value.array).all()


def test_pareto_infinite_moments():
    d = D.Pareto(numpy.ones(3), numpy.array([0.5, 1.5, 2.5]))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        testing.assert_allclose(d.mean.array, [numpy.inf, 3, 5 / 3])
        testing.assert_allclose(d.variance.array, stats.pareto([0.5, 1.5, 2.5]).var())


class TestBernoulli:
    def test_extreme_logit(self):
        logit = numpy.array([-numpy.inf, numpy.inf, -1000.0, 1000.0])
        for x, expected in [(0.0, [0, -numpy.inf, 0, -1000]), (1.0, [-numpy.inf, 0, -1000, 0])]:
            y = D.Bernoulli(logit=logit).log_prob(numpy.full(4, x))
            numpy.testing.assert_array_equal(y.array, expected)

    def test_extreme_p(self):
        d = D.Bernoulli(numpy.array([0.0, 1.0]))
        numpy.testing.assert_array_equal(d.entropy.array, [0, 0])
        numpy.testing.assert_array_equal(d.logit.array, [-numpy.inf, numpy.inf])
        numpy.testing.assert_array_equal(d.log_prob(numpy.ones(2)).array, [-numpy.inf, 0])
        numpy.testing.assert_array_equal(d.sample(100).array.sum(axis=0), [0, 100])

    def test_entropy_gradient_at_ends(self):
        p = chainer.Variable(numpy.array([0.0, 0.5, 1.0]))
        chainer.functions.sum(D.Bernoulli(p).entropy).backward()
        assert numpy.isfinite(p.grad).all()

    def test_binary_check(self):
        p, x = numpy.array([0.3, 0.3, 0.3]), numpy.array([0.0, 0.5, 1.0])
        loose, strict = D.Bernoulli(p), D.Bernoulli(p, binary_check=True)
        numpy.testing.assert_array_equal(
            numpy.isneginf(strict.log_prob(x).array), [False, True, False]
        )
        numpy.testing.assert_array_equal(strict.prob(x).array == 0, [False, True, False])
        testing.assert_allclose(loose.log_prob(x).array[1], 0.5 * (math.log(0.3) + math.log(0.7)))

    def test_binary_check_of_numbers(self):
        p = chainer.Variable(numpy.array(0.3))
        dist = D.Bernoulli(p, binary_check=True)
        assert dist.prob(0.5).array == 0
        y = dist.log_prob(1.0)
        y.backward()
        testing.assert_allclose(y.array, math.log(0.3))
        testing.assert_allclose(p.grad, 1 / 0.3)

    def test_double_backward(self):
        def f(logit, x):
            return D.Bernoulli(logit=logit).log_prob(x)

        arrays = [numpy.random.uniform(-1, 1, s) for s in [(3,), (2, 3), (2, 3), (3,), (2, 3)]]
        gradient_check.check_double_backward(
            f, tuple(arrays[:2]), arrays[2], tuple(arrays[3:]), dtype=numpy.float64
        )


@pytest.mark.parametrize('name', ['cdf', 'icdf'])
def test_laplace_double_backward(name):
    def f(loc, scale, x):
        return getattr(D.Laplace(loc, scale), name)(x)

    rng = numpy.random.default_rng(0)
    arguments = rng.uniform(-1, 1, 4), rng.uniform(1, 2, 4), rng.uniform(0.1, 0.4, 4)
    ggx = tuple(rng.uniform(-1, 1, 4) for _ in range(3))
    gradient_check.check_double_backward(
        f, arguments, rng.uniform(-1, 1, 4), ggx, dtype=numpy.float64
    )


devices = [
    pytest.param('@cupy:0', marks=pytest.mark.gpu),
    pytest.param(CHX[0], marks=pytest.mark.chainerx),
]


@each_row
@pytest.mark.parametrize('device', devices)
def test_device(row, device):
    device = chainer.get_device(device)
    params = row.draw((2, 3), numpy.float32)
    expected = row.cls(**params)
    dist = row.cls(**{k: device.send(v) for k, v in params.items()})
    assert dist.xp is device.xp
    x = numpy.asarray(row.points(row.scipy(**params)), numpy.float32)
    y = dist.log_prob(device.send(x))
    assert y.device == device
    testing.assert_allclose(y.array, expected.log_prob(x).array)
    for name in row.has:
        value = getattr(expected, name)
        if not callable(value):
            testing.assert_allclose(getattr(dist, name).array, value.array)
    smp = dist.sample((5,))
    assert smp.device == device
    assert smp.shape == (5, 2, 3)
    chainer.kl_divergence(dist, dist) if row.cls not in (D.Cauchy, D.Chisquare) else None
