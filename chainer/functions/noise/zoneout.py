"""Zoneout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import backend
from chainer._core.engines.kernels import NO_KERNELS
from chainer.configuration import config
from chainer.functions._arrays import draw_like, sent_like
from chainer.functions._base import Operation
from chainer.utils import _old_arguments, argument, type_check
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Zoneout(Operation):
    """Takes each element randomly from the first or the second input."""

    flag_x: Any

    # The flags, which users read, are of the kind of the input.
    _kernels = NO_KERNELS

    def __init__(self, zoneout_ratio: float) -> None:
        self.zoneout_ratio = zoneout_ratio
        self.flag_x = None

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('h', 'x'))
        h_type, x_type = in_types
        type_check.expect(h_type.dtype.kind == 'f', x_type.dtype == h_type.dtype)
        type_check.expect_broadcast_shapes(h_type.shape, x_type.shape)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        h, x = inputs
        xp = backend.get_array_module(h)
        if self.flag_x is None:
            shape, ratio = x.shape, self.zoneout_ratio
            self.flag_x = draw_like(x, lambda xp: xp.random.rand(*shape) >= ratio)
        self.flag_x = sent_like(x, self.flag_x)
        return (xp.where(self.flag_x, x, h),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gy,) = gys
        new = self.flag_x.astype(gy.dtype)
        return [m.sum_to(gy * (new if i else 1 - new), self.inputs[i].shape) for i in targets]


def zoneout(h: VariableLike, x: VariableLike, ratio: float = 0.5, **kwargs: Any) -> Variable:
    """Keeps random elements of the previous state.

    In training, an element comes from ``h`` with probability ``ratio`` and from ``x``
    otherwise. Outside training, the output is ``x``.

    Args:
        h (:class:`~chainer.Variable` or array): Previous state, floating point of any
            shape.
        x (:class:`~chainer.Variable` or array): New state, of the same dtype and usually of the
            same shape; otherwise, both are broadcast.
        ratio (float): Probability of keeping an element.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of the inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Krueger et al., Zoneout: regularizing RNNs by randomly preserving hidden activations,
    ICLR 2017.

    .. seealso:: :class:`~chainer.links.StatefulZoneoutLSTM`

    .. admonition:: Example

        >>> h, x = np.zeros(3, np.float32), np.ones(3, np.float32)
        >>> with chainer.using_config('train', False):
        ...     F.zoneout(h, x, ratio=0.25).array
        array([1., 1., 1.], dtype=float32)

    """
    if kwargs:
        argument.parse_kwargs(kwargs, train=_old_arguments.TRAIN)
    if config.train:
        return Zoneout(ratio).apply((h, x))[0]
    return as_variable(x)
