"""Distributions over classes and of vectors."""

import copy
import pickle

import numpy
import pytest
from scipy import special, stats

import chainer
import chainer.distributions as D
from chainer import gradient_check, testing
from chainer.distributions import multivariate_normal, utils
from tests.helpers.devices import CHX

rng = numpy.random.default_rng(0)
devices = [
    pytest.param('@cupy:0', marks=pytest.mark.gpu),
    pytest.param(CHX[0], marks=pytest.mark.chainerx),
]


def probabilities(shape, seed=0):
    p = numpy.random.default_rng(seed).uniform(0.1, 1, shape)
    return p / p.sum(axis=-1, keepdims=True)


class TestCategorical:
    @pytest.mark.parametrize('shape', [(4,), (2, 4)])
    @pytest.mark.parametrize('sample_shape', [(), (3,), (3, 2)])
    @pytest.mark.parametrize('dtype', [numpy.int32, numpy.int64, numpy.float32])
    def test_log_prob(self, shape, sample_shape, dtype):
        p = probabilities(shape)
        x = rng.integers(0, 4, sample_shape + shape[:-1])
        expected = numpy.log(
            numpy.take_along_axis(numpy.broadcast_to(p, x.shape + (4,)), x[..., None], -1)[..., 0]
        )
        d = D.Categorical(p)
        assert d.batch_shape == shape[:-1]
        assert d.event_shape == ()
        testing.assert_allclose(d.log_prob(x.astype(dtype)).array, expected)
        testing.assert_allclose(d.log_prob(chainer.Variable(x)).array, expected)

    def test_logit(self):
        logit = rng.normal(size=(2, 4))
        d, expected = D.Categorical(logit=logit), D.Categorical(special.softmax(logit, -1))
        testing.assert_allclose(d.p.array, expected.p.array)
        testing.assert_allclose(d.log_p.array, expected.log_p.array)
        testing.assert_allclose(d.entropy.array, expected.entropy.array)

    def test_entropy(self):
        p = probabilities((2, 4))
        p[0] = [0, 0.5, 0.5, 0]
        testing.assert_allclose(D.Categorical(p).entropy.array, stats.entropy(p, axis=-1))

    def test_number_point(self):
        p = probabilities((4,))
        testing.assert_allclose(D.Categorical(p).log_prob(2).array, numpy.log(p[2]))

    def test_sample(self):
        p = probabilities((2, 4))
        p[0] = [0, 0.75, 0.25, 0]
        x = D.Categorical(p).sample(5000)
        assert x.shape == (5000, 2)
        assert x.dtype == numpy.int64
        for i in range(2):
            share = numpy.bincount(x.array[:, i], minlength=4) / 5000
            testing.assert_allclose(share, p[i], atol=0.04, rtol=0)
            assert (share[p[i] == 0] == 0).all()
        assert D.Categorical(p).sample((2, 3)).shape == (2, 3, 2)

    def test_sample_from_rounded_probabilities(self):
        # In float32 these do not add up to one.
        p = numpy.full(7, 1 / 7, 'f') * numpy.float32(0.9999)
        assert D.Categorical(p).sample(10000).array.max() == 6

    @pytest.mark.parametrize('p', [[0.5, 0.4], [1.5, -0.5], [[0.5, 0.5], [1.0, 1.0]]])
    def test_sample_from_no_probabilities(self, p):
        for cls in D.Categorical, D.OneHotCategorical:
            with pytest.raises(ValueError, match='non-negative and sum to 1'):
                cls(numpy.array(p, 'f')).sample()

    def test_gradients(self):
        x = numpy.array([[0, 1], [2, 3]])
        gradient_check.check_backward(
            lambda logit: D.Categorical(logit=logit).log_prob(x),
            rng.normal(size=(2, 4)),
            rng.normal(size=(2, 2)),
            dtype=numpy.float64,
            atol=1e-4,
        )
        gradient_check.check_backward(
            lambda p: D.Categorical(p).entropy,
            probabilities((2, 4)),
            rng.normal(size=2),
            dtype=numpy.float64,
            atol=1e-4,
        )

    @pytest.mark.parametrize('kwargs', [{}, {'p': [0.5], 'logit': [1.0]}])
    def test_contradictory_params(self, kwargs):
        with pytest.raises(ValueError, match='not both'):
            D.Categorical(**kwargs)

    def test_unsupported(self):
        d = D.Categorical(probabilities((4,)))
        for name in 'mean', 'variance', 'stddev', 'support', 'mode', 'covariance':
            with pytest.raises(NotImplementedError, match=f'Categorical.{name}'):
                getattr(d, name)
        for name in 'prob', 'cdf', 'icdf', 'log_cdf', 'perplexity':
            with pytest.raises(NotImplementedError, match=f'Categorical.{name}'):
                getattr(d, name)(1)


