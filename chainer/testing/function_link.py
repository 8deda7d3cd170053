"""Test cases of functions and links, described by a few methods."""

from __future__ import annotations

import unittest
from typing import TYPE_CHECKING, Any

import numpy

from chainer import gradient_check
from chainer.testing._function_link_base import _TestBase, _TestError, _uniform_like
from chainer.testing._link_initializers import (
    InitializerArgument as InitializerArgument,
    LinkInitializersTestCase as LinkInitializersTestCase,
)
from chainer.testing._link_test_case import (
    LinkTestCase as LinkTestCase,
    LinkTestError as LinkTestError,
)

if TYPE_CHECKING:
    from chainer.backend import Device
    from chainer.testing.backend import BackendConfig
    from chainer.variable import Variable


class FunctionTestError(_TestError):
    """Failure of a :class:`FunctionTestCase`.

    .. admonition:: Example

        >>> from chainer import testing
        >>> issubclass(testing.FunctionTestError, AssertionError)
        True

    """


class FunctionTestBase(_TestBase):
    """Base of function tests without :class:`unittest.TestCase`. See :class:`FunctionTestCase`.

    .. admonition:: Example

        >>> import unittest
        >>> from chainer import testing
        >>> from chainer.testing import function_link
        >>> class TestExp(function_link.FunctionTestBase, unittest.TestCase):
        ...     def generate_inputs(self):
        ...         return np.zeros(3, np.float32),
        ...     def forward(self, inputs, device):
        ...         return F.exp(*inputs),
        ...     def forward_expected(self, inputs):
        ...         return np.ones(3, np.float32),
        ...     def test_on_numpy(self):
        ...         self.run_test_forward(testing.BackendConfig({}))
        >>> TestExp('test_on_numpy').run().wasSuccessful()
        True

    """

    check_forward_options: Any = None
    check_backward_options: Any = None
    check_double_backward_options: Any = None
    skip_forward_test = False
    skip_backward_test = False
    skip_double_backward_test = False
    dodge_nondifferentiable = False
    numerical_grad_dtype = numpy.float64

    _error = FunctionTestError
    _options = ('check_forward_options', 'check_backward_options', 'check_double_backward_options')

    def forward(self, inputs: tuple[Variable, ...], device: Device) -> tuple[Variable, ...]:
        """Computes the tested function. Override this.

        Args:
            inputs (tuple of chainer.Variable): Inputs, on the device.
            device (chainer.backend.Device): Device of the test.

        Returns:
            tuple of chainer.Variable: Outputs.
        """
        raise NotImplementedError('forward() is not implemented.')

    def forward_expected(self, inputs: tuple[numpy.ndarray, ...]) -> tuple[numpy.ndarray, ...]:
        """Computes the expected outputs. Override this.

        Args:
            inputs (tuple of numpy.ndarray): Inputs.

        Returns:
            tuple of numpy.ndarray: Expected outputs, of the expected dtypes.
        """
        raise NotImplementedError('forward_expected() is not implemented.')

    def generate_inputs(self) -> tuple[numpy.ndarray, ...]:
        """Draws the inputs. Override this.

        Returns:
            tuple of numpy.ndarray: Inputs.
        """
        raise NotImplementedError('generate_inputs() is not implemented.')

    def generate_grad_grad_inputs(
        self, inputs_template: tuple[numpy.ndarray, ...]
    ) -> tuple[numpy.ndarray, ...]:
        """Draws gradients of the inputs' gradients, by default uniformly from -1 to 1.

        Args:
            inputs_template (tuple of numpy.ndarray): Arrays of the inputs' shapes and dtypes.

        Returns:
            tuple of numpy.ndarray: Gradients; ``None`` means no gradient.
        """
        return _uniform_like(inputs_template)

    def _forward(self, inputs):
        outputs = self.forward(tuple(inputs), self.backend_config.device)
        self._check_outputs(outputs, 'forward()')
        return outputs

    def run_test_forward(self, backend_config: BackendConfig) -> None:
        """Compares ``forward`` with ``forward_expected`` on a :class:`BackendConfig`."""
        self._start('test_forward', backend_config)
        inputs = self._generate('generate_inputs')
        expected = self._generate('forward_expected', tuple(a.copy() for a in inputs))
        self._check_forward(inputs, self._forward, expected)

    def run_test_backward(self, backend_config: BackendConfig) -> None:
        """Checks the gradients numerically on a :class:`BackendConfig`."""
        self._start('test_backward', backend_config)

        def check():
            inputs = self._generate('generate_inputs')
            templates = self._output_templates(inputs, self._forward)
            grad_outputs = self._generate_like('generate_grad_outputs', templates)
            with self.backend_config:
                gradient_check.check_backward(
                    lambda *xs: self._forward(xs),
                    tuple(self._send(inputs)),
                    tuple(self._send(grad_outputs)),
                    **self._gradient_options(self.check_backward_options),
                )

        self._run_gradient_check(check)

    def run_test_double_backward(self, backend_config: BackendConfig) -> None:
        """Checks the gradients of the gradients numerically on a :class:`BackendConfig`."""
        self._start('test_double_backward', backend_config)

        def check():
            inputs = self._generate('generate_inputs')
            templates = self._output_templates(inputs, self._forward)
            grad_outputs = self._generate_like('generate_grad_outputs', templates)
            grad_grad_inputs = self._generate_like('generate_grad_grad_inputs', inputs)
            with self.backend_config:
                gradient_check.check_double_backward(
                    lambda *xs: self._forward(xs),
                    tuple(self._send(inputs)),
                    tuple(self._send(grad_outputs)),
                    tuple(self._send(grad_grad_inputs)),
                    **self._gradient_options(self.check_double_backward_options),
                )

        self._run_gradient_check(check)


