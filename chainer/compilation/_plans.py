"""The plans of a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.compilation._recorded import environment

if TYPE_CHECKING:
    from chainer.compilation._recorded import Recorded

#: Plans beyond the first few go if all keep more bytes than this for their intermediate arrays.
FEW_PLANS, MAX_SCRATCH = 8, 1 << 30


class Plans:
    """Plans, found by the forms of arguments and arrays; those used least recently go.

    Args:
        max_plans: How many to keep.

    Attributes:
        in_order (list): The plans, the one used last first.
        by_key (dict): Those for equal forms, which their guards tell apart.

    """

    def __init__(self, max_plans: int) -> None:
        self._max_plans = max_plans
        self.in_order: list[Recorded] = []
        self.by_key: dict[Any, list[Recorded]] = {}

    def find(self, arrays: list[Any], form: Any) -> tuple[Recorded | None, list[Any] | None]:
        """Returns the plan that a call can run, and its inputs, or ``None`` for both."""
        plans = self.in_order
        if not plans:
            return None, None
        # Most calls are like the last one. A lookup finds the few others that may fit.
        plan, here = plans[0], environment()
        if plan.environment == here and plan.form == form:
            inputs = plan.find_inputs(arrays)
            if inputs is not None:
                return plan, inputs
        for plan in self.by_key.get(key_of(arrays, form), ()):
            if plan is not plans[0] and plan.environment == here:
                inputs = plan.find_inputs(arrays)
                if inputs is not None:
                    plans.remove(plan)
                    plans.insert(0, plan)
                    return plan, inputs
        return None, None

    def find_change(self) -> str | None:
        """Tells what has changed since the recording of the plan used last."""
        return self.in_order[0].scope.find_change() if self.in_order else None

    def keep(self, plan: Recorded, key: Any) -> None:
        """Adds a plan, of the key of its call."""
        plan.key = key
        self.in_order.insert(0, plan)
        self.by_key.setdefault(key, []).insert(0, plan)
        scratch = sum([p.plan.scratch_bytes for p in self.in_order])
        while len(self.in_order) > self._max_plans or (
            len(self.in_order) > FEW_PLANS and scratch > MAX_SCRATCH
        ):
            last = self.in_order.pop()
            scratch -= last.plan.scratch_bytes
            others = self.by_key[last.key]
            others.remove(last)
            if not others:
                del self.by_key[last.key]


def key_of(arrays: list[Any], form: Any) -> Any:
    """Returns what tells apart calls that no plan serves alike, and can be hashed."""
    return form, tuple([(a.shape, a.strides, a.dtype) for a in arrays])
