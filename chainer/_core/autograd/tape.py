"""Tapes, which compute the gradients of functions that ran.

An engine runs a function and gives its outputs and a :class:`Tape`. Backpropagation knows nothing
else about the function.

The tapes here serve functions that ran on arrays. They have no state, so all nodes share them: the
gradient is the rule of the function's class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy

from chainer import utils
from chainer._core.autograd.array_namespace import arrays_like
from chainer._core.autograd.base_variable import from_array

if TYPE_CHECKING:
    from chainer._core.autograd.base_function import BaseFunction
    from chainer._core.autograd.gradients import Gradients
    from chainer._core.autograd.variable_node import VariableNode


class Tape(Protocol):
    """Computes the gradient of a function that ran.

    Attributes:
        needs_device: Whether it computes on the current device of CuPy.

    """

    needs_device: bool

    def grad(
        self,
        func: BaseFunction,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        double: bool,
        known: Gradients | None,
    ) -> tuple[Any, ...]:
        """Computes gradients of inputs.

        Args:
            func: Function that ran.
            targets: Indexes of the requested inputs.
            gys: Gradients of the outputs: arrays, or variables if ``double`` is set.
            double: Whether to record, so that the result can be differentiated.
            known: Gradients so far, for functions that add to them themselves.

        Returns:
            Gradients of the inputs, of the same kind as ``gys``; ``None`` where there is none.

        """


def raw(grad: Any) -> Any:
    """Array of a gradient given as variable or array."""
    return getattr(grad, 'raw_array', grad)


class VariableRule:
    """The rule is ``backward``, on variables; users write this form."""

    needs_device = True

    @staticmethod
    def _backward(
        func: BaseFunction,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        double: bool,
        known: Gradients | None,
    ) -> Any:
        return func.backward(targets, gys)

    @classmethod
    def grad(
        cls,
        func: BaseFunction,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        double: bool,
        known: Gradients | None,
    ) -> tuple[Any, ...]:
        """Gradients by ``backward``: wraps the arrays in variables that record nothing."""
        if not double:
            gys = tuple([None if g is None else from_array(g, False) for g in gys])
        gxs = cls._backward(func, targets, gys, double, known)
        if not isinstance(gxs, tuple):
            if not isinstance(gxs, list):
                raise TypeError(
                    f'{func.label}.backward must return a tuple of variables, '
                    f'got {type(gxs).__name__}'
                )
            gxs = tuple(gxs)
        if len(gxs) != len(targets):
            if len(gxs) != len(func.inputs):
                raise ValueError(
                    f'{func.label}.backward returned {len(gxs)} gradients for '
                    f'{len(targets)} target inputs'
                )
            gxs = tuple([gxs[i] for i in targets])
        return gxs if double else tuple([None if g is None else raw(g) for g in gxs])


class AccumulatingRule(VariableRule):
    """The rule is ``backward_accumulate``, which a class overrides to do the addition."""

    @staticmethod
    def _backward(
        func: BaseFunction,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        double: bool,
        known: Gradients | None,
    ) -> Any:
        if known is None:
            return func.backward_accumulate(targets, gys, (None,) * len(targets))
        # An input given twice accumulates once: later occurrences start empty.
        taken: dict[VariableNode, int] = {}
        for i in targets:
            taken.setdefault(func.inputs[i], i)
        grads = []
        for i in targets:
            node = func.inputs[i]
            grad = known.peek(node) if taken[node] == i else None
            grads.append(grad if grad is None or double else from_array(grad, False))
        for node in taken:
            known.set(node, None)
        return func.backward_accumulate(targets, gys, tuple(grads))


class NoGradient:
    """No gradient: the outputs are integers, or a native path records nothing."""

    needs_device = False

    @staticmethod
    def grad(
        func: BaseFunction,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        double: bool,
        known: Gradients | None,
    ) -> tuple[Any, ...]:
        """``None`` for each target."""
        return (None,) * len(targets)


class ArrayRule:
    """The rule is ``gradients``, which serves arrays and variables alike."""

    needs_device = True

    @staticmethod
    def grad(
        func: Any,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        double: bool,
        known: Gradients | None,
    ) -> tuple[Any, ...]:
        """Gradients by ``gradients``."""
        if double:
            return tuple(func.backward(targets, gys))
        xs, ys = func._retained_arrays()
        for gy in gys:
            if gy is not None:
                break
        gxs = func.gradients(arrays_like(gy), targets, xs, ys, gys)
        return tuple([_array(gx, func.inputs[i].dtype) for i, gx in zip(targets, gxs)])


def watched_grad(
    func: BaseFunction, targets: tuple[int, ...], gys: tuple[Any, ...], known: Gradients | None
) -> tuple[Any, ...]:
    """Gradients on arrays, computed by functions where possible, which hooks then see."""
    tape = func._tape
    has_rule = func._kernels.rule_outputs == func._output_indexes_to_retain
    if tape is ArrayRule or (has_rule and tape is not NoGradient):
        tape = VariableRule
    return tape.grad(func, targets, gys, False, known)


def _array(gx: Any, dtype: Any) -> Any:
    """Gradient as an array of ``dtype``: NumPy turns 0-d arrays into scalars of another dtype."""
    if gx is None or (type(gx) is numpy.ndarray and gx.dtype == dtype):
        return gx
    return utils.force_array(gx, dtype)
