"""How a native path says that it does not take a call, and why."""

from __future__ import annotations

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

    def __init__(self, reason='arguments not supported'):
        self.reason = reason

    def __call__(self, reason):
        return FallbackType(reason)

    def __repr__(self):
        return 'Fallback' if self is Fallback else f'Fallback({self.reason!r})'

    def __reduce__(self):
        return 'Fallback' if self is Fallback else (FallbackType, (self.reason,))


Fallback = FallbackType()
#: Answer of functions that ChainerX has nothing for.
NO_NATIVE_PATH = Fallback('no native path')
