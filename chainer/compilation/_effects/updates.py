"""Updates of optimizers: by kernels of the plan, or eagerly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer import optimizer
from chainer.compilation import _trees
from chainer.compilation._effects.eager_update import EagerUpdate
from chainer.compilation._effects.effect import Effect, Observer
from chainer.compilation._effects.planned_update import PlannedUpdate, plan_update
from chainer.compilation._trace import Again, GraphBreak

if TYPE_CHECKING:
    from chainer.compilation._effects.draft import Draft
    from chainer.compilation._scope import Scope

_chx_ndarray = chainerx.ndarray
_CHANGE = 'an optimizer changes outside of its update'


class Updates(Observer):
    """Runs the updates of a call, each on its own, and looks for other changes of optimizers."""

    def __init__(self, scope: Scope, recorder: Any) -> None:
        self._scope = scope
        self._recorder = recorder
        self._effects: list[Effect] = []
        self._states: list[Any] = []
        self._needs_states = False
        #: Plans read parameters where they are, so that no update may replace their arrays.
        self._fixed = chainerx._core._Watch()
        self._state: list[Any] = []

    def start(self) -> None:
        self._state = self._find_state()

    def note(self) -> None:
        if self._state != self._find_state():
            self._recorder.note(_CHANGE)

    def renew(self) -> None:
        self._state = self._find_state()

    def check(self) -> None:
        if self._state != self._find_state():
            raise GraphBreak(_CHANGE)
        if self._needs_states:
            raise Again

    def finish(self, draft: Draft) -> None:
        draft.held += self._states
        draft.effects += self._effects
        for variable in self._scope.variables:
            self._fixed.add_entry(vars(variable), '_array')

    def is_known(self, opt: Any) -> bool:
        """Tells whether an optimizer is watched."""
        return any(opt is known for known in self._scope.optimizers)

    def update(self, opt: Any) -> None:
        """Runs an update: in a segment of its own, or between segments."""
        eager = EagerUpdate(opt, self._fixed)
        planned, lacked_states = None, False
        try:
            planned = self._plan(opt, eager)
            lacked_states = planned is None and lacks_states(opt)
        except Exception as error:  # noqa: BLE001 - the update itself raises what is wrong
            self._recorder.note(f'an optimizer that cannot be watched: {error}')
        if planned is None:
            optimizer.GradientMethod.update(opt)
            self._effects.append(eager)
            # The first update makes states, so that the next one may be planned.
            self._needs_states |= lacked_states and plan_update(opt, eager) is not None
            return
        self._states += planned.states
        self._recorder.start()
        planned.record(self._recorder)
        self._recorder.stop()
        self._recorder.mark()
        self._effects.append(planned)

    def _plan(self, opt: Any, eager: EagerUpdate) -> PlannedUpdate | None:
        if any(v._loss_scale is not None for v in self._scope.variables):
            self._recorder.note('a loss scale')
        if not all(id(param) in self._scope.known for param in opt.target.params()):
            self._recorder.note('an optimizer whose parameters are not known')
        self._recorder.mark()
        planned = plan_update(opt, eager)
        if planned is not None:
            planned.guard(self._scope)
        return planned

    def _find_state(self) -> list[Any]:
        owners: list[Any] = []
        for opt in self._scope.optimizers:
            owners += (opt, opt.hyperparam)
        for variable in self._scope.variables:
            rule = getattr(variable, 'update_rule', None)
            if rule is not None:
                owners += (rule, rule.hyperparam)
        return [{k: _trees.key(v) for k, v in vars(o).items()} for o in owners]


def lacks_states(opt: Any) -> bool:
    """Tells whether the next update makes states, or moves them to the device."""
    rules = [param.update_rule for param in opt.target.params()]
    return any(
        rule is not None
        and rule.enabled
        and (rule._state is None or any(type(v) is not _chx_ndarray for v in rule._state.values()))
        for rule in rules
    )
