from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.function_node import FunctionNode
    from chainer.types import NdArray


def static_code(*dec_args: Any, **dec_kwargs: Any) -> Callable[..., Any]:
    """Declares a function with side effects, which a static graph would run again.

    Usable as ``@static_code`` and as ``@static_code()``. The function is unchanged. A function
    that calls it is compiled like any other: its computations become part of the plan, and if it
    has side effects, there is no plan and all calls run it.

    Args:
        dec_args: The function, if used without parentheses.
        dec_kwargs: Accepted for compatibility.

    Returns:
        callable: The function, or the decorator if none is given.

    Raises:
        TypeError: If the decorated object is not a function.

    .. admonition:: Example

        >>> @chainer.static_code()
        ... def double(x):
        ...     return 2 * x
        >>> double(3)
        6

    """
    if len(dec_args) == 1 and callable(dec_args[0]) and not dec_kwargs:
        return _as_it_is(dec_args[0])
    if dec_args:
        raise TypeError(f'static_code decorates functions, not {type(dec_args[0])}')
    return _as_it_is


def _as_it_is(func):
    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        return func(*args, **kwargs)

    return wrapped


def static_forward_optimizations(
    func: FunctionNode, inputs: tuple[NdArray, ...]
) -> tuple[NdArray | None, ...]:
    """Runs the forward computation of a function.

    Args:
        func (~chainer.FunctionNode): Function.
        inputs (tuple of arrays): Inputs.

    Returns:
        tuple of arrays: Outputs.

    .. admonition:: Example

        >>> from chainer.graph_optimizations import static_graph_utilities
        >>> y = F.exp(chainer.Variable(np.zeros(2, np.float32)))
        >>> static_graph_utilities.static_forward_optimizations(y.creator_node, (np.zeros(1),))
        (array([1.]),)

    """
    return func.forward(inputs)
