"""How a native path declines a call, and why."""

from __future__ import annotations

from typing import Any

import chainerx

#: Errors of wrong arguments. An engine that meets one lets the path below explain it in Chainer's
#: words; every other error is a defect and propagates.
ARGUMENT_ERRORS: tuple[type[Exception], ...] = (TypeError, ValueError, IndexError)
if chainerx.is_available():
    ARGUMENT_ERRORS += (chainerx.ChainerxError,)


class FallbackType:
    """Answer of ``forward_chainerx`` that asks for NumPy or CuPy.

    ``Fallback(reason)`` tells what the native path does not support, ``Fallback`` alone gives no
    reason.

    Args:
        reason (str): What the native path does not support, in a few words.

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
#: Answer of functions that ChainerX does not support.
NO_NATIVE_PATH: FallbackType = Fallback('no native path')
