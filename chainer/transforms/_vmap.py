"""Mapping of functions over samples, and gradients of each sample."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from chainer._core.settings.half import FLOAT_KINDS
from chainer.functions.array.moveaxis import moveaxis
from chainer.transforms._calls import as_tuple, own_variable
from chainer.transforms._mapping import SampleMapping
from chainer.variable import Variable, as_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def vmap(
    f: Callable[..., Any], in_axes: int | Sequence[int | None] = 0, out_axes: Any = 0
) -> Callable[..., Any]:
    """Makes a function of one sample a function of many: maps it over an axis of its arguments.

    .. math:: y_i = f(x_i), \\quad i = 0, \\ldots, N - 1

    ``f`` runs once, on variables with the shapes of one sample, and each function in it computes
    all samples at once by a rule. A function without one is called for each sample, and a
    ``chainer.transforms.VmapLoopWarning`` says so, once for each class.

    Args:
        f (callable): Function of variables that returns a variable or a tuple of them. It may
            use :func:`chainer.grad`, :func:`chainer.jvp` and other mapped functions, but cannot
            read elements of arrays, as ``x.array + 1`` does.
        in_axes (int or sequence of int or None): Axis of each argument that counts samples, or
            ``None`` for an argument that all samples share. One int serves all arguments.
        out_axes (int or sequence of int): Axis of each output that counts samples.

    Returns:
        callable: Function of variables or arrays; arguments that are mapped have one axis more
        than those of ``f``, and so do the outputs. Keyword arguments are handed to ``f``.

    Raises:
        TypeError: If ``in_axes`` is neither an int nor a sequence, or ``f`` returns no variables.
        ValueError: If an argument lacks the axis, lengths differ, or nothing is mapped.

    .. admonition:: Example

        >>> x = np.arange(6, dtype=np.float32).reshape(3, 2)
        >>> W = np.array([[1, 2], [3, 4]], np.float32)
        >>> chainer.vmap(F.matmul, in_axes=(0, None))(x, W)
        variable([[ 3.,  4.],
                  [11., 16.],
                  [19., 28.]])

    """

    @functools.wraps(f)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        axes = _axes('in_axes', in_axes, len(args))
        mapping = SampleMapping(number_of_samples(args, axes))
        try:
            returned = f(
                *[x if a is None else mapping.wrap(_front(x, a)) for x, a in zip(args, axes)],
                **kwargs,
            )
            ys = as_tuple(returned)
            for y in ys:
                if not isinstance(y, Variable):
                    raise TypeError(
                        f'f must return a variable or a tuple of variables, not {type(y)}'
                    )
            ys = tuple([mapping.all_samples(y) for y in ys])
        finally:
            mapping.is_open = False
        ys = tuple(
            [
                y if a == 0 else moveaxis(y, 0, a)
                for y, a in zip(ys, _axes('out_axes', out_axes, len(ys)))
            ]
        )
        return ys if isinstance(returned, (tuple, list)) else ys[0]

    return mapped


def _axes(name: str, axes: Any, length: int) -> Sequence[Any]:
    """An axis for each of ``length`` values."""
    if isinstance(axes, int):
        return [axes] * length
    if not isinstance(axes, (tuple, list)):
        raise TypeError(f'{name} must be an int or a tuple, not {axes!r}')
    if len(axes) != length:
        raise ValueError(f'{name} has {len(axes)} elements for {length} values')
    return axes


def _front(x: Any, axis: int) -> Variable:
    """Variable with its samples along the first axis."""
    var = as_variable(x)
    if not var.requires_grad and var.dtype.kind in FLOAT_KINDS:
        var = own_variable(var)
    return var if axis == 0 else moveaxis(var, axis, 0)


def number_of_samples(args: Sequence[Any], axes: Sequence[int | None]) -> int:
    """Length of the axes that count samples.

    Raises:
        ValueError: If an argument lacks its axis, lengths differ, or there is no axis.

    """
    sizes = {}
    for i, (x, axis) in enumerate(zip(args, axes)):
        if axis is not None:
            shape = as_variable(x).shape
            if not -len(shape) <= axis < len(shape):
                raise ValueError(
                    f'argument {i} has no axis {axis} to map over: its shape is {shape}'
                )
            sizes[i] = shape[axis]
    if not sizes:
        raise ValueError(f'nothing is mapped: in_axes is {axes!r} for {len(args)} arguments')
    if len(set(sizes.values())) > 1:
        raise ValueError(f'arguments must have one number of samples, not {sizes} by argument')
    return next(iter(sizes.values()))
