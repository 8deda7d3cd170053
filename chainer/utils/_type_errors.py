"""Errors of inputs whose types a function does not take.

:mod:`chainer.utils.type_check` is the public module.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy

# The mode of a thread, and the function whose inputs it checks.
_thread_local = threading.local()


class InvalidType(ValueError, RuntimeError):
    """Raised when the inputs of a function do not meet its expectations.

    It is a :class:`ValueError`, which NumPy raises for shapes that do not fit: a handler of either
    works, whichever looks at the inputs first. It is a :class:`RuntimeError`, too, which the
    functions around softmax raised in its place in Chainer 7.

    Args:
        expect (str): Expectation.
        actual (str): Actual value.
        msg (str): Message. The default contains both and the name of the function.

    Attributes:
        expect (str): Expectation.
        actual (str): Actual value.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> try:
        ...     F.linear(np.zeros((2, 3), np.float32), np.zeros((4, 5), np.float32))
        ... except type_check.InvalidType as e:
        ...     print(e.expect, '|', e.actual)
        x.shape[1] == W.shape[1] | 3 != 5

    """

    __module__ = 'chainer.utils.type_check'

    def __init__(self, expect: str, actual: str, msg: str | None = None) -> None:
        if msg is None:
            msg = f'Expect: {expect}\nActual: {actual}'
            function = getattr(_thread_local, 'current_function', None)
            if function is not None:
                msg = f'\nInvalid operation is performed in: {function.label} (Forward)\n\n{msg}'
        super().__init__(msg)
        self.args: tuple[Any, ...] = (msg,)
        self.expect = expect
        self.actual = actual

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.expect, self.actual, self.args[0])


class InvalidAxis(InvalidType, numpy.exceptions.AxisError):
    """Raised when an input lacks an axis that a function needs.

    It is also NumPy's error for this, and so an :class:`IndexError`.

    .. admonition:: Example

        >>> try:
        ...     F.normalize(np.zeros(3, np.float32), axis=1)
        ... except IndexError as e:
        ...     print(e.expect, '|', e.actual)
        x.ndim > 1 | 1 <= 1

    """

    __module__ = 'chainer.utils.type_check'

    def __str__(self) -> str:
        return self.args[0]  # NumPy's error has its text elsewhere
