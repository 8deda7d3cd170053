from __future__ import annotations

import unittest
from typing import TYPE_CHECKING, Any

import numpy

from chainer.testing import attr, backend, function_link, parameterized
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.backend import Device
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


class _UnaryTest(function_link.FunctionTestBase):
    """Checks of one function for a parameterized shape and dtype."""

    shape = dtype = None

    def setUp(self) -> None:
        super().setUp()
        low = self.dtype == numpy.float16
        for options, default, given in [
            (
                self.check_forward_options,
                (1e-3, 1e-3) if low else (1e-5, 1e-4),
                self.given_forward_options,
            ),
            (
                self.check_backward_options,
                (1e-2, 1e-2) if low else (1e-4, 1e-4),
                self.given_backward_options,
            ),
            (
                self.check_double_backward_options,
                (1e-2, 1e-2) if low else (1e-4, 1e-4),
                self.given_double_backward_options,
            ),
        ]:
            options['atol'], options['rtol'] = default
            options.update(given or {})
        self.skip_double_backward_test = bool(self.is_linear)
        self._data = self.make_data(self.shape, self.dtype)

    def generate_inputs(self) -> tuple[numpy.ndarray, ...]:
        return (self._data[0],)

    def generate_grad_outputs(self, outputs_template: Any) -> tuple[Any, ...]:
        return (self._data[1],)

    def generate_grad_grad_inputs(self, inputs_template: Any) -> tuple[Any, ...]:
        return (self._data[2],)

    def forward(self, inputs: tuple[Variable, ...], device: Device) -> tuple[Variable, ...]:
        return (self.func(*inputs),)

    def forward_expected(self, inputs: tuple[numpy.ndarray, ...]) -> tuple[numpy.ndarray, ...]:
        return (numpy.asarray(self.func_expected(*inputs), dtype=self.dtype),)


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
    the label of the graph node.

    Args:
        func (callable): Function to test, of :mod:`chainer.functions` or the like.
        func_expected (callable): The same on NumPy arrays. By default NumPy's function of the
            same name.
        label_expected (str): Label of the graph node. By default the name of ``func``.
        make_data (callable): Function of shape and dtype that returns an input, a gradient of
            the output and a gradient of the input's gradient. The default draws them uniformly
            from -1 to 1, also the third if the function returns only the first two.
        is_linear (bool): Whether to skip the second derivative, which is zero.
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
    make_data = make_data or _default_make_data

    def draw(shape, dtype):
        data = tuple(make_data(shape, dtype))
        if len(data) == 2:
            data += (numpy.random.uniform(-1, 1, shape).astype(dtype),)
        return data

    members = {
        'func': staticmethod(func),
        'func_expected': staticmethod(func_expected),
        'make_data': staticmethod(draw),
        'is_linear': is_linear,
        'given_forward_options': forward_options,
        'given_backward_options': backward_options,
        'given_double_backward_options': double_backward_options,
        'test_forward': lambda self, config: self.run_test_forward(config),
        'test_backward': lambda self, config: self.run_test_backward(config),
    }
    if not is_linear:
        members['test_double_backward'] = lambda self, config: self.run_test_double_backward(config)

    def test_label(self):
        (y,) = self.forward((Variable(self._data[0]),), None)
        assert y.creator.label == label_expected, (
            f'label is {y.creator.label!r}, expected {label_expected!r}'
        )

    members['test_label'] = test_label

    def decorate(cls):
        bases = (_UnaryTest, cls)
        if not issubclass(cls, unittest.TestCase):
            bases += (unittest.TestCase,)
        case = type(cls.__name__, bases, {'__module__': cls.__module__, **members})
        case = backend.inject_backend_tests(
            [name for name in members if name.startswith('test_') and name != 'test_label'],
            [
                {},
                {'use_cuda': True},
                {'use_chainerx': True},
                {'use_chainerx': True, 'chainerx_device': 'cuda:0'},
            ],
        )(case)
        return parameterized.parameterize(
            *parameterized.product(
                {
                    'shape': [(3, 2), ()],
                    'dtype': [numpy.float16, numpy.float32, numpy.float64],
                }
            )
        )(case)

    return decorate
