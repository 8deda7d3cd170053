"""Dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from chainer import backend
from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.configuration import config
from chainer.functions._arrays import draw_like
from chainer.functions._base import Operation
from chainer.utils import _old_arguments, argument, type_check
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _make_mask(xp, shape, dtype, ratio):
    return xp.asarray(xp.random.rand(*shape) >= ratio) * dtype.type(1.0 / (1 - ratio))


class Dropout(Operation):
    """Sets random elements to zero and scales the others to keep the mean."""

    mask: Any

    # The mask, which users read, is of the kind of the input.
    _kernels = CHECKED_BY_CHAINERX

    def __init__(
        self, dropout_ratio: float, mask: NdArray | None = None, return_mask: bool = False
    ) -> None:
        if not 0.0 <= dropout_ratio < 1.0:
            raise ValueError(f'dropout_ratio must be in the range [0, 1), got {dropout_ratio}')
        self.dropout_ratio = dropout_ratio
        self.mask = mask
        self.return_mask = return_mask

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        if self.mask is None:
            xp = backend.get_array_module(x)
            self.mask = _make_mask(xp, x.shape, x.dtype, self.dropout_ratio)
        return (x * self.mask,)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        if self.mask is None:
            shape, dtype, ratio = x.shape, x.dtype, self.dropout_ratio
            self.mask = draw_like(
                x, lambda xp: xp.asarray(_make_mask(xp, shape, dtype, ratio), dtype)
            )
        return (x * backend.ChainerxDevice(x.device).send(self.mask),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (gys[0] * self.mask,)


@overload
def dropout(
    x: VariableLike,
    ratio: float = ...,
    *,
    mask: NdArray | None = ...,
    return_mask: Literal[False] = ...,
) -> Variable: ...
@overload
def dropout(
    x: VariableLike,
    ratio: float = ...,
    *,
    mask: NdArray | None = ...,
    return_mask: Literal[True],
) -> tuple[Variable, NdArray | None]: ...
def dropout(
    x: VariableLike, ratio: float = 0.5, **kwargs: Any
) -> Variable | tuple[Variable, NdArray | None]:
    """Sets random elements to zero in training mode, and does nothing otherwise.

    .. math:: y_i = \\begin{cases} 0 & \\text{with probability } r \\\\
        x_i / (1 - r) & \\text{otherwise} \\end{cases}

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        ratio (float): Probability :math:`r` of dropping an element, in :math:`[0, 1)`.
        mask (array or None): Mask to use instead of a random one, including the scale, of the
            shape and dtype of ``x``.
        return_mask (bool): Whether to also return the mask, which is ``None`` outside training.

    Returns:
        ~chainer.Variable or tuple: Output of the shape and dtype of ``x``, and the mask if
        requested.

    Raises:
        ValueError: If ``ratio`` is out of range.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting,
    JMLR 2014.

    .. admonition:: Example

        >>> x = np.ones((2, 3), np.float32)
        >>> y, mask = F.dropout(x, ratio=0.5, return_mask=True)
        >>> print(np.isin(y.array, [0, 2]).all(), (y.array == mask).all())
        True True
        >>> with chainer.using_config('train', False):
        ...     F.dropout(x).array
        array([[1., 1., 1.],
               [1., 1., 1.]], dtype=float32)

    """
    mask, return_mask = argument.parse_kwargs(
        kwargs,
        ('mask', None),
        ('return_mask', False),
        train=_old_arguments.TRAIN,
    )
    if not config.train:
        y = as_variable(x)
        return (y, None) if return_mask else y
    func = Dropout(ratio, mask, return_mask)
    (y,) = func.apply((x,))
    return (y, func.mask) if return_mask else y
