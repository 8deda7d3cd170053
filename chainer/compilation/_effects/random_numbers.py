"""Random numbers that NumPy or CuPy draws; those of ChainerX are calls of kernels."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy

from chainer.compilation._effects.effect import Effect, Observer
from chainer.compilation._trace import GraphBreak

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._effects.draft import Draft

_REASON = 'random numbers of NumPy or Python are drawn'


class Draw(Effect):
    """An array of random numbers, of which each run resamples its own."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def draw(self) -> Any:
        return self._make()


class RandomNumbers(Observer):
    """Resamples what functions of this package draw; the program itself must draw nothing.

    Args:
        recorder: Is told of draws that no run can repeat.
        updates_draw: Tells whether updates so far may draw, too.

    """

    def __init__(self, recorder: Any, updates_draw: Callable[[], bool]) -> None:
        self._recorder = recorder
        self._updates_draw = updates_draw
        self._state: Any = None
        self._draws: list[tuple[Any, Draw]] = []

    def start(self) -> None:
        self._state = _state_of_generators()

    def draw(self, make: Callable[[], Any]) -> Any:
        """Draws an array."""
        # Runs draw before their first segment. If an update of before draws too, the order would be
        # another one.
        if self._updates_draw():
            self._recorder.note('random numbers are drawn after an update that may draw some')
        array = make()
        self._draws.append((array, Draw(make)))
        return array

    def note(self) -> None:
        if self._state != _state_of_generators():
            self._recorder.note(_REASON)

    def renew(self) -> None:
        self._state = _state_of_generators()

    def check(self) -> None:
        # The numbers are constants of the plan now, wherever they went.
        if self._state != _state_of_generators():
            raise GraphBreak(_REASON)

    def finish(self, draft: Draft) -> None:
        for array, draw in self._draws:
            draft.inputs.append(array)
            draft.effects.append(draw)


def _state_of_generators() -> Any:
    state: Any = numpy.random.get_state()
    kind, keys, *rest = state
    return kind, keys.tobytes(), rest, random.getstate()
