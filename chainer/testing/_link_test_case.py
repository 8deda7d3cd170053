"""Test of a link: values and gradients."""

from __future__ import annotations

import unittest
from typing import TYPE_CHECKING, Any

import numpy

from chainer import gradient_check
from chainer._core.names.set_module import set_module
from chainer.link import Link
from chainer.testing._function_link_base import _TestBase, _TestError
from chainer.variable import Parameter

if TYPE_CHECKING:
    from chainer.backend import Device
    from chainer.link import Link
    from chainer.testing.backend import BackendConfig
    from chainer.variable import Variable


@set_module('chainer.testing.function_link')
class LinkTestError(_TestError):
    """Failure of a :class:`LinkTestCase` or :class:`LinkInitializersTestCase`.

    .. admonition:: Example

        >>> from chainer import testing
        >>> issubclass(testing.LinkTestError, AssertionError)
        True

    """


class LinkTestBase(_TestBase):
    param_names: tuple[str, ...] = ()
    _error = LinkTestError

    def generate_params(self) -> tuple[Any, ...]:
        """Draws initializers for :meth:`create_link`; by default none.

        Override this if the link has parameters to test.

        Returns:
            tuple: Initializers or arrays, in the order in which :meth:`create_link` takes them:
            usually that of ``param_names``, which need not name all parameters.
        """
        return ()

    def generate_inputs(self) -> tuple[numpy.ndarray, ...]:
        """Draws the inputs. Override this.

        Returns:
            tuple of numpy.ndarray: Inputs.
        """
        raise NotImplementedError('generate_inputs() is not implemented.')

    def create_link(self, initializers: Any) -> Link:
        """Makes the link. Override this.

        Args:
            initializers (tuple): Results of :meth:`generate_params`, or in a
                :class:`LinkInitializersTestCase` one initializer for each of ``param_names``.

        Returns:
            chainer.Link: The link.
        """
        raise NotImplementedError('create_link() is not implemented.')

    def forward(
        self, link: Link, inputs: tuple[Variable, ...], device: Device
    ) -> tuple[Variable, ...]:
        """Applies the link, by default by calling it with the inputs.

        Args:
            link (chainer.Link): Link, on the device.
            inputs (tuple of chainer.Variable): Inputs, on the device.
            device (chainer.backend.Device): Device of the test.

        Returns:
            tuple of chainer.Variable: Outputs.
        """
        outputs = link(*inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def _create_link(self, initializers):
        link = self.create_link(initializers)
        self._error.check(
            isinstance(link, Link),
            f'create_link() must return a link, actual: {type(link)}',
        )
        link.to_device(self.backend_config.device)
        return link

    def _params(self, link):
        params = []
        for name in self.param_names:
            target = link
            for part in name.split('.'):
                target = getattr(target, part)
            self._error.check(
                isinstance(target, Parameter),
                f'{name} of the link is not a parameter: {type(target)}',
            )
            params.append(target)
        return params

    def _initial_values(self):
        values = self.generate_params()
        self._error.check(
            isinstance(values, tuple),
            f'generate_params() must return a tuple, actual: {type(values)}',
        )
        return values

    def _forward(self, link, inputs):
        outputs = self.forward(link, tuple(inputs), self.backend_config.device)
        self._check_outputs(outputs, 'forward()')
        return outputs


@set_module('chainer.testing.function_link')
class LinkTestCase(LinkTestBase, unittest.TestCase):
    """Test of a link: values and gradients of inputs and parameters.

    A subclass names its parameters in ``param_names``, overrides :meth:`generate_params`,
    :meth:`generate_inputs`, :meth:`create_link` and :meth:`forward_expected`, and is decorated
    with :func:`~chainer.testing.inject_backend_tests`.

    Attributes:
        param_names (tuple of str): Names of the link's parameters to check gradients of. Names of
            parameters of child links contain dots.
        check_forward_options (dict): Keyword arguments of
            :func:`~chainer.testing.assert_allclose` in the forward test.
        check_backward_options (dict): Keyword arguments of
            :func:`chainer.gradient_check.check_backward`.
        skip_forward_test (bool): Skips the forward test.
        skip_backward_test (bool): Skips the backward test.
        dodge_nondifferentiable (bool): Draws new inputs and parameters if the derivative
            does not exist at the current ones.
        numerical_grad_dtype: Dtype to compute the numerical gradients in.
        contiguous (None or 'C'): Layout of inputs and gradients; ``None`` makes them
            non-contiguous, ``'C'`` contiguous.

    .. admonition:: Example

       >>> import chainer.links as L
       >>> from chainer import testing
       >>> @testing.inject_backend_tests(None, [{}, {'use_cuda': True}])
       ... class TestLinear(testing.LinkTestCase):
       ...     param_names = ('W', 'b')
       ...     def generate_params(self):
       ...         return (np.random.uniform(-1, 1, (2, 3)).astype('float32'),
       ...                 np.random.uniform(-1, 1, 2).astype('float32'))
       ...     def generate_inputs(self):
       ...         return np.random.uniform(-1, 1, (4, 3)).astype('float32'),
       ...     def create_link(self, initializers):
       ...         W, b = initializers
       ...         return L.Linear(3, 2, initialW=W, initial_bias=b)
       ...     def forward_expected(self, link, inputs):
       ...         x, = inputs
       ...         return x.dot(link.W.array.T) + link.b.array,

    """

    check_forward_options = None
    check_backward_options = None
    skip_forward_test = False
    skip_backward_test = False
    dodge_nondifferentiable = False
    numerical_grad_dtype = numpy.float64

    _options = ('check_forward_options', 'check_backward_options')

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    def forward_expected(
        self, link: Link, inputs: tuple[numpy.ndarray, ...]
    ) -> tuple[numpy.ndarray, ...]:
        """Computes the expected outputs. Override this.

        Args:
            link (chainer.Link): Link with the same parameters, on the CPU.
            inputs (tuple of numpy.ndarray): Inputs.

        Returns:
            tuple of numpy.ndarray: Expected outputs, of the expected dtypes.
        """
        raise NotImplementedError('forward_expected() is not implemented.')

    def _draw(self):
        """Draws inputs and makes a link with initialized parameters."""
        inputs = self._generate('generate_inputs')
        link = self._create_link(self._initial_values())
        if any(not p.is_initialized for p in link.params()):
            self._output_templates(inputs, lambda xs: self._forward(link, xs))
        return inputs, link

    def test_forward(self, backend_config: BackendConfig) -> None:
        """Tests the values."""
        self._start('test_forward', backend_config)
        inputs, link = self._draw()
        cpu_link = link.copy(mode='copy')
        cpu_link.to_device('@numpy')
        expected = self._generate('forward_expected', cpu_link, tuple(a.copy() for a in inputs))
        self._check_forward(inputs, lambda xs: self._forward(link, xs), expected)

    def test_backward(self, backend_config: BackendConfig) -> None:
        """Tests the gradients."""
        self._start('test_backward', backend_config)

        def check():
            inputs, link = self._draw()
            params = self._params(link)
            templates = self._output_templates(inputs, lambda xs: self._forward(link, xs))
            grad_outputs = self._generate_like('generate_grad_outputs', templates)
            with self.backend_config:
                gradient_check._check_link_backward(
                    link,
                    lambda *xs: self._forward(link, xs),
                    tuple(self._send(inputs)),
                    tuple(self._send(grad_outputs)),
                    params=tuple(params),
                    **self._gradient_options(self.check_backward_options),
                )

        self._run_gradient_check(check)
