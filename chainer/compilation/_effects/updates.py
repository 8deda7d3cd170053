"""Updates of optimizers: by kernels of the plan, or eagerly."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import optimizer
from chainer._core.settings.half import is_half
from chainer.compilation._effects.eager_update import EagerUpdate
from chainer.compilation._effects.effect import Effect, Observer
from chainer.compilation._effects.planning import check_update, plan_update
from chainer.compilation._trace import Again, GraphBreak
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chainer.compilation._effects.draft import Draft
    from chainer.compilation._effects.loss_scales import LossScales
    from chainer.compilation._effects.planned_update import PlannedUpdate
    from chainer.compilation._scope import Scope

_chx_ndarray = chainerx.ndarray
_CHANGE = 'an optimizer changes outside of its update'


class Updates(Observer):
    """Runs the updates of a call, each on its own, and looks for other changes of optimizers.

    Args:
        scope: The optimizers.
        recorder: Records the kernels.
        end_segment: Ends a segment of the plan, with the gradients that it sets.
        scales: The loss scales of the optimizers.
        expect_draws: Is called before an update that may draw random numbers of NumPy.
        expect_python: Is called before one that may run Python of the program.

    """

    def __init__(
        self,
        scope: Scope,
        recorder: Any,
        end_segment: Callable[[], None],
        scales: LossScales,
        expect_draws: Callable[[], None],
        expect_python: Callable[[], None],
    ) -> None:
        self._scope = scope
        self._recorder = recorder
        self._end_segment = end_segment
        self._scales = scales
        self._expect_draws = expect_draws
        self._expect_python = expect_python
        self._effects: list[Effect] = []
        self._arrays: list[Any] = []
        self._needs_states = False
        self._left: dict[int, Any] = {}  # the gradients after an eager update, by arrays
        #: Plans read parameters where they are, so that no update may replace their arrays.
        self._fixed = _internal.Watch()
        self._watch: Any = None  # of attributes of optimizers and rules

    def start(self) -> None:
        self._watch = _internal.Watch()
        for owner in self._owners():
            # Loss scales that runs read are observed by others.
            followed = () if self._scales.of(owner) is None else ('_loss_scale',)
            self._watch.add_attributes(owner, followed)
        for variable in self._scope.variables:
            self._watch.add_entry(vars(variable), 'update_rule')

    def note(self) -> None:
        if self._has_changed():
            self._recorder.note(_CHANGE)

    def renew(self) -> None:
        # Not after each draw of random numbers, which leaves optimizers as they are.
        if self._has_changed():
            self.start()

    def check(self) -> None:
        # Attributes of optimizers are not watched one by one: plans follow most of them.
        if self._has_changed():
            raise GraphBreak(_CHANGE)
        if self._needs_states:
            raise Again

    def finish(self, draft: Draft) -> None:
        draft.held += self._arrays
        for i, effect in enumerate(self._effects):
            effect.changes_before = draft.changes[i]
        draft.effects += self._effects
        # Only eager updates can replace an array: kernels write to the one that is there.
        for variable in self._scope.variables:
            self._fixed.add_entry(vars(variable), '_array')

    @property
    def count(self) -> int:
        """Number of updates so far."""
        return len(self._effects)

    def is_known(self, opt: Any) -> bool:
        """Tells whether an optimizer is watched."""
        return any(opt is known for known in self._scope.optimizers)

    def update(self, opt: Any) -> None:
        """Runs an update: in a segment of its own, or between segments."""
        lacks_states = False
        try:
            params = list(opt.target.params())  # once: a walk takes as long as a kernel
            lacks_states = _lacks_states(params)
            planned = self._plan(opt, params)
        except GraphBreak as reason:
            self._update_eagerly(opt, str(reason), lacks_states)
        except Exception as error:  # noqa: BLE001 - the update itself raises what is wrong
            self._recorder.note(f'an optimizer that cannot be watched: {error}')
            optimizer.GradientMethod.update(opt)
        else:
            self._arrays += planned.arrays
            if planned.draws:
                self._expect_draws()
            planned.record(self._recorder, self._end_segment)
            self._effects.append(planned)

    @contextlib.contextmanager
    def backward(self) -> Iterator[None]:
        """Notes a backward pass that adds to gradients which another object may have become."""
        left = [array for array in self._scope.arrays if self._may_be_replaced(array)]
        yield
        if not all(map(self._may_be_replaced, left)):
            self._recorder.note('gradients add to those that an eager update may replace')

    def _plan(self, opt: Any, params: list[Any]) -> PlannedUpdate:
        # Backward passes of ChainerX leave none: they divide it out themselves.
        if any(v._loss_scale is not None for v in self._scope.variables):
            self._recorder.note('a loss scale of gradients that the function did not compute')
        if not all(id(param) in self._scope.known for param in params):
            self._recorder.note('an optimizer whose parameters are not known')
        # Gradients must be set before, as hooks and eager updates read them.
        self._end_segment()
        if any(self._may_be_replaced(param.raw_array) for param in params):
            raise GraphBreak('an update of before, which does so, may replace its gradients')
        planned = self._plan_again(opt, params) or self._plan_anew(opt)
        planned.scale = self._scales.of(opt)
        # Hooks of an eager update of before may freeze parameters.
        planned.guards = self._scope.shared[id(opt)][1] if self._left else None
        return planned

    def _may_be_replaced(self, array: Any) -> bool:
        grad = self._left.get(id(array))
        return grad is not None and grad is array.grad

    def _plan_anew(self, opt: Any) -> PlannedUpdate:
        planned = plan_update(opt, self._eager_update(opt))
        guards = self._scope.part()
        planned.guard(guards)
        self._scope.include(guards)
        self._scope.shared[id(opt)] = planned, guards
        return planned

    def _plan_again(self, opt: Any, params: list[Any]) -> PlannedUpdate | None:
        """Returns the update as an earlier recording has planned it, if it is still the same."""
        # To find out what an update does takes as long as four eager steps of a small model.
        found = self._scope.shared.get(id(opt))
        if found is None or not found[1].is_unchanged():
            return None
        planned, guards = found
        check_update(opt, params)
        again: PlannedUpdate | None = planned.again(self._eager_update(opt))
        if again is not None:
            self._scope.include(guards)
        return again

    def _update_eagerly(self, opt: Any, reason: str, lacks_states: bool) -> None:
        eager = self._eager_update(opt)
        eager.reason = f'{type(opt).__name__} updates eagerly, as {reason}'
        self._effects.append(eager)
        self._expect_draws()
        self._expect_python()
        optimizer.GradientMethod.update(opt)
        self._left = {
            id(array): array.grad for array in self._scope.arrays if array.is_grad_required()
        }
        if opt._loss_scaling_isnan:
            # Runs would leave the kernels for each update, although most can be kernels.
            self._recorder.note('an update is left out, as gradients are not finite')
        # The first update makes states, so that the next one may be planned.
        self._needs_states |= lacks_states and _can_plan(opt, eager)

    def _eager_update(self, opt: Any) -> EagerUpdate:
        eager = EagerUpdate(opt, self._fixed)
        eager.scale = self._scales.of(opt)
        return eager

    def _owners(self) -> Iterator[Any]:
        """Yields optimizers, rules and their hyperparameters."""
        for opt in self._scope.optimizers:
            yield from (opt, opt.hyperparam)
        for variable in self._scope.variables:
            rule = getattr(variable, 'update_rule', None)
            if rule is not None:
                yield from (rule, rule.hyperparam)

    def _has_changed(self) -> bool:
        return bool(self._watch.find_change() >= 0)


def _can_plan(opt: Any, eager: EagerUpdate) -> bool:
    try:
        plan_update(opt, eager)
    except Exception:  # noqa: BLE001 - the next recording finds it, too
        return False
    return True


def _lacks_states(params: list[Any]) -> bool:
    """Tells whether the next update makes states, or moves them to the device."""
    return any(
        rule is not None
        and rule.enabled
        and (
            rule.state is None
            or any(type(v) is not _chx_ndarray for v in rule.state.values())
            or (rule._use_fp32_update and is_half(param.dtype) and rule._fp32_param is None)
        )
        for param in params
        for rule in [param.update_rule]
    )
