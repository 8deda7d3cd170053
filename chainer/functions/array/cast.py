"""Conversion of dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.settings.half import FLOAT_KINDS, find_bfloat16
from chainer.configuration import config
from chainer.functions.array._views import View
from chainer.utils.array import _cast
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import DTypeSpec, NdArray, VariableLike
    from chainer.variable import Variable


class Cast(View):
    """Casts an array to another dtype."""

    def __init__(self, typ: DTypeSpec) -> None:
        self.type = typ

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        dtype: Any = self.type  # `None` and `chainer.mixed16` were resolved
        return (inputs[0].astype(dtype),)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (_cast(inputs[0], self.type),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        in_type = self.inputs[0].dtype
        return ((m.cast(gys[0], in_type) if in_type.kind in FLOAT_KINDS else None),)


def cast(x: VariableLike, typ: DTypeSpec) -> Variable:
    """Casts an array to another dtype.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        typ (str or dtype): dtype of the output.

    Returns:
        ~chainer.Variable: Output of the shape of ``x`` and the dtype ``typ``. Its gradient is cast
        back.

    Raises:
        TypeError: If ``typ`` is no dtype.

    .. admonition:: Example

        >>> F.cast(np.ones(2, np.float32), np.float64).dtype
        dtype('float64')

    """
    if isinstance(typ, str) and typ == 'bfloat16':  # NumPy may not know the name
        typ = find_bfloat16()
    if x.dtype == typ and not config.enable_backprop:
        return as_variable(x)
    return Cast(typ).apply((x,))[0]
