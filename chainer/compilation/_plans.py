"""The plans of a function."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import chainerx
from chainer.compilation._recorded import environment
from chainerx import _internal

if TYPE_CHECKING:
    from chainer.compilation._recorded import Recorded
    from chainer.compilation._scope import Scope

#: Plans beyond the first few go if all take more bytes than this, without the memory that they
#: share. That of a small model takes 50 KB, one of a thousand kernels 2 MB.
FEW_PLANS, MAX_BYTES = 8, 1 << 28
#: Plans of the same arguments, of which a search looks at one after the other.
MAX_ALIKE = 32
_USED_AT = operator.attrgetter('used_at')


class Plans:
    """Plans, found by the forms of arguments and arrays; those used least recently go.

    Args:
        max_plans: How many to keep.

    Attributes:
        by_key (dict): The plans; those of one key are told apart by their guards.
        scratch: The memory for intermediate arrays. One plan of a function runs at a time, so they
            share it.

    """

    def __init__(self, max_plans: int) -> None:
        self._max_plans = max_plans
        self.by_key: dict[Any, list[Recorded]] = {}
        self.scratch: Any = _internal.Scratch() if chainerx.is_available() else None
        self._last: Recorded | None = None
        self._uses = self._count = self._bytes = 0
        self._shapes: dict[Any, None] = {}  # of all plans since something that is watched changed

    @property
    def in_order(self) -> list[Recorded]:
        """The plans, the one used last first."""
        plans = [plan for plans in self.by_key.values() for plan in plans]
        return sorted(plans, key=_USED_AT, reverse=True)

    def find(self, arrays: list[Any], form: Any) -> tuple[Recorded | None, list[Any] | None]:
        """Returns the plan that a call can run, and its inputs, or ``None`` for both."""
        last = self._last
        if last is None:
            return None, None
        # Most calls are like the last one. A lookup finds the few others that may fit.
        here = environment()
        if last.environment == here and last.form == form:
            inputs = last.find_inputs(arrays)
            if inputs is not None:
                return last, inputs
        for plan in self.by_key.get(key_of(arrays, form, here), ()):
            if plan is not last:
                inputs = plan.find_inputs(arrays)
                if inputs is not None:
                    self._note_use(plan)
                    return plan, inputs
        return None, None

    def find_change(self, arrays: list[Any], form: Any) -> str | None:
        """Tells why the newest plan for such arguments cannot run, if there is one."""
        alike = self.by_key.get(key_of(arrays, form, environment()))
        return (alike[0].scope.find_change() or 'a state or an array') if alike else None

    def _note_use(self, plan: Recorded) -> None:
        # A number: to move the plan in a list of hundreds takes longer than to find it.
        self._uses += 1
        plan.used_at = self._uses
        self._last = plan

    @property
    def last_scope(self) -> Scope | None:
        """What the plan used last watches."""
        return None if self._last is None else self._last.scope

    def describe_changes(self) -> str:
        """Tells what changes from call to call."""
        change = None if self._last is None else self._last.scope.find_change()
        if change is not None:
            return change
        shapes = {tuple([form[0] for form in forms]): None for forms in self._shapes}
        if len(shapes) < 2:
            return 'an argument'
        examples = [' and '.join(map(str, s)) for s, _ in zip(shapes, range(3))]
        return f'the shapes of arguments ({", ".join(examples)}, ...)'

    def keep(self, plan: Recorded, key: Any) -> tuple[bool, bool]:
        """Adds a plan, of the key of its call.

        Returns whether others had to go, and whether nothing but shapes tells it from the last one.
        """
        # Something that is watched has changed, or effects are others.
        differs = self._last is not None and not plan.shares_scope(self._last)
        if differs:
            self._shapes.clear()
        has_new_shapes = not differs and key[1] not in self._shapes
        self._shapes[key[1]] = None
        plan.key = key
        self._note_use(plan)
        alike = self.by_key.setdefault(key, [])
        # First: of plans for the same arguments, the newest is for how the program is now.
        alike.insert(0, plan)
        self._count += 1
        self._bytes += plan.plan.own_bytes
        gone = self._find_old(alike)
        for other in gone:
            self._drop(other)
        return bool(gone), has_new_shapes

    def _find_old(self, alike: list[Recorded]) -> list[Recorded]:
        """Returns the plans that have to go."""
        if len(alike) > MAX_ALIKE:
            return [min(alike, key=_USED_AT)]
        if self._count <= self._max_plans and self._bytes <= MAX_BYTES:
            return []
        # A plan that ran last is worth most: epochs repeat in about the same order, but a program
        # that has changed does not come back.
        plans, size = self.in_order, self._bytes
        gone: list[Recorded] = []
        while len(plans) > self._max_plans or (len(plans) > FEW_PLANS and size > MAX_BYTES):
            gone.append(plans.pop())
            size -= gone[-1].plan.own_bytes
        return gone

    def _drop(self, plan: Recorded) -> None:
        self._count -= 1
        self._bytes -= plan.plan.own_bytes
        alike = self.by_key[plan.key]
        alike.remove(plan)
        if not alike:
            del self.by_key[plan.key]


def key_of(arrays: list[Any], form: Any, environment: Any) -> Any:
    """Returns what tells apart calls that no plan serves alike, and can be hashed."""
    # Strides, as a kernel may take another path for each and round in another order. The
    # environment has the thread, which has a configuration of its own.
    return form, tuple([(a.shape, a.strides, a.dtype) for a in arrays]), environment