class TestOneHotCategorical:
    def test_values(self):
        p = probabilities((2, 4))
        d = D.OneHotCategorical(p)
        assert (d.batch_shape, d.event_shape) == ((2,), (4,))
        assert d.mean is d.p
        testing.assert_allclose(d.variance.array, p * (1 - p))
        x = numpy.eye(4)[rng.integers(0, 4, (3, 2))]
        testing.assert_allclose(d.log_prob(x).array, (x * numpy.log(p)).sum(-1))
        testing.assert_allclose(d.log_p.array, numpy.log(p))

    def test_zero_probability(self):
        d = D.OneHotCategorical(numpy.array([0.0, 1.0]))
        numpy.testing.assert_array_equal(d.log_prob(numpy.eye(2)).array, [-numpy.inf, 0])

    def test_sample(self):
        p = probabilities((2, 4)).astype('f')
        x = D.OneHotCategorical(p).sample((5000,))
        assert x.shape == (5000, 2, 4)
        assert x.dtype == numpy.float32
        numpy.testing.assert_array_equal(x.array.sum(-1), 1)
        testing.assert_allclose(x.array.mean(0), p, atol=0.04, rtol=0)


@pytest.mark.parametrize('cls', [D.Categorical, D.OneHotCategorical])
def test_kl_over_classes(cls):
    p, q = probabilities((2, 4)), probabilities((2, 4), 1)
    p[1] = [0.5, 0.5, 0, 0]
    q[1] = [0.25, 0.25, 0.5, 0]
    kl = chainer.kl_divergence(cls(p), cls(q))
    testing.assert_allclose(kl.array, stats.entropy(p, q, axis=-1))


@pytest.mark.parametrize('dtype', [numpy.float16, numpy.float32, numpy.float64])
@pytest.mark.parametrize('shape', [(4,), (3, 4), (2, 3, 4)])
def test_draws(shape, dtype):
    # NumPy draws all samples of one distribution of the batch, then those of the next.
    p = probabilities(shape).astype(dtype)
    one_hot = numpy.eye(4, dtype=dtype)
    r = numpy.random.RandomState(3)
    rows = p.reshape(-1, 4)
    choices = numpy.stack([r.choice(4, 5, p=row) for row in rows], 1).reshape((5,) + shape[:-1])
    r = numpy.random.RandomState(3)
    alphas = numpy.stack([r.dirichlet(row, 5) for row in rows], 1).reshape((5,) + shape)
    tolerance = {'atol': 1e-3, 'rtol': 1e-3}
    for dist, expected in [
        (D.Categorical(p), choices),
        (D.OneHotCategorical(p), one_hot[choices]),
        (D.Dirichlet(p), alphas.astype(dtype)),
    ]:
        for method, n in ('sample_n', 5), ('sample', 5), ('sample', (5,)):
            numpy.random.seed(3)
            actual = getattr(dist, method)(n)
            assert actual.dtype == expected.dtype
            testing.assert_allclose(actual.array, expected, **tolerance)


class TestDirichlet:
    @pytest.mark.parametrize('shape', [(3,), (2, 3)])
    def test_values(self, shape):
        alpha = rng.uniform(0.5, 3, shape)
        d = D.Dirichlet(alpha)
        assert (d.batch_shape, d.event_shape) == (shape[:-1], (3,))
        assert d.support == '[0, 1]'
        testing.assert_allclose(d.alpha0.array, alpha.sum(-1))
        x = probabilities((4,) + shape)
        y = d.log_prob(x).array
        for index in numpy.ndindex(*shape[:-1]):
            expected = stats.dirichlet(alpha[index])
            testing.assert_allclose(d.mean.array[index], expected.mean())
            testing.assert_allclose(d.variance.array[index], expected.var())
            testing.assert_allclose(d.entropy.array[index], expected.entropy())
            for i in range(4):
                testing.assert_allclose(y[(i,) + index], expected.logpdf(x[(i,) + index]))

    def test_outside(self):
        d = D.Dirichlet(numpy.ones(2))
        numpy.testing.assert_array_equal(d.log_prob(numpy.array([1.5, -0.5])).array, -numpy.inf)

    def test_sample(self):
        alpha = numpy.array([[1.0, 2.0, 3.0], [0.5, 0.5, 2.0]])
        x = D.Dirichlet(alpha).sample(5000)
        assert x.shape == (5000, 2, 3)
        testing.assert_allclose(x.array.sum(-1), numpy.ones((5000, 2)))
        testing.assert_allclose(x.array.mean(0), D.Dirichlet(alpha).mean.array, atol=0.02, rtol=0)
        testing.assert_allclose(
            x.array.var(0), D.Dirichlet(alpha).variance.array, atol=0.01, rtol=0
        )

    def test_kl(self):
        # With two classes this is the beta distribution.
        a, b = rng.uniform(0.5, 3, (2, 4, 2))
        testing.assert_allclose(
            chainer.kl_divergence(D.Dirichlet(a), D.Dirichlet(b)).array,
            chainer.kl_divergence(D.Beta(*a.T), D.Beta(*b.T)).array,
        )

    def test_gradient(self):
        gradient_check.check_backward(
            lambda alpha, x: D.Dirichlet(alpha).log_prob(x),
            (rng.uniform(0.5, 3, (2, 3)), probabilities((2, 3))),
            rng.normal(size=2),
            dtype=numpy.float64,
            atol=1e-4,
        )


