"""Code shared by the test cases of functions and links."""

from __future__ import annotations

import contextlib
import unittest
from typing import TYPE_CHECKING, Any, NoReturn

import numpy

from chainer import backend, gradient_check
from chainer._core.settings.half import FLOAT_KINDS
from chainer.function import no_backprop_mode
from chainer.testing.array import assert_allclose
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

# How often inputs are drawn again after meeting a nondifferentiable point.
_MAX_DODGES = 100


class _TestError(AssertionError):
    """Failure that names the step of the test."""

    @classmethod
    def check(cls, condition: object, message: str) -> None:
        if not condition:
            raise cls(message)

    @classmethod
    def fail(cls, message: str, exc: BaseException | None = None) -> NoReturn:
        if exc is not None:
            message = f'{message}\n\n{type(exc).__name__}: {exc}'
        raise cls(message) from exc

    @classmethod
    @contextlib.contextmanager
    def raise_if_fail(
        cls,
        message: str,
        error_types: type[BaseException] | tuple[type[BaseException], ...] = AssertionError,
    ) -> Iterator[None]:
        try:
            yield
        except error_types as e:
            cls.fail(message, e)


def _noncontiguous(x):
    """Returns a copy that is not C-contiguous, if the shape allows it."""
    wide = numpy.zeros(x.shape + (2,), x.dtype)
    wide[..., 0] = x
    return wide[..., 0]


