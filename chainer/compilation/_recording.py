"""Making a plan of a call while it runs."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import optimizer, reporter
from chainer._core.engines import plan_data
from chainer.compilation import _trees
from chainer.compilation._recorded import Recorded, array_of, environment, slot_form
from chainer.compilation._scope import Scope
from chainer.compilation._stand_ins import Reports
from chainer.compilation._trace import GraphBreak, Trace, current_line
from chainer.compilation._update import EagerUpdate, PlannedUpdate, lacks_states, plan_update
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable

_chx_ndarray = chainerx.ndarray


class Again(Exception):  # noqa: N818 - it is no error of the program
    """The recording found something that the next one has to know."""


class Recording:
    """Runs a call, and makes a plan of it.

    Args:
        roots: What the function is reached from.
        codes: The code that is known to run.
        slots: The attributes whose arrays are known to change.

    """

    def __init__(self, roots: list[Any], codes: dict[int, Any], slots: dict[tuple[int, str], Any]):
        self._slot_ids = slots
        self.trace = Trace()
        self._scope = Scope(roots, codes, slots)
        self._codes = codes
        self._recorder: Any = None
        self._line = ''
        self._updates: list[EagerUpdate | PlannedUpdate] = []
        self._states: list[Any] = []  # of optimizers
        self._fixed = chainerx._core._Watch()  # of the parameters' arrays
        self._needs_states = False
        self._reports: list[tuple[dict[str, Any], Any]] = []
        self._actions: list[tuple[Any, Any, int]] = []  # array, its gradient, segment
        self._grads: dict[int, Any] = {}

    def prepare(self, arrays: list[Any], form: Any) -> None:
        """Notes the state before the call."""
        scope = self._scope
        recorded = self._recorded = Recorded()
        recorded.environment = environment()
        recorded.form, recorded.scope = form, scope
        self._inputs = list(arrays)
        used = [*arrays, *scope.arrays]
        device = used[0].device if used else chainerx.get_default_device()
        self._old_slots = [vars(owner)[name] for owner, name in scope.slots]
        self._slot_forms = [(slot_form(v, False), slot_form(v, True)) for v in self._old_slots]
        self._draws: list[tuple[Any, Callable[[], Any]]] = []
        self._recorder = chainerx._core._Recorder(device, self._on_graph_break)
        self._old_grads = self._remember_grads()
        self._before = [dict(vars(owner)) for owner in scope.objects]
        self._variables = {id(v): dict(vars(v)) for v in scope.variables}
        self._state_at_start = self._outer_state()
        self._generators = _generator_states()

    def run(self, call: Callable[[], Any]) -> tuple[Any, Any]:
        """Runs the call; returns its value, and what is recorded or the reason why nothing is."""
        value = self._call(call)
        try:
            return value, self._make_plan(value)
        except Exception as error:  # noqa: BLE001 - the program, which has run, has none
            return value, error
        finally:
            self._recorder = None  # which refers to this object, and has memory

    def _make_plan(self, value: Any) -> Recorded:
        recorded, inputs = self._recorded, self._inputs
        if self._generators != _generator_states():
            raise GraphBreak('random numbers of NumPy or Python are drawn')
        self._check(recorded, self._before)
        for (owner, name), old, forms in zip(self._scope.slots, self._old_slots, self._slot_forms):
            array = array_of(old)
            is_used = array is not None and self._recorder.is_used(array)
            if forms[is_used] is None:
                raise GraphBreak(f'{name} of {type(owner).__name__} belongs to a graph')
            recorded.slots.append((vars(owner), name, forms[is_used], is_used))
            if is_used:
                inputs.append(array)
        self._finish(recorded, value, inputs, self._old_grads)
        return recorded

    def _on_graph_break(self) -> None:
        self._line = current_line()

    def _call(self, call: Callable[[], Any]) -> Any:
        reporters = reporter._get_reporters()
        if reporters:
            reporters.append(Reports(reporters[-1], self._reports))
        self._go_on()
        try:
            return call()
        finally:
            self._interrupt()
            if reporters:
                reporters.pop()

    def draw(self, make: Callable[[], Any]) -> Any:
        """Draws an array; each run of the plan draws its own."""
        self._interrupt()
        try:
            if self._generators != _generator_states():
                self._recorder.note('random numbers of NumPy or Python are drawn')
            if self._updates:
                self._recorder.note('random numbers are drawn after an update')
            array = make()
            self._generators = _generator_states()
            self._draws.append((array, make))
            return array
        finally:
            self._go_on()

    def _go_on(self) -> None:
        plan_data.local.recording = self
        self._recorder.start()
        self.trace.start()

    def _interrupt(self) -> None:
        self.trace.stop()
        self._recorder.stop()
        plan_data.local.recording = None

    def update(self, opt: Any) -> bool:
        """Runs the update of an optimizer: in a segment of its own, or between segments.

        Returns:
            ``False`` if nothing has been done, because the optimizer is not watched.

        """
        if not any(opt is known for known in self._scope.optimizers):
            return False
        self._interrupt()
        try:
            eager = EagerUpdate(opt, self._fixed)
            planned, lacked_states = None, False
            try:
                planned = self._plan_update(opt, eager)
                lacked_states = planned is None and lacks_states(opt)
            except Exception as error:  # noqa: BLE001 - the update itself raises what is wrong
                self._recorder.note(f'an optimizer that cannot be watched: {error}')
            if planned is None:
                optimizer.GradientMethod.update(opt)
                self._updates.append(eager)
                if lacked_states and plan_update(opt, eager) is not None:
                    self._needs_states = True
            else:
                self._states += planned.states
                self._recorder.start()
                planned.record(self._recorder)
                self._recorder.stop()
                self._recorder.mark()
                self._updates.append(planned)
            self._generators = _generator_states()
            self._state_at_start = self._outer_state()
            self._grads = self._current_grads()
            return True
        finally:
            self._go_on()

    def _plan_update(self, opt: Any, eager: EagerUpdate) -> PlannedUpdate | None:
        self._note_grads()
        if any(v._loss_scale is not None for v in self._scope.variables):
            self._recorder.note('a loss scale')
        if not self._has_parameters_of(opt):
            self._recorder.note('an optimizer whose parameters are not known')
        if self._outer_state() != self._state_at_start:
            self._recorder.note('an optimizer changes outside of its update')
        if self._generators != _generator_states():
            self._recorder.note('random numbers of NumPy or Python are drawn')
        self._recorder.mark()
        planned = plan_update(opt, eager)
        if planned is not None:
            planned.watch(self._scope)
        return planned

    def _has_parameters_of(self, opt: Any) -> bool:
        known = self._scope.known
        return all(id(param) in known for param in opt.target.params())

    # -- state

    def _outer_state(self) -> list[Any]:
        owners: list[Any] = []
        for opt in self._scope.optimizers:
            owners += (opt, opt.hyperparam)
        for variable in self._scope.variables:
            rule = getattr(variable, 'update_rule', None)
            if rule is not None:
                owners += (rule, rule.hyperparam)
        return [{k: _trees.key(v) for k, v in vars(o).items()} for o in owners]

    def _current_grads(self) -> dict[int, Any]:
        grads = {}
        for array in self._scope.arrays:
            if array.is_grad_required():
                grads[id(array)] = array.grad
        return grads

    def _remember_grads(self) -> dict[int, Any]:
        self._grads = self._current_grads()
        return dict(self._grads)

    def _note_grads(self) -> None:
        now = self._current_grads()
        by_id = {id(array): array for array in self._scope.arrays}
        for key, grad in now.items():
            if grad is not self._grads.get(key):
                self._actions.append((by_id[key], grad, self._recorder.segment))
        if now.keys() != self._grads.keys():
            self._recorder.note('an array begins to need a gradient')
        self._grads = now

    # -- what has changed

    def _check(self, recorded: Recorded, before: list[dict[str, Any]]) -> None:
        scope = self._scope
        if self._recorder.graph_break:
            raise GraphBreak(f'{self._recorder.graph_break} ({self._line})')
        if self.trace.graph_break is not None:
            raise GraphBreak(self.trace.graph_break)
        if self._outer_state() != self._state_at_start:
            raise GraphBreak('an optimizer changes outside of its update')
        now = environment()
        if recorded.environment[:-1] != now[:-1]:
            raise GraphBreak('the state of the thread changes')
        if recorded.environment != now:  # it imports something, perhaps
            raise Again
        if not self.trace.codes.keys() <= self._codes.keys():
            raise Again
        scope.check_code(self.trace.codes)
        found = False
        handled = {id(owner) for owner in scope.objects}
        for changed, label in scope.find_changes():
            if isinstance(changed, Variable):
                found = True
                self._check_variable(changed, label)
            elif id(changed) not in handled and type(changed) is not _chx_ndarray:
                raise GraphBreak(f'{label} changes')
        for owner, old in zip(scope.objects, before):
            for name in {*old, *vars(owner)}:
                new, previous = vars(owner).get(name, _MISSING), old.get(name, _MISSING)
                if new is previous or (id(owner), name) in self._slot_ids:
                    continue
                kinds = {type(new), type(previous)}
                if kinds.isdisjoint((Variable, _chx_ndarray)) or type(_MISSING) in kinds:
                    if _trees.key(new) == _trees.key(previous):
                        continue
                    lines = scope.lines_that_store(name)
                    raise GraphBreak(f'{name} of {type(owner).__name__} changes{lines}')
                self._check_slot(owner, name)
                self._slot_ids[id(owner), name] = owner
                found = True
        if found or self._needs_states:
            raise Again

    def _check_variable(self, variable: Variable, label: str) -> None:
        old = self._variables[id(variable)]
        for name in {*old, *vars(variable)} - _OWN_OF_VARIABLES:
            new, previous = vars(variable).get(name, _MISSING), old.get(name, _MISSING)
            if _trees.key(new) != _trees.key(previous):
                raise GraphBreak(f'{name} of {label} changes{self._scope.lines_that_store(name)}')

    def _check_slot(self, owner: Any, name: str) -> None:
        value = vars(owner)[name]
        # A graph through which the function went back is released.
        if slot_form(value, not self.trace.backpropagated) is None:
            lines = self._scope.lines_that_store(name)
            raise GraphBreak(f'{name} of {type(owner).__name__} keeps a graph{lines}')

    def _finish(
        self,
        recorded: Recorded,
        value: Any,
        inputs: list[Any],
        old_grads: dict[int, Any],
    ) -> None:
        scope = self._scope
        recorder = self._recorder
        known = {key: v for key, v in scope.known.items() if not issubclass(type(v), Variable)}
        self._check_graphs(value)
        for values, _ in self._reports:
            self._check_graphs(values)
        results: list[Any] = []
        forms = _trees.Result(results, known)
        recorded.result = forms.form(value)
        for values, observer in self._reports:
            if observer is not None and id(observer) not in scope.known:
                raise GraphBreak('an unknown observer reports')
            recorded.reports.append((forms.form(values), observer))
        for owner, name in scope.slots:
            new = vars(owner)[name]
            self._check_slot(owner, name)
            recorded.slot_results.append((vars(owner), name, self._slot_maker(new, results)))
        self._note_grads()
        self._take_grads(recorded, inputs, old_grads)
        for array, draw in self._draws:
            inputs.append(array)
            recorded.draws.append(draw)
        targets, grads, segments, renewed = [], [], [], []
        read = {id(array) for array in recorded.grad_inputs}
        for array, grad, segment in self._actions:
            if segment == 0 and id(array) not in read:
                renewed.append(array)
            targets.append(array)
            segments.append(segment)
            grads.append(-1 if grad is None else len(results))
            if grad is not None:
                if not recorder.is_new(grad):
                    raise GraphBreak('a gradient is an array that existed before')
                results.append(grad)
        held = [*scope.arrays, *self._states]
        recorded.plan = recorder.plan(inputs, held, results, targets, grads, segments, renewed)
        if not recorded.plan.call_count and not self._updates:
            raise GraphBreak('nothing of it ran on ChainerX')
        recorded.updates = self._updates
        for variable in scope.variables:
            self._fixed.add_entry(vars(variable), '_array')

    def _take_grads(self, recorded: Recorded, inputs: list[Any], old: dict[int, Any]) -> None:
        for array in self._scope.arrays:
            grad = old.get(id(array))
            if grad is not None and self._recorder.is_used(grad):
                recorded.grad_inputs.append(array)
                inputs.append(grad)

    def _slot_maker(self, value: Any, results: list[Any]) -> Callable[..., Any]:
        array = array_of(value)
        if array is None:
            return lambda arrays: value
        index = len(results)
        results.append(array)
        if type(value) is _chx_ndarray:
            return lambda arrays: arrays[index]
        requires_grad, name = value._requires_grad, value._name
        return lambda arrays: Variable(arrays[index], requires_grad=requires_grad, name=name)

    def _check_graphs(self, value: Any) -> None:
        """Raises if somebody may want to go back through the graph of a result."""
        if isinstance(value, (tuple, list)):
            for part in value:
                self._check_graphs(part)
        elif isinstance(value, dict):
            for part in value.values():
                self._check_graphs(part)
        elif type(value) is Variable or type(value) is _chx_ndarray:
            array = array_of(value)
            if (
                type(array) is _chx_ndarray
                and array.is_backprop_required()
                and not any(value is v for v in self.trace.backpropagated)
            ):
                raise GraphBreak(
                    'a result belongs to a graph: call its backward within the function, '
                    'or the function within chainer.no_backprop_mode()'
                )


class _Missing:
    pass


_MISSING = _Missing()
#: Attributes of variables that change at first and then stay.
_OWN_OF_VARIABLES = frozenset(
    ('_chainerx_array_cache', '_fresh_grad', '_node', '_sharing', '_grad_var')
)


def _generator_states() -> Any:
    state: Any = numpy.random.get_state()
    kind, keys, *rest = state
    return kind, keys.tobytes(), rest, random.getstate()
