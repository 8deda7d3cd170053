"""Arguments that are arrays of NumPy, which the function only sends to ChainerX.

A run sends its own. Python can read an array of NumPy without a trace, so code has to show that
nothing else happens to it; the recorder tells which data come to ChainerX, and from which call.
"""

from __future__ import annotations

import builtins
import types
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer.compilation import _flow
from chainer.compilation._effects.effect import Effect, Observer
from chainer.compilation._trace import GraphBreak

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.draft import Draft

_ndarray = numpy.ndarray


class SentArgument(Effect):
    """An argument that a run sends to ChainerX.

    Args:
        number: Its number among the arrays of the arguments.
        send: Makes the array of ChainerX.

    """

    def __init__(self, number: int, send: Callable[[Any], Any]) -> None:
        self._number = number
        self._send = send

    def take(self, arrays: list[Any]) -> Any:
        return self._send(arrays[self._number])

    def describe(self, contents: Contents) -> None:
        contents.add_input(self._number)


class NumpyArguments(Observer):
    """Finds the arrays that a function makes of its arguments.

    Args:
        function: The function.
        args: Its arguments.
        kwargs: Those with names.
        arrays: The arrays among them, of NumPy and of ChainerX.

    Raises:
        GraphBreak: If the function may do something else with one.

    """

    def __init__(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], arrays: list[Any]
    ) -> None:
        self._values: dict[str, tuple[int, Any]] = {}  # by parameters: number, array
        #: The parameters that each call takes, by its number, and the arrays that it has made.
        self._senders: dict[int, list[str]] = {}
        self._sent: dict[int, list[Any]] = {}
        self._code: Any = None
        self._is_recursive = False
        if any([type(array) is _ndarray for array in arrays]):
            self._find_senders(function, args, kwargs, arrays)

    def _find_senders(self, function: Any, args: Any, kwargs: Any, arrays: list[Any]) -> None:
        if type(function) is types.MethodType:
            args = function.__self__, *args
            function = function.__func__
        if type(function) is not types.FunctionType:
            raise GraphBreak('an argument is an array of NumPy, and the function is not of Python')
        self._code = code = function.__code__
        given = {**dict(zip(code.co_varnames[: code.co_argcount], args)), **kwargs}
        names = {id(value): name for name, value in given.items() if type(value) is _ndarray}
        for number, array in enumerate(arrays):
            if type(array) is not _ndarray:
                continue
            name = names.pop(id(array), None)  # one that is given twice has no name the second time
            if name not in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                raise GraphBreak('an array of NumPy is in a container, or given twice')
            self._values[name] = number, array
        has_len = 'len' not in function.__globals__ and vars(builtins)['len'] is len
        senders = _flow.find_senders(code, tuple(self._values), has_len=has_len)
        if isinstance(senders, str):
            raise GraphBreak(self._reason(senders))
        self._senders = senders

    def note_sent(self, array: Any, frame: types.FrameType) -> None:
        """Notes data that a frame of the program sends to ChainerX now."""
        if frame.f_code is self._code:
            outer = frame.f_back
            while outer is not None:
                self._is_recursive |= outer.f_code is self._code
                outer = outer.f_back
            call = _flow.call_at(frame.f_code, frame.f_lasti)
            self._sent.setdefault(call, []).append(array)

    def check(self) -> None:
        if self._is_recursive:  # whose arguments may be others
            raise GraphBreak('the function sends an array of NumPy within a call of itself')
        for call, names in self._senders.items():
            # One that is not sent may be read, and one that code has beside it be sent instead.
            if len(self._sent.get(call, ())) != len(names):
                raise GraphBreak(self._reason(' and '.join(names)))

    def finish(self, draft: Draft) -> None:
        for call, names in self._senders.items():
            for name, array in zip(names, self._sent[call]):
                number, value = self._values[name]
                send = _sender_of(array)
                if not _are_same(send(value), array):
                    raise GraphBreak(self._reason(name))
                draft.effects.append(SentArgument(number, send))
                draft.inputs.append(array)

    def _reason(self, name: str) -> str:
        return (
            f'{name} of {self._code.co_name} is an array of NumPy, with which it may do something '
            'else than to send it to a device'
        )


def _sender_of(array: Any) -> Callable[[Any], Any]:
    """Returns a function that makes such an array of one of NumPy."""
    dtype, device = numpy.dtype(array.dtype), array.device
    return lambda value: chainerx.array(value.astype(dtype, copy=False), device=device)


def _are_same(a: Any, b: Any) -> bool:
    form = a.shape, a.strides, a.dtype, a.device
    if form != (b.shape, b.strides, b.dtype, b.device):
        return False
    first, second = [chainerx.to_numpy(array, copy=False).tobytes() for array in (a, b)]
    return first == second
