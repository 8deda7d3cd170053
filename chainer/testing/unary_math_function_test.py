from __future__ import annotations

import unittest
from typing import TYPE_CHECKING, Any

import numpy

from chainer.testing import attr, backend, function_link, parameterized
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.backend import Device
    from chainer.testing.backend import BackendConfig
    from chainer.variable import Variable


def is_available() -> bool:
    """Returns whether test generation is available, i.e. whether pytest is installed.

    Returns:
        bool: Whether they can.

    .. admonition:: Example

        >>> from chainer.testing import unary_math_function_test
        >>> unary_math_function_test.is_available()
        True

    """
    return attr.is_available()


def check_available() -> None:
    """Raises an error unless pytest is installed.

    Raises:
        RuntimeError: If it is not installed.

    .. admonition:: Example

        >>> from chainer.testing import unary_math_function_test
        >>> unary_math_function_test.check_available()

    """
    attr.check_available()


def _default_expected(func):
    name = getattr(func, '__name__', type(func).__name__.lower())
    expected = getattr(numpy, name, None)
    if expected is None:
        raise ValueError(f"NumPy has no functions corresponding to Chainer function '{name}'.")
    return expected


def _default_make_data(shape, dtype):
    x, gy, ggx = (numpy.random.uniform(-1, 1, shape).astype(dtype) for _ in range(3))
    return x, gy, ggx


_PARAMETERS = {
    'shape': [(3, 2), ()],
    'dtype': [numpy.float16, numpy.float32, numpy.float64],
}

# Suffixes of the names of the tests.
_CONFIGS: dict[str, dict[str, Any]] = {
    'cpu': {},
    'gpu': {'use_cuda': True},
    'chainerx_native': {'use_chainerx': True, 'chainerx_device': 'native:0'},
    'chainerx_cuda': {'use_chainerx': True, 'chainerx_device': 'cuda:0'},
}


class _UnaryTest(function_link.FunctionTestBase):
    """Checks of one function for a parameterized shape and dtype.

    Attributes:
        x, gy, ggx (numpy.ndarray): Input, gradient of the output, gradient of the input's gradient.
    """

    shape: Any = None
    dtype: Any = None
    is_linear = False
    # What `unary_math_function_unittest` gives.
    func: Callable[..., Any]
    func_expected: Callable[..., Any]
    make_data: Callable[..., Any]
    label_expected: str
    given_options: tuple[dict[str, Any] | None, ...]

    def setUp(self) -> None:
        case: Any = super()  # unittest.TestCase comes later in the order of inheritance
        case.setUp()
        tolerances = (1e-3, 1e-2, 1e-2) if self.dtype == numpy.float16 else (1e-4, 1e-4, 1e-4)
        for name, tolerance, given in zip(self._options, tolerances, self.given_options):
            getattr(self, name).update(atol=tolerance, rtol=tolerance)
            getattr(self, name).update(given or {})
        data = tuple(self.make_data(self.shape, self.dtype))
        if len(data) == 2:
            ggx: Any = numpy.random.uniform(-1, 1, self.shape)
            data += (ggx.astype(self.dtype),)
        self.x, self.gy, self.ggx = data

    def generate_inputs(self) -> tuple[numpy.ndarray, ...]:
        return (self.x,)

    def generate_grad_outputs(self, outputs_template: Any) -> tuple[Any, ...]:
        return (self.gy,)

    def generate_grad_grad_inputs(self, inputs_template: Any) -> tuple[Any, ...]:
        return (self.ggx,)

    def forward(self, inputs: tuple[Variable, ...], device: Device) -> tuple[Variable, ...]:
        return (self.func(*inputs),)

    def forward_expected(self, inputs: tuple[numpy.ndarray, ...]) -> tuple[numpy.ndarray, ...]:
        return (numpy.asarray(self.func_expected(*inputs), dtype=self.dtype),)

    def run_test_double_backward(self, backend_config: BackendConfig) -> None:
        if self.is_linear:
            # The second derivative of the function itself is zero.
            func = self.func

            def square(x: Variable) -> Variable:
                return func(x) ** 2

            self.func = square
        super().run_test_double_backward(backend_config)

    def run_test_label(self, backend_config: BackendConfig) -> None:
        not_used: Any = None  # the device
        (y,) = self.forward((Variable(backend_config.get_array(self.x)),), not_used)
        creator: Any = y.creator
        label = creator.label
        assert label == self.label_expected, f'label is {label!r}, expected {self.label_expected!r}'


