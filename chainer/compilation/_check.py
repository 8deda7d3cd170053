"""Running a function both eagerly and by its plan, and comparing what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer.compilation import _trees
from chainer.compilation._effects import undo
from chainer.variable import Variable
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._recorded import Recorded

_chx_ndarray = chainerx.ndarray


class _State:
    """The contents and attributes that a call may change."""

    def __init__(self, recorded: Recorded, inputs: list[Any]) -> None:
        scope = recorded.scope
        self._effects = recorded.effects
        self._arrays = [*inputs, *scope.arrays]
        generator = numpy.random.get_state()
        self._restores = [
            lambda: numpy.random.set_state(generator),
            undo.save_attributes([*scope.objects, *scope.variables]),
            undo.save_contents(self._arrays),
            *[effect.save() for effect in recorded.effects],
        ]

    def restore(self) -> None:
        for restore in self._restores:
            restore()

    def describe(self) -> list[tuple[str, Any]]:
        """Returns all that the plan has to do like the function, as names and bytes."""
        found = [('an array that it reads or changes', a) for a in self._arrays]
        for effect in self._effects:
            found += effect.results()
        return [(name, _bytes(array)) for name, array in found]


def _bytes(array: Any) -> Any:
    return None if array is None else (array.shape, array.dtype, undo.view(array).tobytes())


def _contents(value: Any) -> Any:
    if isinstance(value, Variable):
        value = value.raw_array
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
    # Only for the random numbers that kernels draw: the plan has to draw the same.
    recorder = _internal.Recorder(chainerx.get_default_device(), lambda: None)
    recorder.start()
    try:
        value = call()
    finally:
        recorder.stop()
    # Before the plan runs, as a result may be an array that the plan writes to.
    wanted = [('the result', _contents(value)), *before.describe()]
    after = _State(recorded, inputs)
    before.restore()
    recorded.plan.draw_as(recorder)
    try:
        actual_value = recorded.run(inputs)
    finally:
        actual = before.describe()
        after.restore()
    actual.insert(0, ('the result', _contents(actual_value)))
    for (name, got), (_, expected) in zip(actual, wanted):
        if got != expected:
            raise RuntimeError(f'chainer.compile: {name} differs from that of the function')
    return _trees.without_graphs(value)
