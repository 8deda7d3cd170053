"""Identity function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._base import Operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike


class Identity(Operation):
    """Function node of :func:`~chainer.functions.identity`."""

    # The outputs hold the very arrays of the inputs.
    _kernels = NO_KERNELS

    def forward(self, xs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return xs

    def forward_chainerx(
        self, xs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return xs

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return [gys[i] for i in targets]


def identity(*inputs: VariableLike) -> Any:
    """Returns its inputs unchanged, as new variables of the graph.

    Args:
        inputs (:class:`~chainer.Variable` or array): Inputs of any shape and dtype.

    Returns:
        ~chainer.Variable or tuple: One variable, or a tuple if there are several inputs, of
        the shapes and dtypes of the inputs.

    Raises:
        TypeError: If an input is neither a variable nor an array.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 2], np.float32))
        >>> y = F.identity(x)
        >>> y.array, y is x
        (array([1., 2.], dtype=float32), False)

    """
    outputs = Identity().apply(inputs)
    return outputs[0] if len(outputs) == 1 else outputs
