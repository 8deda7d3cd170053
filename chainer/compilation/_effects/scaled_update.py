"""Updates of optimizers with a dynamic loss scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer.compilation._effects import undo
from chainer.compilation._effects.planned_update import PlannedUpdate, record, run_hooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.eager_update import EagerUpdate


class ScaledUpdate(PlannedUpdate):
    """An update whose steps a run leaves out if a gradient is not finite.

    Kernels tell which gradients are finite, Python reads that, and changes the scale after the
    update. So these are segments of their own: the test, the hooks, the steps, the late hooks.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._params = list(self._optimizer.target.params())
        # It exists before the recording, so that its memory stays from run to run. Python reads it
        # there by one call, however many parameters there are.
        device = self._params[0].raw_array.device
        self._are_finite = chainerx.ones(len(self._params), 'bool', device=device)
        self.interruptions += 3
        reasons = [self.reason, 'Python reads whether gradients are finite, for the loss scale']
        self.reason = '; '.join(filter(None, reasons))

    def again(self, eager: EagerUpdate) -> None:
        # It may begin with gradients that are not finite.
        return None

    @property
    def arrays(self) -> list[Any]:
        return [*super().arrays, self._are_finite]

    def describe(self, contents: Contents) -> None:
        raise ValueError('an optimizer has a dynamic loss scale')

    def _record_stages(self, recorder: Any, end_segment: Callable[[], None]) -> None:
        opt = self._optimizer
        recorder.start()
        try:
            for i, param in enumerate(self._params):
                self._are_finite[i] = chainerx.isfinite(param.raw_array.grad).all()
        finally:
            recorder.stop()
        # Each part that a run may leave out, or that Python precedes, is a segment.
        end_segment()
        opt._loss_scaling_isnan = False  # as planning has found
        record(self._hooks, recorder, end_segment)
        end_segment()
        opt.t += 1
        record(self._steps, recorder, end_segment)
        end_segment()
        record(self._late_hooks, recorder, end_segment)
        opt.update_loss_scale()

    def _run_stages(self, plan: Any, segment: int) -> int:
        opt = self._optimizer
        plan.run(segment)
        if undo.view(self._are_finite).all():
            opt._loss_scaling_isnan = False
        else:
            opt.check_nan_in_grads()  # which warns, and names the parameter
        # As in eager updates, hooks run even where the steps do not.
        segment = run_hooks(self._eager_hooks, plan, segment + 1)
        plan.run(segment)
        segment += 1
        # Steps write to parameters and states only, so that the kernels after them can do without.
        if opt.is_safe_to_update():
            self._count()
            plan.run(segment)
        segment = run_hooks(self._late_eager_hooks, plan, segment + 1)
        plan.run(segment)
        opt.update_loss_scale()
        if self.scale is not None:
            self.scale.prepare(plan)  # for backward passes that follow
        return segment + 1
