"""Memory layouts of variables.

A variable may store its array in an order of axes other than that of its shape. The order of the
shape is the *semantic* one, that of the array the *raw* one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import function_node
from chainer._core.devices import layouts
from chainer._core.devices.layouts import (  # noqa: F401
    CUDNN_CHANNEL_FIRST_W,
    CUDNN_CHANNEL_FIRST_X,
    CUDNN_CHANNEL_LAST_W,
    CUDNN_CHANNEL_LAST_X,
)
from chainer._core.names.namespace import operators
from chainer.utils import type_check
from chainer.variable import Variable

if TYPE_CHECKING:
    import chainerx
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class _Unspecified:
    def __repr__(self) -> str:
        return '<unspecified>'


_unspecified = _Unspecified()


def get_raw_shape(arr_or_var: VariableLike) -> tuple[int, ...]:
    """Returns the shape of the array, in the order of its memory layout.

    Args:
        arr_or_var: Array or :class:`~chainer.Variable`.

    Returns:
        tuple of int: Shape.

    .. admonition:: Example

        >>> from chainer import memory_layouts
        >>> x = chainer.Variable(np.zeros((2, 3, 4, 5), np.float32))
        >>> y = x.as_layout(memory_layouts.CUDNN_CHANNEL_LAST_X)
        >>> memory_layouts.get_raw_shape(y)
        (2, 4, 5, 3)

    """
    if isinstance(arr_or_var, Variable):
        return arr_or_var.raw_array.shape
    return arr_or_var.shape


def get_semantic_shape(
    arr_or_var: VariableLike, *, assumed_layout: Any = _unspecified
) -> tuple[int, ...]:
    """Returns the shape in the order of axes in the documentation of functions.

    Args:
        arr_or_var: Array or :class:`~chainer.Variable`.
        assumed_layout: Memory layout of an array. If given, a variable must have it, too.

    Returns:
        tuple of int: Shape.

    Raises:
        ValueError: If the variable has another layout.

    .. admonition:: Example

        >>> from chainer import memory_layouts
        >>> x = chainer.Variable(np.zeros((2, 3, 4, 5), np.float32))
        >>> y = x.as_layout(memory_layouts.CUDNN_CHANNEL_LAST_X)
        >>> memory_layouts.get_semantic_shape(y)
        (2, 3, 4, 5)

    """
    if isinstance(arr_or_var, Variable):
        if assumed_layout not in (_unspecified, arr_or_var.layout):
            raise ValueError(
                f'The layout of the variable is {arr_or_var.layout}, not {assumed_layout}'
            )
        return arr_or_var.shape
    layout = None if assumed_layout is _unspecified else assumed_layout
    return layouts.transpose_shape(arr_or_var.shape, layout, None)


class AsLayout(function_node.FunctionNode):
    """Changes the memory layout; values at semantic indexes stay the same.

    Args:
        layout: Memory layout, one of the constants of this module or ``None``.

    Raises:
        ValueError: If the layout is unknown.

    .. admonition:: Example

        >>> from chainer import memory_layouts
        >>> x = chainer.Variable(np.zeros((2, 3, 4, 5), np.float32))
        >>> y, = memory_layouts.AsLayout(memory_layouts.CUDNN_CHANNEL_LAST_X).apply((x,))
        >>> y.shape, y.raw_array.shape
        ((2, 3, 4, 5), (2, 4, 5, 3))

    """

    axes = None
    in_layout: Any = None

    def __init__(self, layout: Any) -> None:
        if layout not in layouts.LAYOUTS:
            raise ValueError(f'Unknown memory layout: {layout!r}')
        self.out_layout = layout

    @property
    def label(self) -> str:
        return 'AsLayout'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))

    def check_layout_forward(self, inputs: tuple[Variable, ...]) -> None:
        pass

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        # Without special layouts, there are no input layouts.
        if self.input_layouts:
            (self.in_layout,) = self.input_layouts
        self.output_layouts = (self.out_layout,)
        return (layouts.transpose_array(x, self.in_layout, self.out_layout),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        # Arrays of ChainerX only have the standard layout.
        if self.out_layout is not None:
            raise RuntimeError('ChainerX arrays have no memory layout but the standard one')
        return inputs

    def backward(
        self, indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        # Gradients are in the layout of the output, even if the variable does not tell.
        grad = AsLayout(self.in_layout)
        grad.in_layout = self.out_layout
        return grad.apply(grad_outputs)


def _as_layout(x, layout):
    return AsLayout(layout).apply((x,))[0]


operators.as_layout = _as_layout
