"""Test of the initializer arguments of a link."""

from __future__ import annotations

import unittest
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, initializers
from chainer._core.names.set_module import set_module
from chainer.testing._link_test_case import LinkTestBase
from chainer.testing.array import assert_allclose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.testing.backend import BackendConfig


@set_module('chainer.testing.function_link')
class InitializerArgument:
    """An initializer argument of a link with the expected initializer.

    Use it in :meth:`LinkInitializersTestCase.get_initializers` if the link converts its
    argument.

    Args:
        argument_value: Value passed to the link.
        expected_initializer: Initializer, array or number that the link must use.

    Raises:
        ValueError: If ``expected_initializer`` is ``None``.
        TypeError: If it cannot be an initializer.

    .. admonition:: Example

        >>> from chainer import testing
        >>> argument = testing.InitializerArgument(None, 0)  # no argument means zeros
        >>> argument.argument_value, argument.expected_initializer
        (None, 0)

    """

    def __init__(self, argument_value: Any, expected_initializer: Any) -> None:
        if expected_initializer is None:
            raise ValueError('Expected initializer cannot be None.')
        initializers.get_initializer(expected_initializer)  # raises unless it can be one
        self.argument_value = argument_value
        self.expected_initializer = expected_initializer


@set_module('chainer.testing.function_link')
class LinkInitializersTestCase(LinkTestBase, unittest.TestCase):
    """Test of the initializer arguments of a link.

    A subclass names its parameters in ``param_names`` and overrides :meth:`get_initializers`,
    :meth:`generate_inputs` and :meth:`create_link`. The test tries all initializers of each
    parameter, with the first ones for the other parameters. The parameter must then have the
    values of the initializer. For random initializers, the test compares mean and standard
    deviation; for ``None``, it only checks that the parameter is initialized.

    Attributes:
        param_names (tuple of str): Names of the link's parameters.
        check_initializers_options (dict): Keyword arguments of
            :func:`~chainer.testing.assert_allclose`.

    .. admonition:: Example

        >>> from chainer import initializers, testing
        >>> @testing.inject_backend_tests(None, [{}, {'use_cuda': True}])
        ... class TestLinearInitializers(testing.LinkInitializersTestCase):
        ...     param_names = ('W', 'b')
        ...     def get_initializers(self):
        ...         zero = testing.InitializerArgument(None, 0)
        ...         return [1, initializers.Normal()], [zero]
        ...     def create_link(self, initializers):
        ...         return L.Linear(3, 2, False, *initializers)

    """

    check_initializers_options: Any = None
    _options = ('check_initializers_options',)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    def get_initializers(self) -> Sequence[Any]:
        """Returns the initializer arguments to try. Override this.

        Returns:
            sequence: For each of ``param_names`` a sequence of initializers, arrays, numbers,
            ``None`` or :class:`InitializerArgument`.
        """
        raise NotImplementedError('get_initializers() is not implemented.')

    def test_initializers(self, backend_config: BackendConfig) -> None:
        """Tests the initial values of the parameters."""
        self._start('test_initializers', backend_config)
        choices = [list(c) for c in self.get_initializers()]
        self._error.check(
            len(choices) == len(self.param_names) and all(choices),
            f'get_initializers() must give initializers for each of {self.param_names}',
        )
        for i, name in enumerate(self.param_names):
            for choice in choices[i]:
                chosen = [c[0] for c in choices]
                chosen[i] = choice
                with self._error.raise_if_fail(
                    f'Parameter {name} was not initialized as expected by {choice!r}.'
                ):
                    self._check_initializer(i, chosen)

    def _check_initializer(self, i, chosen):
        link = self._create_link(
            tuple(c.argument_value if isinstance(c, InitializerArgument) else c for c in chosen)
        )
        param = self._params(link)[i]
        if not param.is_initialized:
            self._output_templates(
                self._generate('generate_inputs'), lambda xs: self._forward(link, xs)
            )
        self._error.check(param.is_initialized, 'It has no values after forward().')
        expected = chosen[i]
        if isinstance(expected, InitializerArgument):
            expected = expected.expected_initializer
        if expected is not None:
            self._check_values(backend.CpuDevice().send(param.array), expected)

    def _check_values(self, actual, expected):
        initializer = initializers.get_initializer(expected)
        first, second = numpy.empty((2,) + actual.shape, actual.dtype)
        initializer(first)
        initializer(second)
        if numpy.array_equal(first, second):
            assert_allclose(actual, first, **self.check_initializers_options)
        else:
            self._check_random(actual, first)

    def _check_random(self, actual, sample):
        # Both are samples, so only a gross difference of scale or place is certain.
        spread = max(float(sample.std()), 1e-8)
        self._error.check(
            abs(float(actual.mean()) - float(sample.mean())) <= 4 * spread,
            f'mean is {actual.mean()}, expected about {sample.mean()}',
        )
        if actual.size >= 10:
            self._error.check(
                spread / 4 <= float(actual.std()) <= spread * 4,
                f'standard deviation is {actual.std()}, expected about {spread}',
            )