def mvn_params(shape, d=3, seed=0):
    r = numpy.random.default_rng(seed)
    scale_tril = numpy.tril(r.normal(size=shape + (d, d)))
    scale_tril[..., range(d), range(d)] = r.uniform(0.5, 2, shape + (d,))
    return r.normal(size=shape + (d,)), scale_tril


class TestMultivariateNormal:
    @pytest.mark.parametrize('shape', [(), (2,)])
    @pytest.mark.parametrize('by', ['scale_tril', 'covariance'])
    def test_values(self, shape, by):
        loc, scale_tril = mvn_params(shape)
        covariance = scale_tril @ numpy.swapaxes(scale_tril, -1, -2)
        d = D.MultivariateNormal(loc, **{by: scale_tril if by == 'scale_tril' else covariance})
        assert (d.batch_shape, d.event_shape, d.d) == (shape, (3,), 3)
        assert d.support == 'real'
        assert set(d.params) == {'loc', 'scale_tril'}
        testing.assert_allclose(d.covariance.array, covariance)
        testing.assert_allclose(d.scale_tril.array, scale_tril)
        testing.assert_allclose(d.mean.array, loc)
        x = rng.normal(size=(4,) + shape + (3,))
        y = d.log_prob(x)
        assert y.shape == (4,) + shape
        for index in numpy.ndindex(*shape):
            expected = stats.multivariate_normal(loc[index], covariance[index])
            testing.assert_allclose(d.entropy.array[index], expected.entropy())
            testing.assert_allclose(
                y.array[(slice(None),) + index], expected.logpdf(x[(slice(None),) + index])
            )

    @pytest.mark.parametrize(
        'kwargs', [{}, {'scale_tril': numpy.eye(2), 'covariance': numpy.eye(2)}]
    )
    def test_contradictory_params(self, kwargs):
        with pytest.raises(ValueError, match='not both'):
            D.MultivariateNormal(numpy.zeros(2), **kwargs)

    def test_float16(self):
        loc, scale_tril = (a.astype(numpy.float16) for a in mvn_params((2,)))
        d = D.MultivariateNormal(loc, scale_tril=scale_tril)
        y = d.log_prob(loc)
        assert y.dtype == numpy.float16
        expected = D.MultivariateNormal(
            loc.astype('d'), scale_tril=scale_tril.astype('d')
        ).log_prob(loc.astype('d'))
        testing.assert_allclose(y.array, expected.array, atol=1e-2, rtol=1e-2)

    def test_sample(self):
        loc, scale_tril = mvn_params((2,))
        d = D.MultivariateNormal(loc, scale_tril=scale_tril)
        x = d.sample((20000,))
        assert x.shape == (20000, 2, 3)
        testing.assert_allclose(x.array.mean(0), loc, atol=0.1, rtol=0)
        for i in range(2):
            testing.assert_allclose(
                numpy.cov(x.array[:, i].T), d.covariance.array[i], atol=0.15, rtol=0.05
            )
        assert d.sample((2, 4)).shape == (2, 4, 2, 3)

    def test_sample_gradient(self):
        loc, scale_tril = (chainer.Variable(a) for a in mvn_params((2,)))
        x = D.MultivariateNormal(loc, scale_tril=scale_tril).sample()
        chainer.functions.sum(x).backward()
        testing.assert_allclose(loc.grad, numpy.ones((2, 3)))
        assert scale_tril.grad.shape == (2, 3, 3)

    def test_kl(self):
        (m1, l1), (m2, l2) = mvn_params(()), mvn_params((), seed=1)
        v1, v2 = l1 @ l1.T, l2 @ l2.T
        inv = numpy.linalg.inv(v2)
        expected = 0.5 * (
            numpy.trace(inv @ v1)
            + (m2 - m1) @ inv @ (m2 - m1)
            - 3
            + numpy.log(numpy.linalg.det(v2) / numpy.linalg.det(v1))
        )
        kl = chainer.kl_divergence(
            D.MultivariateNormal(m1, scale_tril=l1), D.MultivariateNormal(m2, covariance=v2)
        )
        testing.assert_allclose(kl.array, expected)

    def test_gradient(self):
        loc, scale_tril = mvn_params((2,))

        def f(loc, scale_tril, x):
            lower = scale_tril * numpy.tri(3)
            return D.MultivariateNormal(loc, scale_tril=lower).log_prob(x)

        gradient_check.check_backward(
            f,
            (loc, scale_tril, rng.normal(size=(2, 3))),
            rng.normal(size=2),
            dtype=numpy.float64,
            atol=1e-4,
        )

    def test_copy(self):
        d = D.MultivariateNormal(*mvn_params(())[:1], covariance=numpy.eye(3))
        copied = copy.copy(d)
        assert type(copied) is D.MultivariateNormal
        assert copied.loc is d.loc
        testing.assert_allclose(copied.scale_tril.array, numpy.eye(3))


