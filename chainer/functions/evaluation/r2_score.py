"""Coefficient of determination."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import backend, utils
from chainer._core.autograd.tape import NoGradient
from chainer.functions._base import CallableFunction, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    import chainerx
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class R2_score(CallableFunction):
    """Function node of :func:`~chainer.functions.r2_score`."""

    _kernels = kernels()
    _rule = NoGradient

    def __init__(self, sample_weight: None, multioutput: str) -> None:
        if sample_weight is not None:
            raise NotImplementedError('sample_weight is not supported: it must be None')
        if multioutput not in ('uniform_average', 'raw_values'):
            raise ValueError(
                f"multioutput must be 'uniform_average' or 'raw_values', got {multioutput!r}"
            )
        self.sample_weight = sample_weight
        self.multioutput = multioutput

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('pred', 'true'))
        pred_type, true_type = in_types
        type_check.expect(
            pred_type.dtype.kind == 'f',
            true_type.dtype.kind == 'f',
            pred_type.shape == true_type.shape,
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        pred, true = inputs
        xp = backend.get_array_module(pred)
        residual = ((pred - true) ** 2).sum(axis=0)
        total = ((true - true.mean(axis=0)) ** 2).sum(axis=0)
        # Constant targets have no variance to explain.
        score = xp.where(total != 0, 1 - residual / xp.where(total != 0, total, 1), 0)
        if self.multioutput == 'uniform_average':
            score = score.mean()
        return (utils.force_array(score, pred.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[NdArray | None, ...] | FallbackType:
        return self.forward(tuple([x.as_grad_stopped() for x in inputs]))


def r2_score(
    pred: VariableLike,
    true: VariableLike,
    sample_weight: None = None,
    multioutput: str = 'uniform_average',
) -> Variable:
    """Coefficient of determination of a regression; it has no gradient.

    It is :math:`R^2 = 1 - \\sum (t - y)^2 / \\sum (t - \\bar t)^2`, or zero for constant targets.

    Args:
        pred (:class:`~chainer.Variable` or array): Predictions, floating point of shape
            :math:`(N, ...)`.
        true (:class:`~chainer.Variable` or array): Targets, floating point of the same shape.
        sample_weight: Must be ``None``.
        multioutput (str): ``'uniform_average'``, or ``'raw_values'`` for one score per output.

    Returns:
        ~chainer.Variable: Scalar, or scores of shape :math:`(...)`, of the dtype of ``pred``.

    Raises:
        NotImplementedError: If ``sample_weight`` is given.
        ValueError: If ``multioutput`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes differ or an input is not
            floating point.

    .. admonition:: Example

        >>> pred = np.array([[1, 2], [2, 2], [4, 2]], np.float32)
        >>> true = np.array([[1, 1], [2, 2], [3, 3]], np.float32)
        >>> F.r2_score(pred, true).array
        array(0.25, dtype=float32)
        >>> F.r2_score(pred, true, multioutput='raw_values').array
        array([0.5, 0. ], dtype=float32)

    """
    return R2_score(sample_weight, multioutput).apply((pred, true))[0]
