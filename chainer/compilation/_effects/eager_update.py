"""Updates that no plan can repeat by kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import optimizer
from chainer.compilation._effects import undo
from chainer.compilation._effects.effect import Effect

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.loss_scales import LossScale


class EagerUpdate(Effect):
    """An update that runs eagerly, between segments of a plan.

    Args:
        opt: The optimizer.
        fixed: A watch of the arrays of parameters.

    Attributes:
        scale (LossScale): Its loss scale, if runs read it.

    """

    interruptions = 1
    draws = True  # hooks of the program may do anything

    def __init__(self, opt: Any, fixed: Any) -> None:
        self._optimizer = opt
        self._fixed = fixed
        self.scale: LossScale | None = None

    def run(self, plan: Any, segment: int) -> int:
        # Not by the attribute, which may be a function of the program: recording began within it.
        optimizer.GradientMethod.update(self._optimizer)
        # Segments that follow would write to an array that nobody has any more.
        if self._fixed.find_change() >= 0:
            raise RuntimeError(
                'chainer.compile: an update replaced the array of a parameter in the middle '
                'of a compiled function, which cannot go on'
            )
        # For backward passes that follow.
        if self.scale is not None:
            self.scale.prepare(plan)
        return segment

    def describe(self, contents: Contents) -> None:
        raise ValueError(self.reason)

    def save(self) -> Callable[[], None]:
        return undo.save_optimizer(self._optimizer)

    def results(self) -> list[tuple[str, Any]]:
        return [('a state of an optimizer', array) for array in undo.states_of(self._optimizer)]
