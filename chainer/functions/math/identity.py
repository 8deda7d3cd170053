"""Identity function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.function_node import FunctionNode

if TYPE_CHECKING:
    import chainerx
    from chainer._fallback import _FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


class Identity(FunctionNode):
    """Function node of :func:`~chainer.functions.identity`."""

    def forward(self, xs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return xs

    def forward_chainerx(
        self, xs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | _FallbackType:
        return xs

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        return tuple([grad_outputs[i] for i in target_input_indexes])

    _backward_arrays = backward


def identity(*inputs: VariableLike) -> Any:
    """Returns its inputs unchanged, as new variables of the graph.

    Args:
        inputs (:class:`~chainer.Variable` or array): Inputs of any shape and dtype.

    Returns:
        ~chainer.Variable or tuple: One variable, or a tuple if there are several inputs, of
        the shapes and dtypes of the inputs.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 2], np.float32))
        >>> y = F.identity(x)
        >>> y.array, y is x
        (array([1., 2.], dtype=float32), False)

    """
    outputs = Identity().apply(inputs)
    return outputs[0] if len(outputs) == 1 else outputs
