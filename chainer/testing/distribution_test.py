from __future__ import annotations

import unittest
from typing import TYPE_CHECKING, Any

import numpy

from chainer.backends import cuda
from chainer.testing import attr
from chainer.testing.array import assert_allclose
from chainer.variable import Variable

if TYPE_CHECKING:
    from chainer.distribution import Distribution

# Chainer's names of values at a point and without one, and SciPy's.
_pointwise = {
    'cdf': 'cdf',
    'icdf': 'ppf',
    'log_cdf': 'logcdf',
    'log_survival': 'logsf',
    'survival': 'sf',
}
_constant = {
    'entropy': 'entropy',
    'mean': 'mean',
    'stddev': 'std',
    'variance': 'var',
    'covariance': 'cov',
}
_methods = {'survival': 'survival_function', 'log_survival': 'log_survival_function'}
_properties = ('batch_shape', 'event_shape', 'support')


class distribution_unittest(unittest.TestCase):
    """Base class of tests that compare a distribution with one of :mod:`scipy.stats`.

    A subclass overrides :meth:`setUp_configure`, which sets attributes, and, unless the support is
    all numbers, :meth:`sample_for_test`. The test of a target calls ``check_`` followed by its
    name, such as ``check_log_prob(is_gpu)``; subclasses can also override it.

    Attributes:
        dist (type): Class of the distribution to test.
        scipy_dist: Distribution of SciPy.
        params (dict): Constructor arguments of ``dist``, as NumPy arrays of shape ``shape``
            (followed by further axes for distributions of vectors).
        scipy_params (dict): The same for ``scipy_dist``.
        options (dict): Further constructor arguments of ``dist``.
        test_targets (set of str): Targets to test, from ``batch_shape``, ``cdf``, ``covariance``,
            ``entropy``, ``event_shape``, ``icdf``, ``log_cdf``, ``log_prob``, ``log_survival``,
            ``mean``, ``prob``, ``sample``, ``stddev``, ``support``, ``survival``, ``variance``.
            Skips the tests of other targets.
        shape (tuple of ints): Batch shape.
        event_shape (tuple of ints): Event shape.
        sample_shape (tuple of ints): Shape of a set of samples.
        is_variable (bool): Whether to pass the parameters as variables.
        continuous (bool): Whether SciPy calls the density ``pdf`` (or ``pmf``).
        support (str): Expected support.
        scipy_onebyone (bool): Calls SciPy separately for each batch element, for distributions
            that do not broadcast.
        tolerances (dict): Keyword arguments of :func:`~chainer.testing.assert_allclose`.

    .. admonition:: Example

        >>> import unittest
        >>> from scipy import stats
        >>> class TestNormal(chainer.testing.distribution_unittest):
        ...     def setUp_configure(self):
        ...         self.dist, self.scipy_dist = chainer.distributions.Normal, stats.norm
        ...         loc, scale = np.float32([0, 1]), np.float32([1, 2])
        ...         self.params = {'loc': loc, 'scale': scale}
        ...         self.scipy_params = self.params
        ...         self.shape, self.test_targets = (2,), {'mean', 'log_prob'}
        ...     def sample_for_test(self):
        ...         return np.random.normal(size=(3, 2)).astype(np.float32)
        >>> result = TestNormal('test_mean_cpu').run()
        >>> result.wasSuccessful(), len(result.skipped)
        (True, 0)

    """

    dist: Any = None
    scipy_dist: Any = None
    params: Any = None
    scipy_params: Any = None
    options: dict[str, Any] = {}
    test_targets: frozenset[str] = frozenset()
    shape: tuple[int, ...] = ()
    event_shape: tuple[int, ...] = ()
    sample_shape: tuple[int, ...] = ()
    is_variable = False
    continuous = True
    support = 'real'
    scipy_onebyone = False
    tolerances: dict[str, Any] = {}
    sample_num = 2000

    def setUp_configure(self) -> None:
        """Sets the attributes that describe the test. Override this."""
        raise NotImplementedError('setUp_configure() is not implemented.')

    def sample_for_test(self) -> numpy.ndarray:
        """Draws points to evaluate at, by default from a normal distribution.

        Returns:
            numpy.ndarray: Array of shape ``sample_shape + shape + event_shape``.
        """
        return numpy.random.standard_normal(
            self.sample_shape + self.shape + self.event_shape
        ).astype(numpy.float32)

    @property
    def cpu_dist(self) -> Distribution:
        """chainer.Distribution: The distribution with parameters on the CPU."""
        return self._make_dist(False)

    @property
    def gpu_dist(self) -> Distribution:
        """chainer.Distribution: The distribution with parameters on a GPU."""
        return self._make_dist(True)

    def setUp(self) -> None:
        if type(self) is distribution_unittest:
            self.skipTest('collected by its imported name; it is a base class')
        self.setUp_configure()

    def _make_dist(self, gpu):
        params = {name: cuda.to_gpu(value) if gpu else value for name, value in self.params.items()}
        if self.is_variable:
            params = {name: Variable(value) for name, value in params.items()}
        return self.dist(**params, **self.options)

    def _scipy(self, name, *args):
        """Calls SciPy's method; ``args`` end with the batch (and event) axes."""
        if not self.scipy_onebyone:
            return getattr(self.scipy_dist, name)(*args, **self.scipy_params)
        ndim = len(self.shape)
        results = []
        for index in numpy.ndindex(*self.shape):
            params = {key: numpy.asarray(value)[index] for key, value in self.scipy_params.items()}
            method = getattr(self.scipy_dist(**params), name)
            at = [arg[(Ellipsis,) + index + (slice(None),) * len(self.event_shape)] for arg in args]
            results.append(numpy.asarray(method(*at) if callable(method) else method))
        stacked = numpy.stack(results)
        # (batch, samples..., rest...) -> (samples..., batch..., rest...)
        lead = args[0].ndim - ndim - len(self.event_shape) if args else 0
        moved = numpy.moveaxis(stacked, 0, lead)
        return moved.reshape(moved.shape[:lead] + self.shape + moved.shape[lead + 1 :])

    def _run(self, target, gpu):
        if target not in self.test_targets:
            self.skipTest(f'{target} is not among test_targets')
        getattr(self, f'check_{target}')(gpu)

    def _check(self, target, gpu):
        dist = self.gpu_dist if gpu else self.cpu_dist
        if target in _properties:
            expected = {'batch_shape': self.shape}.get(target, getattr(self, target, None))
            self.assertEqual(getattr(dist, target), expected)
        elif target == 'sample':
            self._check_sample(dist)
        else:
            self._check_values(target, dist, gpu)

    def _check_values(self, target, dist, gpu):
        if target in _constant:
            actual = getattr(dist, target)
            expected = self._scipy(_constant[target])
        else:
            if target == 'icdf':
                x = numpy.random.uniform(1e-3, 1 - 1e-3, self.sample_shape + self.shape).astype(
                    numpy.float32
                )
            else:
                x = self.sample_for_test()
            density = 'pdf' if self.continuous else 'pmf'
            name = _pointwise.get(target, density if target == 'prob' else 'log' + density)
            actual = getattr(dist, _methods.get(target, target))(cuda.to_gpu(x) if gpu else x)
            expected = self._scipy(name, x)
        self.assertIsInstance(actual, Variable)
        self.assertEqual(actual.shape, numpy.shape(expected))
        assert_allclose(actual.array, expected, **self.tolerances)

    def _check_sample(self, dist):
        smp = dist.sample(self.sample_shape)
        self.assertEqual(smp.shape, self.sample_shape + self.shape + self.event_shape)
        # The distribution of each component against that of SciPy's samples.
        from scipy import stats

        n = self.sample_num
        actual = cuda.to_cpu(dist.sample((n,)).array).reshape(n, -1)
        if self.scipy_onebyone:
            columns = []
            for index in numpy.ndindex(*self.shape):
                params = {k: numpy.asarray(v)[index] for k, v in self.scipy_params.items()}
                columns.append(numpy.reshape(self.scipy_dist(**params).rvs(n), (n, -1)))
            expected = numpy.concatenate(columns, axis=1)
        else:
            expected = self.scipy_dist.rvs(
                size=(n,) + self.shape + self.event_shape, **self.scipy_params
            ).reshape(n, -1)
        for a, b in zip(actual.T, expected.T):
            self.assertGreater(stats.ks_2samp(a, b, method='asymp').pvalue, 1e-6)


def _add_tests():
    for target in (*_properties, *_pointwise, *_constant, 'log_prob', 'prob', 'sample'):

        def check(self, is_gpu, target=target):
            self._check(target, is_gpu)

        check.__name__ = f'check_{target}'
        setattr(distribution_unittest, check.__name__, check)
        for suffix in 'cpu', 'gpu':

            def test(self, target=target, gpu=suffix == 'gpu'):
                self._run(target, gpu)

            test.__name__ = f'test_{target}_{suffix}'
            if suffix == 'gpu':
                if not attr.is_available():
                    continue
                test = attr.gpu(test)
            setattr(distribution_unittest, f'test_{target}_{suffix}', test)


_add_tests()
