"""unary_math_function_unittest and distribution_unittest."""

import sys
import unittest

import numpy
import pytest

import chainer
import chainer.distributions as D
import chainer.functions as F
from chainer import testing


def double(x):
    return x * 2


@testing.unary_math_function_unittest(F.sin)
class TestSin(unittest.TestCase):
    pass


@testing.unary_math_function_unittest(
    double, func_expected=lambda x: x * 2, label_expected='_ * 2', is_linear=True
)
class TestDouble(unittest.TestCase):
    pass


def make_data(shape, dtype):
    return (
        numpy.random.uniform(0.5, 1, shape).astype(dtype),
        numpy.random.uniform(-1, 1, shape).astype(dtype),
    )


@testing.unary_math_function_unittest(
    F.sqrt,
    make_data=make_data,
    forward_options={'atol': 1e-2},
    backward_options={'eps': 1e-4, 'dtype': numpy.float64},
    double_backward_options={'eps': 1e-4, 'dtype': numpy.float64, 'no_grads': None},
)
class TestSqrt(unittest.TestCase):
    def test_own(self):
        assert self.shape in [(), (3, 2)]


def generated(prefix):
    return [
        value
        for name, value in vars(sys.modules[__name__]).items()
        if name.startswith(prefix) and isinstance(value, type)
    ]


def run(case, prefix):
    suite = unittest.TestSuite(
        case(name)
        for name in dir(case)
        if name.startswith(prefix) and callable(getattr(case, name))
    )
    result = unittest.TestResult()
    suite.run(result)
    assert result.testsRun > 0
    return result


def test_generated_cases():
    cases = generated('TestSin_')
    assert sorted((c.shape, numpy.dtype(c.dtype).name) for c in cases) == sorted(
        (shape, dtype) for shape in [(3, 2), ()] for dtype in ['float16', 'float32', 'float64']
    )
    suffixes = ['chainerx_cuda', 'chainerx_native', 'cpu', 'gpu']
    names = [
        f'test_{kind}_{s}' for kind in ['backward', 'double_backward', 'forward'] for s in suffixes
    ]
    names += ['test_label_cpu', 'test_label_gpu']
    for case in (cases[0], generated('TestDouble_')[0]):
        assert [name for name in dir(case) if name.startswith('test')] == names
    assert run(generated('TestSqrt_')[0], 'test_own').wasSuccessful()


def negated_gradient(x):
    class Function(chainer.FunctionNode):
        label = 'negated_gradient'

        def forward(self, inputs):
            return (numpy.asarray(inputs[0] * 2),)

        def backward(self, indexes, gys):
            return (gys[0] * -2,)

    return Function().apply((x,))[0]


@pytest.mark.parametrize(
    'kwargs,failing',
    [
        ({'func_expected': lambda x: 3 * x}, ['test_forward']),
        ({'func_expected': lambda x: 2 * x}, ['test_backward']),
        (
            {'func_expected': lambda x: 2 * x, 'label_expected': 'double'},
            ['test_backward', 'test_label'],
        ),
    ],
)
def test_broken_function(kwargs, failing):
    before = set(vars(sys.modules[__name__]))

    @testing.unary_math_function_unittest(negated_gradient, is_linear=True, **kwargs)
    class BrokenFunction(unittest.TestCase):
        pass

    case = BrokenFunction.cases[1]
    for prefix in failing:
        assert not run(case, prefix).wasSuccessful()
    for name in set(vars(sys.modules[__name__])) - before:
        delattr(sys.modules[__name__], name)


def test_no_reference():
    with pytest.raises(ValueError, match='negated_gradient'):
        testing.unary_math_function_unittest(negated_gradient)