def _make_tests():
    for kind in ('forward', 'backward', 'double_backward', 'label'):
        for suffix, params in _CONFIGS.items():
            # ChainerX records the graph itself, without labels.
            if not (kind == 'label' and params.get('use_chainerx')):
                yield _make_test(kind, f'test_{kind}_{suffix}', backend.BackendConfig(params))


def _make_test(kind, name, backend_config):
    def test(self, backend_config):
        getattr(self, f'run_test_{kind}')(backend_config)

    test.__name__ = name
    return backend._bind_config(test, backend_config)


def unary_math_function_unittest(
    func: Callable[..., Any],
    func_expected: Callable[..., Any] | None = None,
    label_expected: str | None = None,
    make_data: Callable[..., Any] | None = None,
    is_linear: bool | None = None,
    forward_options: dict[str, Any] | None = None,
    backward_options: dict[str, Any] | None = None,
    double_backward_options: dict[str, Any] | None = None,
) -> Callable[..., Any]:
    """Makes a class decorator that adds tests of an elementwise function of one argument.

    For arrays of two shapes in float16, float32 and float64 on all devices, the tests compare
    values with a reference and check gradients and double gradients numerically. They also check
    the label of the graph node. Their names are ``test_forward_cpu``, ``test_backward_gpu``,
    ``test_double_backward_chainerx_native``, ``test_label_cpu`` and so on.

    Args:
        func (callable): Function to test, of :mod:`chainer.functions` or the like.
        func_expected (callable): The same on NumPy arrays. By default NumPy's function of the
            same name.
        label_expected (str): Label of the graph node. By default the name of ``func``.
        make_data (callable): Function of shape and dtype that returns an input, a gradient of
            the output and a gradient of the input's gradient. The default draws them uniformly
            from -1 to 1, also the third if the function returns only the first two.
        is_linear (bool): Whether the function is linear. The test of double gradients then squares
            its output, because the second derivative is zero otherwise.
        forward_options (dict): Tolerances of :func:`~chainer.testing.assert_allclose`.
        backward_options (dict): Keyword arguments of
            :func:`chainer.gradient_check.check_backward`.
        double_backward_options (dict): Keyword arguments of
            :func:`chainer.gradient_check.check_double_backward`.

    Returns:
        A decorator of test classes.

    Raises:
        ValueError: If NumPy has no function of that name and ``func_expected`` is not given.

    .. admonition:: Example

       >>> import unittest
       >>> import chainer.functions as F
       >>> from chainer import testing
       >>> @testing.unary_math_function_unittest(F.sin)
       ... class TestSin(unittest.TestCase):
       ...     pass

    """
    check_available()
    if func_expected is None:
        func_expected = _default_expected(func)
    if label_expected is None:
        label_expected = getattr(func, '__name__', type(func).__name__.lower())
    members = {
        'func': staticmethod(func),
        'func_expected': staticmethod(func_expected),
        'label_expected': label_expected,
        'make_data': staticmethod(make_data or _default_make_data),
        'is_linear': is_linear,
        'given_options': (forward_options, backward_options, double_backward_options),
    }
    members.update((test.__name__, test) for test in _make_tests())

    def decorate(cls):
        bases: tuple[type, ...] = (_UnaryTest, cls)
        if not issubclass(cls, unittest.TestCase):
            bases += (unittest.TestCase,)
        case = type(cls.__name__, bases, {'__module__': cls.__module__, **members})
        return parameterized.parameterize(*parameterized.product(_PARAMETERS))(case)

    return decorate
