"""Arrays that the program draws by ``numpy.random`` and sends to ChainerX at once.

While a call is recorded, other functions take the place of those of ``numpy.random``, for threads
that record. They tell the recording what is drawn; the recorder tells it which data come to
ChainerX. Both are the same if code shows that nothing happened in between.
"""

from __future__ import annotations

import functools
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

import chainerx
from chainer import backend
from chainer._core.engines import plan_data
from chainer.compilation import _flow
from chainer.compilation._kinds.functions import DRAWS
from chainer.compilation._trace import is_program_code
from chainer.compilation._trees import is_constant

if TYPE_CHECKING:
    import types
    from collections.abc import Callable

_FUNCTIONS: dict[str, Any] = {name: getattr(numpy.random, name) for name in sorted(DRAWS)}
#: Functions that do nothing with an array of NumPy but to make one of ChainerX.
_SENDERS: tuple[Any, ...] = (chainerx.array, chainerx.asarray) if chainerx.is_available() else ()
_SENDING_CODES = {backend.Device.send.__code__, backend.Device.send_array.__code__}
_SENDING_CODES |= {backend.ChainerxDevice.send_array.__code__, backend.to_chx.__code__}


class DrawnArray(NamedTuple):
    """An array that was drawn, and the place where it goes.

    Attributes:
        function: The function of NumPy.
        args: Its arguments, which cannot change.
        kwargs: Those with names.
        values: The array.
        frame: The frame that called the function.
        taker: The number of the instruction that takes the array from the stack, or ``None``.

    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    values: Any
    frame: types.FrameType
    taker: int | None

    def is_sent_as(self, array: Any) -> bool:
        """Tells whether an array of ChainerX has the same numbers."""
        sent = chainerx.to_numpy(array, copy=False)
        # Bit by bit: between the draw and the device only dtypes may have changed.
        values = self.values.astype(sent.dtype)
        # `astype` may have been asked for another order of elements, which runs would not have.
        is_in_order = sent.flags.c_contiguous and values.shape == sent.shape
        return bool(is_in_order and values.tobytes() == sent.tobytes())

    def maker(self, array: Any) -> Callable[[], Any]:
        """Returns a function that draws an array of ChainerX of the same form."""
        # Without the frame, which keeps all variables of the program alive.
        function, args, kwargs = self.function, self.args, self.kwargs
        dtype, device = numpy.dtype(array.dtype), array.device
        return lambda: chainerx.array(function(*args, **kwargs).astype(dtype), device=device)


def taker_of(
    frame: types.FrameType, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> int | None:
    """Returns the instruction that takes what a call of ``numpy.random`` in a frame draws."""
    code = frame.f_code
    call = _flow.call_at(code, frame.f_lasti)
    if (
        is_program_code(code)
        and _are_constant([*args, *kwargs.values()])
        and _flow.is_call_of(code, call, name)
    ):
        return _flow.find_consumer(code, call)
    return None


def _are_constant(values: Any) -> bool:
    return all(
        is_constant(value)
        or isinstance(value, type | numpy.dtype)
        or (type(value) is tuple and _are_constant(value))
        for value in values
    )


def sending_frame(last_builtin: Any) -> types.FrameType | None:
    """Returns the frame of the program that sends data to ChainerX now.

    ``None`` if what it has called may do more with the data.
    """
    frame: Any = sys._getframe(1)
    recording = frame.f_code.co_filename
    entry = None
    while frame is not None and not is_program_code(frame.f_code):
        # The innermost frames are those of the recording, which C++ has called.
        if entry is not None or frame.f_code.co_filename != recording:
            entry = frame
        frame = frame.f_back
    if entry is None:
        return frame if last_builtin in _SENDERS else None
    return frame if entry.f_code in _SENDING_CODES else None


class _Replaced:
    """Replaces the functions of ``numpy.random`` while any thread records."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    def start(self) -> None:
        with self._lock:
            self._count += 1
            for name, function in _FUNCTIONS.items():
                # A program may have replaced it, too.
                if getattr(numpy.random, name) is function:
                    setattr(numpy.random, name, _REPLACEMENTS[name])

    def stop(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count:
                return
            for name, function in _FUNCTIONS.items():
                if getattr(numpy.random, name) is _REPLACEMENTS[name]:
                    setattr(numpy.random, name, function)


def _replacement(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def draw(*args: Any, **kwargs: Any) -> Any:
        recording = plan_data.local.recording
        if recording is None:
            return function(*args, **kwargs)
        return recording.draw_by_numpy(function, args, kwargs, sys._getframe(1))

    return draw


_REPLACEMENTS = {name: _replacement(function) for name, function in _FUNCTIONS.items()}
replaced = _Replaced()
