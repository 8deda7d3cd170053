"""Samples of a Gaussian distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from chainer import backend, utils
from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._arrays import draw_like, sent_like
from chainer.functions._base import Operation
from chainer.utils import argument, type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Gaussian(Operation):
    """Reparameterized sample, :math:`\\mu + \\sigma \\epsilon`."""

    eps: Any

    # The noise, which users read, is of the kind of the input.
    _kernels = NO_KERNELS

    def __init__(self, eps: NdArray | None = None) -> None:
        self.eps = eps

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('mean', 'ln_var'))
        m_type, v_type = in_types
        type_check.expect(
            m_type.dtype.kind == 'f', m_type.dtype == v_type.dtype, m_type.shape == v_type.shape
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        mean, ln_var = inputs
        self.retain_inputs((1,))
        xp = backend.get_array_module(mean)
        if self.eps is None:
            shape, dtype = ln_var.shape, mean.dtype
            self.eps = draw_like(
                mean, lambda xp: xp.asarray(xp.random.standard_normal(shape), dtype=dtype)
            )
        self._noise = sent_like(mean, self.eps)
        half = ln_var.dtype.type(0.5)
        return (utils.force_array(mean + xp.exp(ln_var * half) * self._noise, mean.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (ln_var,), (gy,) = xs, gys
        return [gy * m.exp(ln_var * 0.5) * self._noise * 0.5 if i else gy for i in targets]


@overload
def gaussian(
    mean: VariableLike,
    ln_var: VariableLike,
    *,
    eps: NdArray | None = ...,
    return_eps: Literal[False] = ...,
) -> Variable: ...
@overload
def gaussian(
    mean: VariableLike,
    ln_var: VariableLike,
    *,
    eps: NdArray | None = ...,
    return_eps: Literal[True],
) -> tuple[Variable, NdArray]: ...
def gaussian(
    mean: VariableLike, ln_var: VariableLike, **kwargs: Any
) -> Variable | tuple[Variable, NdArray]:
    """Samples of Gaussian distributions, differentiable in their parameters.

    .. math:: y = \\mu + \\epsilon \\exp(\\tfrac12 \\ln \\sigma^2), \\qquad \\epsilon \\sim N(0, 1)

    Args:
        mean (:class:`~chainer.Variable` or array): Means :math:`\\mu`, floating point of any
            shape.
        ln_var (:class:`~chainer.Variable` or array): Logarithms of variances
            :math:`\\sigma^2`, of the same shape and dtype.
        eps (array or None): Noise :math:`\\epsilon` to use instead of a random one.
        return_eps (bool): Whether to also return the noise.

    Returns:
        ~chainer.Variable or tuple: Samples of the shape and dtype of ``mean``, and the noise
        if requested.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Kingma and Welling, Auto-encoding variational Bayes, ICLR 2014.

    .. admonition:: Example

        >>> mean, ln_var = np.array([0, 10], np.float32), np.log(np.array([4, 1], np.float32))
        >>> F.gaussian(mean, ln_var, eps=np.array([1, -1], np.float32)).array.round(3)
        array([2., 9.], dtype=float32)

    """
    eps, return_eps = argument.parse_kwargs(kwargs, ('eps', None), ('return_eps', False))
    func = Gaussian(eps)
    (y,) = func.apply((mean, ln_var))
    return (y, func.eps) if return_eps else y
