import numpy
import pytest

import chainer
import chainer.distributions as D
from chainer import distribution, testing


class Half(chainer.Distribution):
    """Knows only what it must."""

    batch_shape = (2,)
    event_shape = (3,)

    @property
    def params(self):
        return {}

    def sample_n(self, n):
        return chainer.as_variable(numpy.arange(n * 6.0).reshape(n, 2, 3))


names = [
    'batch_shape',
    'event_shape',
    'params',
    'support',
    'mean',
    'mode',
    'variance',
    'stddev',
    'covariance',
    'entropy',
    'xp',
]
methods = [
    'log_prob',
    'prob',
    'cdf',
    'icdf',
    'log_cdf',
    'survival_function',
    'log_survival_function',
    'perplexity',
    'sample_n',
    'sample',
]


@pytest.mark.parametrize('name', names)
def test_property_not_implemented(name):
    with pytest.raises(NotImplementedError, match='Distribution.'):
        getattr(chainer.Distribution(), name)


@pytest.mark.parametrize('name', methods)
def test_method_not_implemented(name):
    with pytest.raises(NotImplementedError, match='Distribution.'):
        getattr(chainer.Distribution(), name)(1)


@pytest.mark.parametrize(
    'sample_shape,expected',
    [((), (2, 3)), (4, (4, 2, 3)), ((4, 5), (4, 5, 2, 3)), ([2], (2, 2, 3)), ((0,), (0, 2, 3))],
)
def test_sample(sample_shape, expected):
    x = Half().sample(sample_shape)
    assert x.shape == expected
    numpy.testing.assert_array_equal(x.array.ravel(), numpy.arange(x.size))


def test_no_params():
    assert Half().xp is None


class Sub(D.Normal):
    pass


def test_kl_of_subclass():
    d = Sub(numpy.zeros(2), numpy.ones(2))
    with pytest.raises(KeyError, match='registered for Sub and Sub'):
        chainer.kl_divergence(d, d)
    with pytest.raises(KeyError, match='registered for Sub and Normal'):
        chainer.kl_divergence(d, D.Normal(numpy.ones(2), numpy.ones(2)))


def test_register_kl(monkeypatch):
    monkeypatch.setattr(distribution, '_kl_functions', dict(distribution._kl_functions))

    @chainer.register_kl(Sub, D.Laplace)
    def kl(dist1, dist2):
        return dist1, dist2

    d1, d2 = Sub(0.0, 1.0), D.Laplace(0.0, 1.0)
    assert chainer.kl_divergence(d1, d2) == (d1, d2)
    assert kl(1, 2) == (1, 2)
    with pytest.raises(KeyError):
        chainer.kl_divergence(d2, d1)
    with pytest.raises(KeyError):
        chainer.kl_divergence(D.Normal(0.0, 1.0), d2)


def test_cross_entropy():
    p, q = D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)
    expected = p.entropy.array + chainer.kl_divergence(p, q).array
    testing.assert_allclose(chainer.cross_entropy(p, q).array, expected)
    with pytest.raises(KeyError):
        chainer.cross_entropy(p, D.Gumbel(0.0, 1.0))


def test_properties_computed_without_backprop_keep_the_graph():
    scale = chainer.Variable(numpy.ones(2))
    d = D.Normal(numpy.zeros(2), scale)
    with chainer.no_backprop_mode():
        d.log_prob(numpy.zeros(2))
    chainer.functions.sum(d.log_prob(numpy.zeros(2))).backward()
    testing.assert_allclose(scale.grad, [-1, -1])