@testing.parameterize(
    *testing.product(
        {'shape': [(2, 3), ()], 'is_variable': [True, False], 'sample_shape': [(2,), ()]}
    )
)
@testing.fix_random()
@testing.with_requires('scipy')
class TestNormal(testing.distribution_unittest):
    def setUp_configure(self):
        from scipy import stats

        self.dist = D.Normal
        self.scipy_dist = stats.norm
        self.test_targets = {
            'batch_shape',
            'cdf',
            'entropy',
            'event_shape',
            'icdf',
            'log_cdf',
            'log_prob',
            'log_survival',
            'mean',
            'prob',
            'sample',
            'stddev',
            'support',
            'survival',
            'variance',
        }
        loc = numpy.random.uniform(-1, 1, self.shape).astype('f')
        scale = numpy.random.uniform(0.5, 1, self.shape).astype('f')
        self.params = {'loc': loc, 'scale': scale}
        self.scipy_params = {'loc': loc, 'scale': scale}

    def sample_for_test(self):
        return numpy.random.normal(size=self.sample_shape + self.shape).astype('f')


@testing.parameterize({'shape': (2, 2), 'sample_shape': (3,)}, {'shape': (), 'sample_shape': ()})
@testing.fix_random()
class TestMultivariateNormal(testing.distribution_unittest):
    scipy_onebyone = True
    event_shape = (2,)

    def setUp_configure(self):
        from scipy import stats

        self.dist = D.MultivariateNormal
        self.scipy_dist = stats.multivariate_normal
        self.test_targets = {
            'batch_shape',
            'covariance',
            'entropy',
            'event_shape',
            'log_prob',
            'sample',
            'support',
        }
        loc = numpy.random.uniform(-1, 1, self.shape + (2,)).astype('f')
        cov = numpy.broadcast_to(numpy.array([[2, 1], [1, 1]], 'f'), self.shape + (2, 2))
        self.params = {'loc': loc, 'covariance': cov}
        self.scipy_params = {'mean': loc, 'cov': cov}

    def sample_for_test(self):
        return numpy.random.normal(size=self.sample_shape + self.shape + self.event_shape).astype(
            'f'
        )


class WrongNormal(D.Normal):
    """A normal distribution of twice the scale."""

    support = 'positive'

    def __init__(self, loc, scale):
        super().__init__(loc, 2 * scale)

    @property
    def batch_shape(self):
        return super().batch_shape + (1,)

    @property
    def event_shape(self):
        return (1,)

    @property
    def mean(self):
        return self.loc.array


@pytest.mark.parametrize(
    'target',
    [
        'batch_shape',
        'cdf',
        'entropy',
        'event_shape',
        'icdf',
        'log_cdf',
        'log_prob',
        'log_survival',
        'mean',
        'prob',
        'sample',
        'stddev',
        'support',
        'survival',
        'variance',
    ],
)
def test_wrong_distribution(target):
    case = generated('TestNormal_')[0](f'test_{target}_cpu')
    case.setUp()
    try:
        case.dist = WrongNormal
        with pytest.raises(AssertionError):
            getattr(case, f'test_{target}_cpu')()
    finally:
        case.tearDown()


def test_untested_target():
    case = generated('TestMultivariateNormal_')[0]
    result = run(case, 'test_cdf_cpu')
    assert len(result.skipped) == 1


def test_not_configured():
    class Case(testing.distribution_unittest):
        pass

    with pytest.raises(NotImplementedError):
        Case('test_mean_cpu').setUp()


def test_default_points():
    case = generated('TestMultivariateNormal_')[0]('test_log_prob_cpu')
    points = testing.distribution_unittest.sample_for_test(case)
    assert points.shape == (3, 2, 2, 2) and points.dtype == numpy.float32


def test_overridden_check():
    class Case(generated('TestNormal_')[0]):
        def check_mean(self, is_gpu):
            assert not is_gpu
            assert isinstance(self.cpu_dist, D.Normal)
            raise AssertionError('overridden')

    result = run(Case, 'test_mean_cpu')
    assert 'overridden' in result.failures[0][1]


def test_base_class_is_skipped():
    assert run(testing.distribution_unittest, 'test_mean_cpu').skipped
