"""How a native path says that it does not take a call, and why."""

from __future__ import annotations

from typing import Any

import chainerx

#: Errors that wrong arguments raise. An engine that meets one lets the path below explain it, in
#: the words of Chainer; every other error is a defect and propagates.
ARGUMENT_ERRORS: tuple[type[Exception], ...] = (TypeError, ValueError, IndexError)
if chainerx.is_available():
    ARGUMENT_ERRORS += (chainerx.ChainerxError,)


class FallbackType:
    """Answer of ``forward_chainerx`` that asks for NumPy or CuPy.

    ``Fallback(reason)`` says what the native path does not take, ``Fallback`` alone gives no
    reason.

    Args:
        reason (str): What the native path does not take, in a few words.

    """

    __slots__ = ('reason',)

    def __init__(self, reason: str = 'arguments not supported') -> None:
        self.reason: str = reason

    def __call__(self, reason: str) -> FallbackType:
        return FallbackType(reason)

    def __repr__(self) -> str:
        return 'Fallback' if self is Fallback else f'Fallback({self.reason!r})'

    def __reduce__(self) -> str | tuple[Any, ...]:
        return 'Fallback' if self is Fallback else (FallbackType, (self.reason,))


Fallback: FallbackType = FallbackType()
#: Answer of functions that ChainerX has nothing for.
NO_NATIVE_PATH: FallbackType = Fallback('no native path')
