"""What checks do with variables: forward, backward, and gradients put aside."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.variables.backward import backward
from chainer.variable import Variable, as_variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def as_tuple(x: Any) -> tuple[Any, ...]:
    """Returns several objects, one, or none (``None``) as a tuple."""
    if x is None:
        return ()
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def backpropagate(
    ys: Iterable[Any], gys: Iterable[Any], enable_double_backprop: bool = False
) -> None:
    """Backpropagates from all outputs that have a gradient."""
    roots: dict[int, Any] = {}
    for y, gy in zip(ys, gys):
        if gy is None:
            continue
        gy = as_variable(gy)
        if id(y) in roots:
            gy = roots[id(y)][1] + gy
        roots[id(y)] = y, gy
    outputs = []
    for y, gy in roots.values():
        if not isinstance(y, Variable):
            raise TypeError(f'the function must return variables, not {type(y)}')
        # Nothing flows back from a constant, such as an integer; on ChainerX it takes no gradient.
        if not y.requires_grad:
            continue
        # Also for an input returned unchanged.
        y.grad_var = gy
        outputs.append(y)
    if outputs:
        backward(outputs, enable_double_backprop=enable_double_backprop)


def shift(array: Any, delta: float, direction: Any) -> Any:
    """Returns ``array + delta * direction``."""
    device = backend.get_device_from_array(array)
    with backend.using_device(device):
        # NumPy turns 0-dimensional results into scalars.
        return device.xp.asarray(array + device.send((delta * direction).astype(array.dtype)))


def set_array(variable: Any, array: Any) -> None:
    """Sets an array without a warning of gradients of another dtype."""
    with warnings.catch_warnings():
        # `saved_grads` puts gradients of another dtype aside.
        warnings.simplefilter('ignore', DeprecationWarning)
        variable.array = array


@contextlib.contextmanager
def saved_grads(variables: Sequence[Any]) -> Iterator[None]:
    """Lets the gradients be used freely."""
    grads = [x.grad_var for x in variables]
    for x in variables:
        x.cleargrad()
    try:
        yield
    finally:
        for x, grad in zip(variables, grads):
            x.cleargrad()
            if grad is not None:
                x.grad_var = grad


def random_directions(shapes: Iterable[tuple[int, ...]]) -> list[Any]:
    """Makes vectors that together form a unit vector, so the step has length eps."""
    directions = [numpy.asarray(numpy.random.normal(size=shape)) for shape in shapes]
    # Small components would hide errors.
    directions = [numpy.where(v < 0, -1, 1) * numpy.maximum(numpy.abs(v), 0.1) for v in directions]
    norm = numpy.sqrt(sum([numpy.square(v).sum() for v in directions]))
    return [v / norm if norm > 0 else v for v in directions]
