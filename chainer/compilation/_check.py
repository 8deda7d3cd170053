"""Running a function both eagerly and by its plan, and comparing what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer.compilation import _trees
from chainer.compilation._recording import array_of
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._recording import Recorded

_chx_ndarray = chainerx.ndarray


def _view(array: Any) -> Any:
    return chainerx.to_numpy(array.as_grad_stopped(), copy=False)


class _State:
    """The contents and attributes that a call may change."""

    def __init__(self, recorded: Recorded, inputs: list[Any]) -> None:
        scope = recorded.scope
        self._owners: list[Any] = []
        rules = []
        for variable in scope.variables:
            rule = getattr(variable, 'update_rule', None)
            if rule is not None:
                rules.append(rule)
        for owner in (*scope.optimizers, *scope.objects, *scope.variables, *rules):
            self._owners.append((owner, dict(vars(owner))))
        states = [dict(rule._state) for rule in rules if rule._state is not None]
        arrays = [*inputs, *scope.arrays]
        arrays += [v for state in states for v in state.values() if isinstance(v, _chx_ndarray)]
        self._with_grads = [a for a in scope.arrays if a.is_grad_required()]
        self._grads = [a.grad for a in self._with_grads]
        self.arrays = arrays
        arrays = [*arrays, *[g for g in self._grads if g is not None]]
        self._contents = [(a, _view(a).copy()) for a in arrays]
        self._slots = recorded.slot_results

    def restore(self) -> None:
        for owner, attributes in self._owners:
            vars(owner).clear()
            vars(owner).update(attributes)
        for array, grad in zip(self._with_grads, self._grads):
            if grad is None:
                array.cleargrad()
            else:
                array.set_grad(grad)
        for array, contents in self._contents:
            _view(array)[...] = contents

    def describe(self) -> list[tuple[str, Any]]:
        """Returns all that the plan has to do like the function, as names and bytes."""
        found = [('an array that it reads or changes', a) for a in self.arrays]
        found += [('a gradient', a.grad) for a in self._with_grads]
        found += [(name, array_of(attributes[name])) for attributes, name, _ in self._slots]
        return [(name, _bytes(array)) for name, array in found]


def _bytes(array: Any) -> Any:
    return None if array is None else (array.shape, array.dtype, _view(array).tobytes())


def _contents(value: Any) -> Any:
    if isinstance(value, Variable):
        value = value._array
    if isinstance(value, _chx_ndarray):
        return _bytes(value)
    if isinstance(value, (tuple, list)):
        return type(value), [_contents(v) for v in value]
    if isinstance(value, dict):
        return {key: _contents(v) for key, v in value.items()}
    return repr(value) if _trees.is_constant(value) else id(value)


def run_both(recorded: Recorded, inputs: list[Any], call: Callable[[], Any]) -> Any:
    """Runs the plan, undoes it, runs the function, and compares.

    Raises:
        RuntimeError: If they differ. The state is then that after the function.

    """
    before = _State(recorded, inputs)
    recorder = chainerx._core._Recorder(chainerx.get_default_device(), lambda: None)
    generator = numpy.random.get_state()
    recorder.start()
    try:
        value = call()
    finally:
        recorder.stop()
    generator_after = numpy.random.get_state()
    wanted = [('the result', _contents(value)), *before.describe()]
    after = _State(recorded, inputs)
    before.restore()
    recorded.plan.draw_as(recorder)
    numpy.random.set_state(generator)
    with_reports, recorded.reports = recorded.reports, []
    try:
        actual_value = recorded.run(inputs)
    finally:
        recorded.reports = with_reports
        actual = before.describe()
        after.restore()
        numpy.random.set_state(generator_after)
    actual.insert(0, ('the result', _contents(actual_value)))
    for (name, got), (_, expected) in zip(actual, wanted):
        if got != expected:
            raise RuntimeError(f'chainer.compile: {name} differs from that of the function')
    return _trees.without_graphs(value)
