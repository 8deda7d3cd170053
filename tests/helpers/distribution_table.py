"""Distributions of numbers beside those of scipy.stats."""

import numpy
from scipy import stats

import chainer.distributions as D


def positive(rng, shape):
    return rng.uniform(0.5, 3, shape)


def real(rng, shape):
    return rng.uniform(-2, 2, shape)


def unit(rng, shape):
    return rng.uniform(0.05, 0.95, shape)


class Row:
    """A distribution, how its parameters are drawn and SciPy's equivalent."""

    def __init__(
        self,
        cls,
        params,
        scipy,
        points,
        support,
        outside=None,
        discrete=False,
        has='mean variance entropy',
        differentiable=(),
        names=None,
    ):
        self.cls = cls
        self.params = params
        self.scipy = scipy
        self.points = points
        self.support = support
        self.outside = outside
        self.discrete = discrete
        self.has = has.split()
        self.differentiable = differentiable
        self.names = names or tuple(params)

    def __repr__(self):
        return f'{self.cls.__name__}({", ".join(self.params)})'

    def draw(self, shape, dtype=numpy.float64, seed=0):
        rng = numpy.random.default_rng(seed)
        return {k: numpy.asarray(f(rng, shape), dtype) for k, f in self.params.items()}


def pareto_alpha(rng, shape):
    return rng.uniform(2.5, 4, shape)


cdfs = 'mean variance entropy cdf icdf'
normal = cdfs + ' stddev prob log_cdf survival_function log_survival_function'
ROWS = [
    Row(
        D.Bernoulli,
        {'p': unit},
        lambda p: stats.bernoulli(p),
        lambda d: d.rvs(),
        '{0, 1}',
        discrete=True,
        has='mean variance stddev entropy prob',
        names=('logit',),
    ),
    Row(
        D.Bernoulli,
        {'logit': real},
        lambda logit: stats.bernoulli(1 / (1 + numpy.exp(-logit))),
        lambda d: d.rvs(),
        '{0, 1}',
        discrete=True,
        has='mean variance stddev entropy prob',
    ),
    Row(
        D.Beta,
        {'a': positive, 'b': positive},
        lambda a, b: stats.beta(a, b),
        lambda d: d.ppf(0.3),
        '[0, 1]',
        outside=(-0.5, 1.5),
    ),
    Row(
        D.Cauchy,
        {'loc': real, 'scale': positive},
        lambda loc, scale: stats.cauchy(loc, scale),
        lambda d: d.ppf(0.3),
        'real',
        has='entropy cdf icdf',
        differentiable=('loc', 'scale'),
    ),
    Row(
        D.Chisquare,
        {'k': positive},
        lambda k: stats.chi2(k),
        lambda d: d.ppf(0.3),
        'positive',
        outside=(-1,),
    ),
    Row(
        D.Exponential,
        {'lam': positive},
        lambda lam: stats.expon(scale=1 / lam),
        lambda d: d.ppf(0.3),
        'positive',
        outside=(-1,),
        has=cdfs,
        differentiable=('lam',),
    ),
    Row(
        D.Gamma,
        {'k': positive, 'theta': positive},
        lambda k, theta: stats.gamma(k, scale=theta),
        lambda d: d.ppf(0.3),
        'positive',
        outside=(-1,),
        differentiable=('theta',),
    ),
    Row(
        D.Geometric,
        {'p': unit},
        lambda p: stats.geom(p),
        lambda d: d.rvs(),
        'positive integer',
        outside=(0, -1),
        discrete=True,
        has='mean variance',
    ),
    Row(
        D.Gumbel,
        {'loc': real, 'scale': positive},
        lambda loc, scale: stats.gumbel_r(loc, scale),
        lambda d: d.ppf(0.3),
        'real',
        differentiable=('loc', 'scale'),
    ),
    Row(
        D.Laplace,
        {'loc': real, 'scale': positive},
        lambda loc, scale: stats.laplace(loc, scale),
        lambda d: d.ppf(0.3),
        'real',
        has=cdfs + ' stddev prob mode',
        differentiable=('loc', 'scale'),
    ),
    Row(
        D.LogNormal,
        {'mu': real, 'sigma': lambda rng, shape: rng.uniform(0.5, 1.5, shape)},
        lambda mu, sigma: stats.lognorm(sigma, scale=numpy.exp(mu)),
        lambda d: d.ppf(0.3),
        'positive',
        outside=(0, -1),
        differentiable=('mu', 'sigma'),
    ),
    Row(
        D.Normal,
        {'loc': real, 'scale': positive},
        lambda loc, scale: stats.norm(loc, scale),
        lambda d: d.ppf(0.3),
        'real',
        has=normal,
        differentiable=('loc', 'scale'),
    ),
    Row(
        D.Normal,
        {'loc': real, 'log_scale': real},
        lambda loc, log_scale: stats.norm(loc, numpy.exp(log_scale)),
        lambda d: d.ppf(0.3),
        'real',
        has=normal,
        differentiable=('loc', 'log_scale'),
        names=('loc', 'scale'),
    ),
    Row(
        D.Pareto,
        {'scale': positive, 'alpha': pareto_alpha},
        lambda scale, alpha: stats.pareto(alpha, scale=scale),
        lambda d: d.ppf(0.3),
        '[scale, inf]',
        outside=(0.1, -1),
        differentiable=('scale',),
    ),
    Row(
        D.Poisson,
        {'lam': positive},
        lambda lam: stats.poisson(lam),
        lambda d: d.rvs(),
        'non negative integer',
        outside=(-1,),
        discrete=True,
        has='mean variance',
    ),
    Row(
        D.Uniform,
        {'low': real, 'high': lambda rng, shape: 2 + positive(rng, shape)},
        lambda low, high: stats.uniform(low, high - low),
        lambda d: d.ppf(0.3),
        '[low, high]',
        outside=(-3, 6),
        has=cdfs + ' stddev',
        differentiable=('low', 'high'),
    ),
    Row(
        D.Uniform,
        {'loc': real, 'scale': positive},
        lambda loc, scale: stats.uniform(loc, scale),
        lambda d: d.ppf(0.3),
        '[low, high]',
        outside=(-3, 6),
        has=cdfs + ' stddev',
        differentiable=('loc', 'scale'),
    ),
]
