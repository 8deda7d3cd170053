"""Random numbers that NumPy or CuPy draws; those of ChainerX are calls of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer.compilation import _flow
from chainer.compilation._effects import numpy_draws
from chainer.compilation._effects.effect import Effect, Observer
from chainer.compilation._trace import GraphBreak

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Collection

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.draft import Draft
    from chainer.compilation._effects.numpy_draws import DrawnArray

_REASON = 'random numbers of NumPy are drawn'


class Draw(Effect):
    """An array of random numbers, of which each run resamples its own."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def draw(self) -> Any:
        return self._make()

    def describe(self, contents: Contents) -> None:
        raise ValueError('NumPy or CuPy draws its random numbers: chainerx.dropout draws its own')


class _Noted:
    """A draw of the recording.

    Attributes:
        make: Draws the array again, if it was made for ChainerX.
        drawn: What the program has drawn, if it was made by NumPy.
        array: The array in ChainerX, where it is known.

    """

    def __init__(
        self,
        make: Callable[[], Any] | None = None,
        drawn: DrawnArray | None = None,
        array: Any = None,
    ) -> None:
        self.make = make
        self.drawn = drawn
        self.array = array

    def is_taken_by(self, frame: types.FrameType) -> bool:
        """Tells whether the call that a frame is at takes what is drawn."""
        drawn = self.drawn
        return (
            drawn is not None
            and drawn.frame is frame
            and drawn.taker == _flow.call_at(frame.f_code, frame.f_lasti)
        )

    def finish(self) -> Callable[[], Any]:
        """Returns a function that draws the array again."""
        if self.drawn is None:
            assert self.make is not None
            return self.make
        # Numbers that nobody uses count, too: those after them depend on their number.
        if self.array is None or not self.drawn.is_sent_as(self.array):
            raise GraphBreak(f'{_REASON}, and not sent to ChainerX at once')
        return self.drawn.maker(self.array)


class RandomNumbers(Observer):
    """Resamples arrays of random numbers that nothing but ChainerX sees.

    These are what functions of this package draw, and what the program draws by ``numpy.random``
    and sends to a device in the same expression.

    Args:
        recorder: Is told of draws that no run can repeat.
        names: The names in code of the program.

    """

    def __init__(self, recorder: Any, names: Collection[str]) -> None:
        self._recorder = recorder
        # Functions are replaced for all threads, so only where the program calls one.
        self._may_replace = not numpy_draws.DRAWS.isdisjoint(names)
        self._updates_draw = False
        self._may_have_drawn = False
        self._state: Any = None
        self._noted: list[_Noted] = []
        self._is_replacing = False

    def start(self) -> None:
        self._replace()
        self._state = _state_of_generator()

    def _replace(self) -> None:
        if self._may_replace:
            numpy_draws.replaced.start()
            self._is_replacing = True

    def stop(self) -> None:
        if self._is_replacing:
            numpy_draws.replaced.stop()
            self._is_replacing = False

    def expect(self) -> None:
        """Notes what has been drawn, before something draws that tells it by itself."""
        # Only here and at the end: to look at the state takes half as long as an eager step of a
        # small model.
        if self._state != _state_of_generator():
            self._recorder.note(_REASON)
        self._may_have_drawn = True

    def expect_update(self) -> None:
        """The same, before an update that may draw."""
        self.expect()
        self._updates_draw = True

    def draw(self, make: Callable[[], Any]) -> Any:
        """Draws an array for ChainerX."""
        self.expect()
        self._check_order()
        array = make()
        self._noted.append(_Noted(make=make, array=array))
        return array

    def note_drawn(self, drawn: DrawnArray) -> None:
        """Notes an array that the program has drawn by NumPy."""
        if drawn.taker is None or type(drawn.values) is not numpy.ndarray:
            self._recorder.note(_REASON)
        self._check_order()
        self._noted.append(_Noted(drawn=drawn))

    def note_sent(self, array: Any, frame: types.FrameType) -> None:
        """Notes data that a frame of the program sends to ChainerX now."""
        here = [noted for noted in self._noted if noted.is_taken_by(frame)]
        for noted in here:
            if noted.array is None:
                noted.array = array
                return
        if here:  # a variable is read again, in a loop
            self._recorder.note(f'{_REASON}, and sent to ChainerX twice')

    def _check_order(self) -> None:
        # Runs draw before their first segment. If an update of before draws too, the order would be
        # another one.
        if self._updates_draw:
            self._recorder.note('random numbers are drawn after an update that may draw some')

    def note(self) -> None:
        self.stop()  # what runs on its own calls the functions of NumPy

    def renew(self) -> None:
        self._replace()
        if self._may_have_drawn:
            self._state = _state_of_generator()
            self._may_have_drawn = False

    def check(self) -> None:
        # The numbers are constants of the plan now, wherever they went.
        if self._state != _state_of_generator():
            raise GraphBreak(_REASON)

    def finish(self, draft: Draft) -> None:
        for noted in self._noted:
            draft.effects.append(Draw(noted.finish()))
            draft.inputs.append(noted.array)


def _state_of_generator() -> Any:
    # Not that of `random`: its functions cannot be watched, and this package calls none.
    state: Any = numpy.random.get_state()
    kind, keys, *rest = state
    return kind, keys.tobytes(), rest
