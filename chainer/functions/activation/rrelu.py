"""Randomized leaky rectified linear unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

import chainerx
from chainer import backend
from chainer._core.engines.kernels import NO_KERNELS
from chainer.configuration import config
from chainer.functions import _arrays, _base
from chainer.utils import argument, type_check

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class RReLU(_base.UnaryFunction):
    """Rectified linear unit with random slopes for negative values."""

    r: Any

    retains = ''
    # The slopes in `r` are arrays of the kind that the caller uses.
    _kernels = NO_KERNELS

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, r: NdArray | None = None
    ) -> None:
        if not 0.0 <= lower < 1.0:
            raise ValueError(f'lower must be in the range [0, 1), got {lower}')
        if not 0.0 <= upper < 1.0:
            raise ValueError(f'upper must be in the range [0, 1), got {upper}')
        if not lower < upper:
            raise ValueError(f'lower must be less than upper, got {lower} and {upper}')
        self.lower = lower
        self.upper = upper
        self.r = r

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        if self.r is not None:
            type_check.expect(
                in_types[0].dtype == type_check.make_variable(self.r.dtype, 'r.dtype'),
                in_types[0].shape == type_check.make_variable(self.r.shape, 'r.shape'),
            )

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[NdArray | None, ...] | FallbackType:
        return (self.compute(chainerx, inputs[0]),)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        if not config.train:
            self.r = _arrays.sent_like(
                x, numpy.full(x.shape, (self.lower + self.upper) / 2, x.dtype)
            )
        elif self.r is None:
            shape, dtype, lower, upper = x.shape, x.dtype, self.lower, self.upper
            self.r = _arrays.draw_like(
                x, lambda xp: _arrays.in_dtype(xp.random.uniform(lower, upper, shape), dtype)
            )
        else:
            self.r = _arrays.sent_like(x, self.r) if xp is chainerx else backend.from_chx(self.r)
        self._factors = xp.where(x >= 0, x.dtype.type(1), self.r)
        return x * self._factors

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * self._factors


@overload
def rrelu(
    x: VariableLike,
    l: float = ...,
    u: float = ...,
    *,
    r: NdArray | None = ...,
    return_r: Literal[False] = ...,
) -> Variable: ...
@overload
def rrelu(
    x: VariableLike,
    l: float = ...,
    u: float = ...,
    *,
    r: NdArray | None = ...,
    return_r: Literal[True],
) -> tuple[Variable, NdArray]: ...
def rrelu(
    x: VariableLike, l: float = 1.0 / 8, u: float = 1.0 / 3, **kwargs: Any
) -> Variable | tuple[Variable, NdArray]:
    """Randomized leaky rectified linear unit.

    .. math:: f(x) = \\begin{cases} x & x \\ge 0 \\\\ r x & x < 0 \\end{cases}

    In training :math:`r` is drawn from the uniform distribution :math:`U(l, u)` for each
    element; otherwise it is :math:`(l + u) / 2`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.
        l (float): Lower bound of the slopes.
        u (float): Upper bound of the slopes.
        r (array or None): Slopes to use in training, of the shape and dtype of ``x``.
        return_r (bool): Whether to also return the slopes.

    Returns:
        ~chainer.Variable or tuple: Output of the shape and dtype of ``x``, and the array ``r`` if
        ``return_r``.

    Raises:
        ValueError: Unless ``0 <= l < u < 1``.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or ``r`` does not
            fit.

    See: Xu et al., `Empirical Evaluation of Rectified Activations in Convolutional Network
    <https://arxiv.org/abs/1505.00853>`_, 2015.

    .. admonition:: Example

        >>> with chainer.using_config('train', False):
        ...     F.rrelu(np.array([-4, 2], np.float32), 0.25, 0.75).array
        array([-2.,  2.], dtype=float32)

    """
    r, return_r = argument.parse_kwargs(
        kwargs,
        ('r', None),
        ('return_r', False),
        train="train argument is not supported anymore. Use chainer.using_config('train', train)",
    )
    func = RReLU(l, u, r)
    y = func.apply((x,))[0]
    if return_r:
        return y, func.r
    return y
