"""States that links and other objects of the program keep from call to call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer.compilation import _trees
from chainer.compilation._effects.effect import Effect, Observer
from chainer.compilation._trace import Again, GraphBreak
from chainer.compilation._trees import (
    CHAINED,
    GRAD_REQUIRED,
    INNER_ATTRIBUTES,
    array_of,
    flags_of,
    form_of,
)
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.draft import Draft
    from chainer.compilation._effects.effect import Change
    from chainer.compilation._effects.updates import Updates
    from chainer.compilation._scope import Scope
    from chainer.compilation._trace import Trace

_chx_ndarray = chainerx.ndarray
_MISSING = object()  # differs from what any attribute is
_ARRAYS = Variable, _chx_ndarray
#: Attributes of variables that change at first and then stay.
_OWN_OF_VARIABLES = frozenset(
    ('_chainerx_array_cache', '_fresh_grad', '_node', '_sharing', '_grad_var')
)


class State(Effect):
    """An attribute whose array each call replaces, such as the state of a recurrent link.

    Args:
        attributes: Those of the object.
        name: The name of the attribute.
        form: What has to stay the same; see :func:`slot_form`.
        is_used: Whether kernels use the array of before.
        first: Another state whose array kernels use, if both have the same one.

    Attributes:
        result (int): The number of the result that becomes its array, or ``None``.

    """

    def __init__(
        self,
        attributes: dict[str, Any],
        name: str,
        form: Any,
        is_used: bool,
        first: State | None,
    ) -> None:
        self._attributes = attributes
        self._name = name
        self._form = form
        self._is_used = is_used
        self._first = first
        self.result: int | None = None

    @property
    def _value(self) -> Any:
        return self._attributes.get(self._name, _MISSING)

    def find_inputs(self, arrays: list[Any]) -> bool:
        value = self._attributes.get(self._name, _MISSING)
        if slot_form(value, self._is_used) != self._form:
            return False
        if self._first is not None:
            return array_of(value) is array_of(self._first._value)
        if self._is_used:
            arrays.append(array_of(value))
        return True

    def describe(self, contents: Contents) -> None:
        # Others are results that the program may read.
        if not self._is_used:
            return
        array = array_of(self._value)
        if self._first is not None or self.result is None or type(array) is not _chx_ndarray:
            raise ValueError(
                f'calls replace the array of the attribute {self._name}: it must be another one '
                'than those of other attributes, and an array before and after each call'
            )
        contents.add_state(self._attributes, self._name, array, self.result)

    def results(self) -> list[tuple[str, Any]]:
        return [(self._name, array_of(self._value))]


class States(Observer):
    """Finds the attributes that a call changes; those with arrays are effects, others are not.

    Args:
        scope: The objects.
        recorder: Tells which arrays kernels use.
        trace: Tells of which variables ``backward`` was called.
        updates: Counts the updates, before which runs set what is changed by then.

    """

    def __init__(self, scope: Scope, recorder: Any, trace: Trace, updates: Updates) -> None:
        self._scope = scope
        self._recorder = recorder
        self._trace = trace
        self._updates = updates
        self._old: list[Any] = []
        self._now: list[Any] = []
        self._grads: list[Any] = []
        self._changes: dict[tuple[int, int], Any] = {}  # by numbers of updates and of slots
        self._forms: list[tuple[Any, Any]] = []
        self._graphs: list[bool] = []
        self._objects: list[dict[str, Any]] = []
        self._variables: dict[int, dict[str, Any]] = {}

    def start(self) -> None:
        scope = self._scope
        self._old = self._now = self._find()
        self._grads = [_grad_of(value) for value in self._old]
        # Only the end of the recording tells whether kernels use an array. By then a graph, which
        # forms are about, may be gone.
        self._forms = [(slot_form(value, False), slot_form(value, True)) for value in self._old]
        self._graphs = [_is_chained(value) for value in self._old]
        self._objects = [dict(vars(owner)) for owner in scope.objects]
        self._variables = {id(v): dict(vars(v)) for v in scope.variables}

    def stop(self) -> None:
        # Also if the call raises an error, such as that of a graph which a plan has not made.
        for (owner, name), old, has_graph in zip(self._scope.slots, self._old, self._graphs):
            if has_graph and self._recorder.is_used(array_of(old)):
                self._scope.graph_ids[id(owner), name] = owner

    def note(self) -> None:
        now = self._find()
        for i, (value, old) in enumerate(zip(now, self._now)):
            if value is not old:
                self._changes[self._updates.count, i] = value
        self._now = now

    def renew(self) -> None:
        self._now = self._find()

    def find_change(self) -> str | None:
        handled = {id(owner) for owner in self._scope.objects}
        for changed, label in self._scope.find_changes():
            if not (isinstance(changed, Variable | _chx_ndarray) or id(changed) in handled):
                return f'{label} changes'
        for owner, old in zip(self._scope.objects, self._objects):
            for name, is_array in self._changes_of(owner, old):
                if not is_array:
                    return f'{name} of {type(owner).__name__} changes'
        return None

    def check(self) -> None:
        handled = {id(owner) for owner in self._scope.objects}
        found = False
        for changed, label in self._scope.find_changes():
            if isinstance(changed, Variable):
                # Its array is of another form now, which only another recording sees.
                found = True
                self._check_variable(changed, label)
            elif id(changed) not in handled and type(changed) is not _chx_ndarray:
                raise GraphBreak(f'{label} changes')
        # All slots are found before the next recording, which otherwise would be one of many.
        for owner, old in zip(self._scope.objects, self._objects):
            found |= self._find_slots(owner, old)
        if found:
            raise Again

    def finish(self, draft: Draft) -> None:
        self.note()
        self._check_gradients()
        used: dict[int, State] = {}  # by arrays
        states: list[State] = []
        # In the order of the slots, which is the one in which runs find their inputs.
        for (owner, name), old, now, forms in zip(
            self._scope.slots, self._old, self._now, self._forms
        ):
            array = array_of(old)
            is_used = array is not None and self._recorder.is_used(array)
            # The next call goes back through the graph of this one, which plans do not have.
            goes_on = is_used or (id(owner), name) in self._scope.graph_ids
            if forms[is_used] is None or (goes_on and _is_chained(now)):
                raise GraphBreak(f'{name} of {type(owner).__name__} belongs to a graph')
            first = used.get(id(array)) if is_used else None
            if is_used and first is None:
                draft.inputs.append(array)
            state = State(vars(owner), name, forms[is_used], is_used, first)
            states.append(state)
            if is_used:
                used.setdefault(id(array), state)
            draft.effects.append(state)
        results: dict[int, int] = {}  # numbers, by arrays
        for (update, i), value in self._changes.items():
            owner, name = self._scope.slots[i]
            self._check_slot(owner, name, value)
            change = _setter(vars(owner), name, _maker(value, draft, results))
            draft.changes[update].append(change)
        for state, value in zip(states, self._now):
            state.result = results.get(id(array_of(value)))

    def _find(self) -> list[Any]:
        return [vars(owner).get(name, _MISSING) for owner, name in self._scope.slots]

    def _check_variable(self, variable: Variable, label: str) -> None:
        old, scope = self._variables[id(variable)], self._scope
        for name in {*old, *vars(variable)} - _OWN_OF_VARIABLES:
            if _differs(vars(variable), old, name):
                raise GraphBreak(f'{name} of {label} changes{scope.lines_that_store(name)}')

    def _changes_of(self, owner: Any, old: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        """Finds changed attributes that are no slots yet, and tells whether each can be one."""
        slots = {name for known, name in self._scope.slots if known is owner}
        for name in {*old, *vars(owner)} - slots:
            new, previous = vars(owner).get(name, _MISSING), old.get(name, _MISSING)
            if new is previous:
                continue
            kinds = {type(new), type(previous)}
            # An attribute that comes or goes is no slot: the next call finds it, or not.
            is_array = type(_MISSING) not in kinds and not kinds.isdisjoint(_ARRAYS)
            if is_array or _differs(vars(owner), old, name):
                yield name, is_array

    def _find_slots(self, owner: Any, old: dict[str, Any]) -> bool:
        """Adds attributes whose arrays changed to the slots; raises if others changed."""
        found = False
        for name, is_array in self._changes_of(owner, old):
            if not is_array:
                lines = self._scope.lines_that_store(name)
                raise GraphBreak(f'{name} of {type(owner).__name__} changes{lines}')
            self._check_slot(owner, name, vars(owner)[name])
            self._scope.slot_ids[id(owner), name] = owner
            found = True
        return found

    def _check_gradients(self) -> None:
        """Raises if states have gradients now that no plan sets."""
        for (owner, name), old, now, grad in zip(
            self._scope.slots, self._old, self._now, self._grads
        ):
            stays = array_of(old) is array_of(now)
            if _grad_of(now) is not (grad if stays else None):
                raise GraphBreak(f'the gradient of {name} of {type(owner).__name__} changes')

    def _check_slot(self, owner: Any, name: str, value: Any) -> None:
        # A graph through which the function went back is released.
        if slot_form(value, not self._trace.backpropagated) is None:
            lines = self._scope.lines_that_store(name)
            raise GraphBreak(f'{name} of {type(owner).__name__} keeps a graph{lines}')


def slot_form(value: Any, is_used: bool) -> Any:
    """Returns what has to stay the same in a value of a slot, whose array changes.

    ``None`` if there can be no plan with it. ``is_used``: whether kernels use the array; the plan
    itself then looks at the form of its memory.
    """
    array = array_of(value)
    if array is None:
        return _trees.key(value) if _trees.is_constant(value) else None
    if type(array) is not _chx_ndarray:
        return None
    flags = flags_of(array)
    if is_used and flags & CHAINED:
        return None
    if type(value) is Variable:
        if value.layout is not None or not INNER_ATTRIBUTES.issuperset(vars(value)):
            return None
        form: Any = (Variable, value.requires_grad, value._name, flags)
    else:
        form = flags
    if is_used:
        return form
    # Code may ask for all this without a kernel, such as `len(self.h) != len(x)`.
    return form, form_of(array)


def _is_chained(value: Any) -> bool:
    """Tells whether a function made the array of a value in a graph that is still there."""
    array = array_of(value)
    return type(array) is _chx_ndarray and bool(flags_of(array) & CHAINED)


def _grad_of(value: Any) -> Any:
    array = array_of(value)
    if type(array) is not _chx_ndarray:
        return None
    try:
        return array.grad
    except chainerx.ChainerxError:  # a result, which does not keep its gradient
        return None


def _differs(new: dict[str, Any], old: dict[str, Any], name: str) -> bool:
    return bool(_trees.key(new.get(name, _MISSING)) != _trees.key(old.get(name, _MISSING)))


def _setter(attributes: dict[str, Any], name: str, make: Callable[[list[Any]], Any]) -> Change:
    def change(arrays: list[Any]) -> None:
        # By the dict: `__setattr__` of links looks for parameters and children first.
        attributes[name] = make(arrays)

    return change


def _maker(value: Any, draft: Draft, results: dict[int, int]) -> Callable[[list[Any]], Any]:
    """Returns a function that makes the value of a slot again from the results of a run.

    ``results`` has the numbers of those arrays that other slots have, too: they stay the same ones.
    """
    array = array_of(value)
    if array is None:
        return lambda arrays: value
    index = results.get(id(array))
    if index is None:
        index = results[id(array)] = draft.add_result_of_graph(array)
    # A variable that was made in `no_backprop_mode` does not tell that its array needs a gradient.
    is_leaf = flags_of(array) & (GRAD_REQUIRED | CHAINED) == GRAD_REQUIRED
    # Without the value, whose array would stay alive.
    is_variable = type(value) is Variable
    options: dict[str, Any] = {}  # only what is not the default: each costs time
    if is_variable and not value.requires_grad:
        options['requires_grad'] = False
    if is_variable and value._name is not None:
        options['name'] = value._name

    def make(arrays: list[Any]) -> Any:
        new = arrays[index]
        if is_variable:
            new = Variable(new, **options)
        if is_leaf:
            array_of(new).require_grad()
        return new

    return make
