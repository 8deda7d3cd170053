"""Negative sampling loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

import chainerx
from chainer import backend, utils
from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._arguments import check_reduce
from chainer.functions._arrays import sent_like
from chainer.functions._base import Operation
from chainer.functions.connection.embed_id import EmbedIDGrad
from chainer.utils import argument, type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class NegativeSamplingFunction(Operation):
    """Function node of :func:`~chainer.functions.negative_sampling`."""

    # The samples are arrays of the kind that the caller uses.
    _kernels = NO_KERNELS
    ignore_label = -1
    #: Samples of the last forward: the true label, then the negative ones.
    samples: Any = None

    def __init__(self, sampler: Callable[..., Any], sample_size: int, reduce: str = 'sum') -> None:
        check_reduce(reduce, ('sum', 'no'))
        self.sampler = sampler
        self.sample_size = sample_size
        self.reduce = reduce

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 't', 'W'))
        x_type, t_type, w_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            x_type.ndim == 2,
            t_type.dtype.kind == 'i',
            t_type.ndim == 1,
            x_type.shape[0] == t_type.shape[0],
            w_type.dtype == x_type.dtype,
            w_type.ndim == 2,
        )

    def _draw(self, t):
        size = len(t), self.sample_size + 1
        # The sampler draws on its device; move the samples to the labels.
        samples = backend.get_device_from_array(t).send(self.sampler(size))
        samples = samples.astype(t.dtype, copy=True)
        samples[:, 0] = t
        return samples

    def _signs(self, x):
        """Minus one for the true label, one for the samples, zero for ignored inputs."""
        signs = sent_like(x, numpy.ones(self.samples.shape, x.dtype))
        signs[:, 0] = -1
        signs[self.samples[:, 0] == self.ignore_label] = 0
        return signs

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, t, W = inputs
        self.retain_inputs((0, 1, 2))
        xp = backend.get_array_module(x)
        if self.samples is None:
            self.samples = self._draw(t)
        signs = self._signs(x)
        scores = signs * (W[self.samples] * x[:, None]).sum(axis=2)
        if xp is chainerx:
            loss = chainerx.softplus(scores)
        else:
            loss = xp.logaddexp(scores, x.dtype.type(0))
        loss = (loss * abs(signs)).sum(axis=1)
        if self.reduce == 'sum':
            loss = loss.sum()
        return (utils.force_array(loss, x.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, t, W = xs
        (gy,) = gys
        signs = self._signs(as_array(x))
        samples = backend.get_array_module(signs).where(self.samples < 0, 0, self.samples)
        w = m.embed_id(samples, W)
        x3 = m.expand_dims(x, 1)
        scores = m.sum(w * x3, axis=2) * signs
        gy = m.expand_dims(gy, 1) if self.reduce == 'no' else gy
        g = m.expand_dims(gy * m.sigmoid(scores) * signs, 2)
        rules = (
            lambda: m.sum(g * w, axis=1),
            lambda: None,
            lambda: m.apply(EmbedIDGrad(samples, W.shape, None), (g * x3,))[0],
        )
        return [rules[i]() for i in targets]


@overload
def negative_sampling(
    x: VariableLike,
    t: VariableLike,
    W: VariableLike,
    sampler: Callable[..., Any],
    sample_size: int,
    reduce: str = ...,
    *,
    return_samples: Literal[False] = ...,
) -> Variable: ...
@overload
def negative_sampling(
    x: VariableLike,
    t: VariableLike,
    W: VariableLike,
    sampler: Callable[..., Any],
    sample_size: int,
    reduce: str = ...,
    *,
    return_samples: Literal[True],
) -> tuple[Variable, NdArray]: ...
def negative_sampling(
    x: VariableLike,
    t: VariableLike,
    W: VariableLike,
    sampler: Callable[..., Any],
    sample_size: int,
    reduce: str = 'sum',
    **kwargs: Any,
) -> Variable | tuple[Variable, NdArray]:
    """Negative sampling loss, which approximates a softmax over a large vocabulary.

    .. math:: -\\log \\sigma(w_t^\\top x) - \\sum_i \\log \\sigma(-w_{s_i}^\\top x)

    for an input :math:`x`, its label :math:`t` and samples :math:`s_i`.

    Args:
        x (:class:`~chainer.Variable` or array): Inputs, floating point of shape
            :math:`(N, D)`.
        t (:class:`~chainer.Variable` or array): Labels, integers of shape :math:`(N,)`; inputs
            with the label -1 have no loss.
        W (:class:`~chainer.Variable` or array): Embeddings, of shape :math:`(V, D)` and of
            the dtype of ``x``.
        sampler (callable): Given a shape, returns an integer array of samples of that shape;
            see :class:`chainer.utils.WalkerAlias`.
        sample_size (int): Number of samples for each input.
        reduce (str): ``'sum'``, or ``'no'`` for the loss of each input.
        return_samples (bool): Whether to also return the samples.

    Returns:
        ~chainer.Variable or tuple: Scalar, or losses of shape :math:`(N,)`, of the dtype of ``x``;
        and if requested, the array of samples of shape ``(N, sample_size + 1)``, whose first column
        is ``t``.

    Raises:
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Mikolov et al., Distributed representations of words and phrases and their
    compositionality, NIPS 2013.

    .. seealso:: :class:`~chainer.links.NegativeSampling`

    .. admonition:: Example

        >>> x, W = np.ones((1, 2), np.float32), np.zeros((4, 2), np.float32)
        >>> sampler = lambda shape: np.full(shape, 3)
        >>> loss, samples = F.negative_sampling(
        ...     x, np.array([0]), W, sampler, sample_size=2, return_samples=True)
        >>> print(loss.array.round(3), samples)  # 3 * log(2)
        2.079 [[0 3 3]]

    """
    (return_samples,) = argument.parse_kwargs(kwargs, ('return_samples', False))
    func = NegativeSamplingFunction(sampler, sample_size, reduce)
    loss = func.apply((x, t, W))[0]
    return (loss, func.samples) if return_samples else loss
