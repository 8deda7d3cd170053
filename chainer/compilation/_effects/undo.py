"""Undoing what a call changes, so that it can run twice and be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer._core.optimizers.update_rule import master_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy

_chx_ndarray = chainerx.ndarray


def view(array: Any) -> numpy.ndarray[Any, Any]:
    """Returns a NumPy array in the memory of an array of ChainerX, or a copy from a GPU."""
    # Without the graph, which would keep the array from giving its memory.
    memory: numpy.ndarray[Any, Any] = chainerx.to_numpy(array.as_grad_stopped(), copy=False)
    return memory


def save_contents(arrays: Iterable[Any]) -> Callable[[], None]:
    """Returns a function that writes the present contents of arrays again."""
    # Arrays of the same memory keep it alive, even if the program replaces the arrays meanwhile.
    contents = [(array.as_grad_stopped(), array.as_grad_stopped(True)) for array in arrays]

    def restore() -> None:
        for array, content in contents:
            array[...] = content

    return restore


def save_attributes(owners: Iterable[Any]) -> Callable[[], None]:
    """Returns a function that gives objects their present attributes again."""
    attributes = [(owner, dict(vars(owner))) for owner in owners]

    def restore() -> None:
        for owner, old in attributes:
            vars(owner).clear()
            vars(owner).update(old)

    return restore


def save_optimizer(opt: Any) -> Callable[[], None]:
    """Returns a function that restores an optimizer, its rules and their states."""
    # Attributes first: they may bring back arrays whose contents follow.
    rules = [param.update_rule for param in opt.target.params()]
    restore_attributes = save_attributes([opt, *[rule for rule in rules if rule is not None]])
    restore_contents = save_contents(states_of(opt))

    def restore() -> None:
        restore_attributes()
        restore_contents()

    return restore


def states_of(opt: Any) -> list[Any]:
    """Returns the arrays of ChainerX that the update rules of an optimizer keep."""
    rules = [param.update_rule for param in opt.target.params()]
    return [array for rule in rules if rule is not None for array in arrays_of(rule)]


def arrays_of(rule: Any) -> list[Any]:
    """Returns the arrays of ChainerX that a rule keeps: states and a float32 copy."""
    arrays = [*(rule.state or {}).values(), master_of(rule)]
    return [array for array in arrays if type(array) is _chx_ndarray]
