"""Calls of a user's function on fresh variables, and the structure of its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import chainerx
from chainer._core.devices.array_kinds import KINDS
from chainer._core.settings.half import FLOAT_KINDS
from chainer.functions.math.identity import identity
from chainer.variable import Variable, as_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.types import VariableLike


class Call(NamedTuple):
    """Inputs and outputs of a call that was recorded."""

    xs: tuple[Variable, ...]
    ys: tuple[Variable, ...]
    has_one_output: bool

    def like_outputs(self, values: Sequence[Any]) -> Any:
        """One value, or a tuple of them, as the function returned its outputs."""
        return values[0] if self.has_one_output else tuple(values)


def record(f: Callable[..., Any], primals: Any) -> Call:
    """Calls ``f`` on variables of their own, by which its outputs can be differentiated.

    Raises:
        TypeError: If an input is not floating point, or an output not a variable.

    """
    xs = tuple([_input(i, x) for i, x in enumerate(as_tuple(primals))])
    returned = f(*xs)
    has_one_output = not isinstance(returned, (tuple, list))
    ys = (returned,) if has_one_output else tuple(returned)
    for y in ys:
        if not isinstance(y, Variable):
            raise TypeError(f'f must return a variable or a tuple of variables, not {type(y)}')
    return Call(xs, ys, has_one_output)


def _input(i: int, x: VariableLike) -> Variable:
    var = as_variable(x)
    if var.dtype.kind not in FLOAT_KINDS:
        raise TypeError(
            f'primals[{i}] must be floating point to differentiate by it, not {var.dtype}: '
            'let f refer to other arguments itself, as in jvp(lambda x: f(x, t), ...)'
        )
    return own_variable(var)


def own_variable(var: Variable) -> Variable:
    """A variable that requires a gradient, in the graph of ``var`` if it has one.

    It differs from others even where the same variable is given twice.
    """
    array = var.raw_array
    lift = KINDS[type(array)].lift
    if lift is not None:
        return lift(own_variable, array)
    if not var.requires_grad:
        return Variable(var.array)
    return as_variable(var.chx_array.view()) if var.xp is chainerx else identity(var)


def as_tuple(values: Any) -> tuple[Any, ...]:
    """A tuple of the elements of a tuple or a list, or of one object."""
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def check_tangents(xs: Sequence[Variable], tangents: Any) -> tuple[Variable, ...]:
    """Tangents as variables.

    Raises:
        ValueError: If their number or a shape differs from those of the inputs.
        TypeError: If a dtype does.

    """
    vs = tuple([as_variable(v) for v in as_tuple(tangents)])
    if len(vs) != len(xs):
        raise ValueError(f'tangents must be as many as primals, {len(xs)}, but are {len(vs)}')
    for i, (x, v) in enumerate(zip(xs, vs)):
        if v.shape != x.shape:
            raise ValueError(f'tangents[{i}] must have the shape {x.shape}, not {v.shape}')
        if v.dtype != x.dtype:
            raise TypeError(f'tangents[{i}] must have the dtype {x.dtype}, not {v.dtype}')
    return vs
