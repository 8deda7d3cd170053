"""Loss scales of optimizers, which each run reads again, as it reads learning rates."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from chainer.compilation._effects.effect import Effect, Observer
from chainer.compilation._kinds.optimizers import is_scalar
from chainer.compilation._trace import GraphBreak

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.draft import Draft
    from chainer.compilation._scope import Scope


class LossScale(Effect):
    """The loss scale of an optimizer, which is a scalar of kernels of backward passes.

    Args:
        opt: The optimizer.

    Attributes:
        calls (list of int): The numbers of the calls that have the scale.

    """

    def __init__(self, opt: Any) -> None:
        self.calls: list[int] = []
        self._optimizer = opt
        # Identified by a float that nothing else has: equal scales may come from elsewhere.
        self._mark: Any = None
        self._value: Any = None
        self._given: float | None = None

    @property
    def _scale(self) -> Any:
        return self._optimizer._loss_scale

    @_scale.setter
    def _scale(self, scale: Any) -> None:
        self._optimizer._loss_scale = scale

    # -- while a call is recorded

    def mark(self) -> None:
        """Gives the optimizer a float of its own for the scale."""
        # A sum is a new object, even if the number is one of which Python has only one.
        self._value = self._scale
        self._mark = self._scale = self._value + 0.0

    def unmark(self) -> bool:
        """Takes the float away; returns whether it was still there."""
        is_marked = self.is_mark(self._scale)
        if is_marked:
            self._scale = self._value
        return is_marked

    def is_mark(self, value: Any) -> bool:
        return value is self._mark

    # -- in a run

    def find_inputs(self, arrays: list[Any]) -> bool:
        return is_scalar(self._scale)

    def prepare(self, plan: Any) -> None:
        """Gives the kernels the scale of the moment. Updates, which change it, call this, too."""
        scale = float(self._scale)
        # The plan keeps what it was given last, in other runs, too.
        if scale == self._given:
            return
        for call in self.calls:
            plan.set_scalars(call, [scale])
        self._given = scale

    def describe(self, contents: Contents) -> None:
        raise ValueError('an optimizer has a loss scale')


class LossScales(Observer):
    """Finds the backward passes that have the loss scales of optimizers.

    Args:
        scope: The optimizers.
        recorder: Counts the calls that have scalars.

    """

    def __init__(self, scope: Scope, recorder: Any) -> None:
        optimizers = [opt for opt in scope.optimizers if id(opt) in scope.scaling]
        self._scales = {id(opt): LossScale(opt) for opt in optimizers}
        self._recorder = recorder
        self._is_changed = False
        self._known = 0  # number of calls with scalars that are accounted for
        self._count = 0  # those before what runs aside

    def of(self, opt: Any) -> LossScale | None:
        """Returns the scale of an optimizer, or ``None`` if it is a constant of the plan."""
        return self._scales.get(id(opt))

    @contextlib.contextmanager
    def backward(self, loss_scale: Any) -> Iterator[None]:
        """Notes the calls of a backward pass as those of an optimizer's scale, if it is one."""
        start = self._recorder.scalars_count
        yield
        calls = range(start, self._recorder.scalars_count)
        self._known += len(calls)
        # A scale that the program passes itself is no mark, and stays a constant.
        for scale in self._scales.values():
            if scale.is_mark(loss_scale):
                scale.calls += calls

    def start(self) -> None:
        for scale in self._scales.values():
            scale.mark()

    def stop(self) -> None:
        for scale in self._scales.values():
            self._is_changed |= not scale.unmark()

    def note(self) -> None:
        self._count = self._recorder.scalars_count
        self.stop()

    def renew(self) -> None:
        self._known += self._recorder.scalars_count - self._count
        self.start()

    def check(self) -> None:
        if self._is_changed:
            raise GraphBreak('a loss scale changes outside of an update')

    def finish(self, draft: Draft) -> None:
        # For example of `chainerx.backward`, to which the program may have passed such a scale.
        if self._scales and self._known != self._recorder.scalars_count:
            raise GraphBreak('a backward pass of ChainerX itself has a loss scale')
        draft.effects += self._scales.values()
