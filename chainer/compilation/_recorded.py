"""A plan and what a call needs besides it."""

from __future__ import annotations

import abc
import threading
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import function_hook, link_hook, reporter
from chainer.compilation import _trees
from chainer.compilation._trees import CHAINED, INNER_ATTRIBUTES, flags_of
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._scope import Scope
    from chainer.compilation._update import EagerUpdate, PlannedUpdate

_chx_ndarray = chainerx.ndarray
_MISSING = object()  # differs from what any slot holds


def environment() -> tuple[Any, ...]:
    """Returns the state of the thread that a call depends on, besides the configuration."""
    return (
        threading.get_ident(),
        chainerx.get_default_device(),
        chainerx.is_backprop_required(),
        bool(reporter._get_reporters()),
        abc.get_cache_token(),  # changes with each subclass that an abstract class registers
    )


def has_hooks() -> bool:
    """Tells whether hooks of functions or links watch the thread."""
    return bool(function_hook.get_function_hooks() or link_hook._get_link_hooks())


def slot_form(value: Any, is_used: bool) -> Any:
    """Returns what has to stay the same in a value of a slot, whose array changes.

    ``None`` if there can be no plan with it. ``is_used``: whether kernels use the array; the plan
    itself then looks at the form of its memory.
    """
    kind = type(value)
    array = array_of(value)
    if array is None:
        return _trees.key(value) if _trees.is_constant(value) else None
    if type(array) is not _chx_ndarray:
        return None
    flags = flags_of(array)
    if is_used and flags & CHAINED:
        return None
    if kind is Variable:
        if value._layout is not None or not INNER_ATTRIBUTES.issuperset(vars(value)):
            return None
        form: Any = (Variable, value._requires_grad, value._name, flags)
    else:
        form = flags
    if is_used:
        return form
    # Code may ask for all this without a kernel, such as `len(self.h) != len(x)`.
    return form, array.shape, array.strides, array.dtype, array.device


def array_of(value: Any) -> Any:
    """Returns the array of a value of a slot, or ``None``."""
    if type(value) is Variable:
        return value._array
    return value if type(value) is _chx_ndarray else None


class Recorded:
    """A plan and all that a call needs besides it.

    Attributes:
        scope: What has to be unchanged.
        plan: The kernels.

    """

    def __init__(self) -> None:
        self.key: Any = None  # by which the function finds it
        self.environment: Any = None
        self.form: Any = None
        self.scope: Scope = None  # type: ignore[assignment]
        self.plan: Any = None
        # Attributes, name, form, and whether the array is an input
        self.slots: list[tuple[dict[str, Any], str, Any, bool]] = []
        self.slot_results: list[tuple[dict[str, Any], str, Callable[..., Any]]] = []
        self.grad_inputs: list[Any] = []
        self.updates: list[EagerUpdate | PlannedUpdate] = []
        self.reports: list[tuple[Callable[..., Any], Any]] = []
        self.draws: list[Callable[[], Any]] = []  # of arrays that are further inputs
        self.result: Callable[..., Any] = lambda arrays: None
        self.runs = 0

    def find_inputs(self, arrays: list[Any]) -> list[Any] | None:
        """Completes the inputs of the plan; returns ``None`` if it cannot run."""
        arrays = [*arrays]
        for attributes, name, form, is_used in self.slots:
            value = attributes.get(name, _MISSING)
            if slot_form(value, is_used) != form:
                return None
            if is_used:
                arrays.append(array_of(value))
        for array in self.grad_inputs:
            grad = array.grad
            if grad is None:
                return None
            arrays.append(grad)
        # The last test takes longest: calls with other shapes do not reach it.
        if self.plan.fits(arrays) and self.scope.watch.find_change() < 0:
            return arrays
        return None

    def run(self, inputs: list[Any]) -> Any:
        """Runs the plan, with the updates of optimizers.

        Raises:
            Exception: What a kernel raises, with the text of the eager call.

        """
        plan = self.plan
        self.runs += 1
        try:
            arrays = plan.start(
                [*inputs, *[draw() for draw in self.draws]] if self.draws else inputs
            )
            segment = 0
            for update in self.updates:
                plan.run(segment)
                segment = update.run(plan, segment + 1)
            plan.run(segment)
        except chainerx.ChainerxError as error:
            text = str(error)
            if not text.startswith('run: '):  # which ChainerX calls the plan itself
                raise
            raise type(error)(text[len('run: ') :]) from None
        for attributes, name, make in self.slot_results:
            attributes[name] = make(arrays)
        if self.reports:
            current = reporter.get_current_reporter()
            for values, observer in self.reports:
                current.report(values(arrays), observer)
        return self.result(arrays)