class FunctionTestCase(FunctionTestBase, unittest.TestCase):
    """Test of a function: values, gradients and gradients of gradients.

    A subclass overrides :meth:`generate_inputs`, :meth:`forward` and :meth:`forward_expected`.
    Decorate it with :func:`~chainer.testing.inject_backend_tests`, which supplies the
    configurations to test on.

    Attributes:
        check_forward_options (dict): Keyword arguments of
            :func:`~chainer.testing.assert_allclose` in the forward test.
        check_backward_options (dict): Keyword arguments of
            :func:`chainer.gradient_check.check_backward`.
        check_double_backward_options (dict): Keyword arguments of
            :func:`chainer.gradient_check.check_double_backward`.
        skip_forward_test (bool): Skips the forward test.
        skip_backward_test (bool): Skips the backward test.
        skip_double_backward_test (bool): Skips the double backward test.
        dodge_nondifferentiable (bool): Draws new inputs if the derivative does not
            exist at the current ones.
        numerical_grad_dtype: Dtype to compute the numerical gradients in.
        contiguous (None or 'C'): Layout of inputs and gradients; ``None`` makes them
            non-contiguous, ``'C'`` contiguous.

    .. admonition:: Example

       >>> import chainer.functions as F
       >>> from chainer import testing
       >>> @testing.inject_backend_tests(None, [{}, {'use_cuda': True}])
       ... class TestExp(testing.FunctionTestCase):
       ...     def generate_inputs(self):
       ...         return np.random.uniform(-1, 1, (2, 3)).astype('float32'),
       ...     def forward(self, inputs, device):
       ...         return F.exp(*inputs),
       ...     def forward_expected(self, inputs):
       ...         return np.exp(*inputs),

    """

    def test_forward(self, backend_config: BackendConfig) -> None:
        """Tests the values."""
        self.run_test_forward(backend_config)

    def test_backward(self, backend_config: BackendConfig) -> None:
        """Tests the gradients."""
        self.run_test_backward(backend_config)

    def test_double_backward(self, backend_config: BackendConfig) -> None:
        """Tests the gradients of the gradients."""
        self.run_test_double_backward(backend_config)