class _TestBase:
    """Base of function and link tests: layouts, devices and checks of arrays.

    A test is a chain of steps. The error of a step names the user's method that it calls.
    """

    backend_config: Any = None
    contiguous = None
    _error = _TestError

    # Names of the attributes that hold keyword arguments of checks.
    _options: tuple[str, ...] = ()
    check_forward_options: Any
    numerical_grad_dtype: Any
    dodge_nondifferentiable: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self._options:  # own copies, for setUp to change
            setattr(self, name, dict(getattr(type(self), name) or {}))

    def before_test(self, test_name: str) -> None:
        """Called before each test with its name, such as ``'test_forward'``."""

    def _start(self, test_name, backend_config):
        if getattr(self, f'skip_{test_name[5:]}_test', False):
            raise unittest.SkipTest(f'skip_{test_name[5:]}_test is set')
        self.backend_config = backend_config
        self.test_name: str | None = test_name
        self.before_test(test_name)

    def _check_arrays(self, arrays, what, allow_none=False):
        check = self._error.check
        check(isinstance(arrays, tuple), f'{what} must be a tuple, actual: {type(arrays)}')
        types = (numpy.ndarray, numpy.generic) + ((type(None),) if allow_none else ())
        check(
            all(isinstance(a, types) for a in arrays),
            f'{what} must be NumPy arrays, actual: {[type(a) for a in arrays]}',
        )
        return tuple(a if a is None else numpy.asarray(a) for a in arrays)

    def _check_outputs(self, outputs, what):
        check = self._error.check
        check(isinstance(outputs, tuple), f'{what} must return a tuple, actual: {type(outputs)}')
        check(
            all(isinstance(y, Variable) for y in outputs),
            f'{what} must return variables, actual: {[type(y) for y in outputs]}',
        )

    def _generate(self, name, *args, allow_none=False):
        return self._check_arrays(getattr(self, name)(*args), f'{name}()', allow_none)

    def _generate_like(self, name, templates):
        arrays = self._generate(name, templates, allow_none=True)
        what = f'{name}()'
        self._error.check(
            len(arrays) == len(templates),
            f'{what} returned {len(arrays)} arrays, expected {len(templates)}',
        )
        for i, (a, t) in enumerate(zip(arrays, templates)):
            if a is not None and t is not None:
                self._error.check(
                    a.shape == t.shape,
                    f'{what} returned shape {a.shape} at {i}, expected {t.shape}',
                )
        return arrays

    def _send(self, arrays):
        """Converts NumPy arrays to the memory layout and the device of the test."""
        if self.contiguous == 'C':
            arrays = [a if a is None else numpy.array(a, order='C') for a in arrays]
        elif self.contiguous is None:
            arrays = [a if a is None else _noncontiguous(a) for a in arrays]
        else:
            raise ValueError(f"contiguous must be None or 'C', got {self.contiguous!r}")
        arrays = [self.backend_config.get_array(a) for a in arrays]
        if self.contiguous is None:  # transfers make arrays contiguous
            arrays = [a if a is None else _noncontiguous_on_device(a) for a in arrays]
        return arrays

    def _variables(self, arrays):
        return tuple(Variable(a, requires_grad=a.dtype.kind in FLOAT_KINDS) for a in arrays)

    def _check_forward(self, arrays, forward, outputs_expected):
        """Runs ``forward(variables)``, compares outputs and checks that inputs are unchanged."""
        error = self._error
        sent = self._send(arrays)
        with self.backend_config:
            outputs = forward(self._variables(sent))
        self._check_outputs(outputs, 'forward()')
        self._check_unchanged(arrays, sent)
        outputs = tuple(backend.CpuDevice().send(y.array) for y in outputs)
        message = f'forward() returned {len(outputs)} outputs, expected {len(outputs_expected)}'
        error.check(len(outputs) == len(outputs_expected), message)
        for name in 'shape', 'dtype':
            actual = [getattr(y, name) for y in outputs]
            expected = [getattr(y, name) for y in outputs_expected]
            message = f'{name}s of outputs do not match: actual {actual}, expected {expected}'
            error.check(actual == expected, message)
        with error.raise_if_fail('Outputs do not match the expected values.'):
            self.check_forward_outputs(outputs, outputs_expected)

    def _check_unchanged(self, arrays, sent):
        cpu = backend.CpuDevice()
        changed = [
            i
            for i, (a, b) in enumerate(zip(arrays, sent))
            if not numpy.array_equal(a, cpu.send(b), equal_nan=a.dtype.kind in 'fc')
        ]
        message = f'Input arrays have been modified during forward: {changed}'
        self._error.check(not changed, message)

    def check_forward_outputs(
        self, outputs: tuple[numpy.ndarray, ...], expected_outputs: tuple[numpy.ndarray, ...]
    ) -> None:
        """Compares output arrays with the expected ones, within ``check_forward_options``.

        Args:
            outputs (tuple of numpy.ndarray): Outputs.
            expected_outputs (tuple of numpy.ndarray): Expected outputs.
        """
        for y, expected in zip(outputs, expected_outputs):
            assert_allclose(y, expected, **self.check_forward_options)

    def _output_templates(self, arrays, forward):
        """Returns arrays like the outputs for the inputs."""
        with self.backend_config, no_backprop_mode():
            outputs = forward(self._variables(self._send(arrays)))
        self._check_outputs(outputs, 'forward()')
        return tuple(numpy.empty(y.shape, y.dtype) for y in outputs)

    def generate_grad_outputs(
        self, outputs_template: tuple[numpy.ndarray, ...]
    ) -> tuple[numpy.ndarray, ...]:
        """Draws gradients of the outputs, by default uniformly from -1 to 1.

        Args:
            outputs_template (tuple of numpy.ndarray): Arrays of the outputs' shapes and dtypes.

        Returns:
            tuple of numpy.ndarray: Gradients; ``None`` means no gradient.
        """
        return _uniform_like(outputs_template)

    def _gradient_options(self, options):
        """Keyword arguments of a gradient check: the test's own ones override the settings."""
        return {
            'dtype': self.numerical_grad_dtype,
            'detect_nondifferentiable': self.dodge_nondifferentiable,
            **options,
        }

    def _run_gradient_check(self, check):
        """Runs a check; redraws everything at points without a derivative."""
        for _ in range(_MAX_DODGES if self.dodge_nondifferentiable else 1):
            try:
                with self._error.raise_if_fail(f'{self.test_name} failed.'):
                    check()
                return
            except gradient_check.NondifferentiableError as e:
                last = e
        self._error.fail('No differentiable point was found.', last)


def _noncontiguous_on_device(a):
    if a.ndim == 0 or not hasattr(a, 'flags') or not a.flags.c_contiguous:
        return a
    if isinstance(a, numpy.ndarray):
        return a
    xp = backend.get_array_module(a)
    return xp.stack([a, a], axis=-1)[..., 0]


def _uniform_like(templates):
    return tuple(
        None if t is None else numpy.random.uniform(-1, 1, t.shape).astype(t.dtype)
        for t in templates
    )
