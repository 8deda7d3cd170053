"""Test cases of functions and links, described by a few methods."""

from __future__ import annotations

import unittest
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, gradient_check, initializers
from chainer.link import Link
from chainer.testing._function_link_base import _TestBase, _TestError, _uniform_like
from chainer.testing.array import assert_allclose
from chainer.variable import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.backend import Device
    from chainer.link import Link
    from chainer.testing.backend import BackendConfig
    from chainer.variable import Variable


class FunctionTestError(_TestError):
    """Failure of a :class:`FunctionTestCase`.

    .. admonition:: Example

        >>> from chainer import testing
        >>> issubclass(testing.FunctionTestError, AssertionError)
        True

    """


class LinkTestError(_TestError):
    """Failure of a :class:`LinkTestCase` or :class:`LinkInitializersTestCase`.

    .. admonition:: Example

        >>> from chainer import testing
        >>> issubclass(testing.LinkTestError, AssertionError)
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
        initializers._get_initializer(expected_initializer)  # raises unless it can be one
        self.argument_value = argument_value
        self.expected_initializer = expected_initializer


class _LinkTestBase(_TestBase):
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


class LinkTestCase(_LinkTestBase, unittest.TestCase):
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


class LinkInitializersTestCase(_LinkTestBase, unittest.TestCase):
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

    check_initializers_options = None
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
        if expected is None:
            return
        actual = backend.CpuDevice().send(param.array)
        initializer = initializers._get_initializer(expected)
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