class TestTriangularInv:
    @pytest.mark.parametrize('lower', [True, False])
    @pytest.mark.parametrize('shape', [(), (2,), (0,)])
    def test_forward(self, lower, shape):
        x = rng.uniform(1, 2, shape + (3, 3))
        (y,) = multivariate_normal.TriangularInv(lower).apply((x,))
        triangle = numpy.tril(x) if lower else numpy.triu(x)
        testing.assert_allclose(y.array, numpy.linalg.inv(triangle))

    @pytest.mark.parametrize('lower', [True, False])
    def test_gradients(self, lower):
        x, gy, ggx = rng.uniform(1, 2, (3, 2, 3, 3))

        def f(x):
            return multivariate_normal._triangular_inv(x, lower)

        gradient_check.check_backward(f, x, gy, dtype=numpy.float64)
        gradient_check.check_double_backward(f, x, gy, ggx, dtype=numpy.float64)

    @pytest.mark.parametrize('shape,dtype', [((3,), 'f'), ((2, 3), 'f'), ((2, 2), 'i')])
    def test_bad_input(self, shape, dtype):
        with pytest.raises(chainer.utils.type_check.InvalidType):
            multivariate_normal._triangular_inv(numpy.ones(shape, dtype))


class TestIndependent:
    def make(self, shape=(2, 3, 4), **kwargs):
        loc, scale = rng.normal(size=shape), rng.uniform(0.5, 2, shape)
        base = D.Normal(loc, scale)
        return base, D.Independent(base, **kwargs)

    @pytest.mark.parametrize(
        'ndims,batch_shape,event_shape',
        [(None, (2,), (3, 4)), (0, (2, 3, 4), ()), (1, (2, 3), (4,)), (3, (), (2, 3, 4))],
    )
    def test_values(self, ndims, batch_shape, event_shape):
        base, d = self.make(reinterpreted_batch_ndims=ndims)
        assert (d.batch_shape, d.event_shape) == (batch_shape, event_shape)
        assert d.reinterpreted_batch_ndims == len(event_shape)
        assert d.distribution is base
        assert d.support == 'real'
        assert d.xp is numpy
        assert d.params.keys() == base.params.keys()
        axes = tuple(range(-len(event_shape), 0))
        x = rng.normal(size=(5, 2, 3, 4))

        def add(y):
            return y.array.sum(axis=axes) if axes else y.array

        def multiply(y):
            return y.array.prod(axis=axes) if axes else y.array

        testing.assert_allclose(d.entropy.array, add(base.entropy))
        testing.assert_allclose(d.log_prob(x).array, add(base.log_prob(x)))
        testing.assert_allclose(d.log_cdf(x).array, add(base.log_cdf(x)))
        testing.assert_allclose(
            d.log_survival_function(x).array, add(base.log_survival_function(x))
        )
        testing.assert_allclose(d.cdf(x).array, multiply(base.cdf(x)))
        testing.assert_allclose(d.prob(x).array, multiply(base.prob(x)))
        testing.assert_allclose(d.survival_function(x).array, multiply(base.survival_function(x)))
        for name in 'mean', 'variance', 'stddev':
            testing.assert_allclose(getattr(d, name).array, getattr(base, name).array)
        assert d.sample((6, 7)).shape == (6, 7, 2, 3, 4)

    @pytest.mark.parametrize('shape,default', [((), 0), ((2,), 0), ((2, 3), 1)])
    def test_default_ndims(self, shape, default):
        assert self.make(shape)[1].reinterpreted_batch_ndims == default

    @pytest.mark.parametrize('ndims', [3, -1])
    def test_bad_ndims(self, ndims):
        with pytest.raises(ValueError, match='reinterpreted_batch_ndims'):
            self.make((2, 3), reinterpreted_batch_ndims=ndims)

    def test_icdf(self):
        with pytest.raises(RuntimeError, match='not invertible'):
            self.make()[1].icdf(numpy.full((2, 3, 4), 0.5))

    def test_members_of_the_elements(self):
        base = D.Laplace(numpy.zeros((2, 3)), numpy.ones((2, 3)))
        assert D.Independent(base, 1).mode is base.mode
        d = self.make()[1]
        for name in 'mode', 'covariance':
            with pytest.raises(NotImplementedError, match=f'Normal.{name}'):
                getattr(d, name)
        with pytest.raises(NotImplementedError, match='Normal.perplexity'):
            d.perplexity(None)

    def test_covariance_of_vectors(self):
        loc, scale_tril = mvn_params((2, 3), d=2)
        base = D.MultivariateNormal(loc, scale_tril=scale_tril)
        d = D.Independent(base)
        expected = numpy.zeros((2, 6, 6))
        for i in range(2):
            for j in range(3):
                expected[i, 2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = base.covariance.array[i, j]
        testing.assert_allclose(d.covariance.array, expected)

    def test_kl(self):
        (a, d1), (b, d2) = self.make(), self.make()
        testing.assert_allclose(
            chainer.kl_divergence(d1, d2).array, chainer.kl_divergence(a, b).array.sum(axis=(1, 2))
        )
        with pytest.raises(NotImplementedError, match='1 and 2'):
            chainer.kl_divergence(D.Independent(a, 1), D.Independent(b, 2))


class TestModifiedXLogX:
    def test_values(self):
        x = numpy.array([0, 0.5, 1, 2], 'f')
        y = utils._modified_xlogx(x)
        assert y.dtype == numpy.float32
        testing.assert_allclose(y.array, special.xlogy(x, x))
        with numpy.errstate(divide='ignore'):
            (y,) = utils.ModifiedXLogX(numpy.log(x)).apply((x,))
        testing.assert_allclose(y.array, special.xlogy(x, x))

    def test_gradients(self):
        x, gy, ggx = rng.uniform(0.5, 2, (3, 4))
        gradient_check.check_backward(utils._modified_xlogx, x, gy, dtype=numpy.float64)
        gradient_check.check_double_backward(utils._modified_xlogx, x, gy, ggx, dtype=numpy.float64)

    def test_gradient_at_zero(self):
        x = chainer.Variable(numpy.array([0.0, 1.0]))
        chainer.functions.sum(utils._modified_xlogx(x)).backward()
        numpy.testing.assert_array_equal(x.grad, [0, 1])


vectors = {
    'Categorical': lambda: {'p': probabilities((2, 4))},
    'OneHotCategorical': lambda: {'p': probabilities((2, 4))},
    'Dirichlet': lambda: {'alpha': rng.uniform(0.5, 2, (2, 4))},
    'MultivariateNormal': lambda: dict(zip(('loc', 'scale_tril'), mvn_params((2,)))),
}


@pytest.mark.parametrize('name', vectors)
@pytest.mark.parametrize('device', devices)
def test_device(name, device):
    device = chainer.get_device(device)
    params = {k: v.astype('f') for k, v in vectors[name]().items()}
    expected = getattr(D, name)(**params)
    dist = getattr(D, name)(**{k: device.send(v) for k, v in params.items()})
    assert dist.xp is device.xp
    x = dist.sample((3,))
    assert x.device == device
    at = chainer.get_device('@numpy').send(x.array)
    testing.assert_allclose(dist.log_prob(x).array, expected.log_prob(at).array, atol=1e-4)
    chainer.kl_divergence(dist, dist)


@pytest.mark.parametrize('name', vectors)
def test_pickle(name):
    dist = getattr(D, name)(**vectors[name]())
    x = dist.sample()
    loaded = pickle.loads(pickle.dumps(dist))
    testing.assert_allclose(loaded.log_prob(x).array, dist.log_prob(x).array)
