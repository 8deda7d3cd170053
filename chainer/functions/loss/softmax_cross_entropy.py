"""Softmax cross entropy."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy

import chainerx
from chainer import backend, utils
from chainer._core.reports.fallback import Fallback
from chainer._core.settings.debug import is_debug
from chainer._core.settings.half import FLOAT_KINDS
from chainer.functions._arguments import check_reduce
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check
from chainer.variable import Variable, as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _log_softmax(xp, x):
    """Log-softmax along the second axis."""
    y = x - x.max(axis=1, keepdims=True)
    y -= xp.log(xp.exp(y).sum(axis=1, keepdims=True))
    return y


def _check_class_weight(class_weight):
    if class_weight is None:
        return
    if isinstance(class_weight, Variable):
        raise ValueError('class_weight must be an array, not a Variable')
    if class_weight.ndim != 1:
        raise ValueError(f'class_weight.ndim should be 1, got {class_weight.ndim}')
    if class_weight.dtype.kind not in FLOAT_KINDS:
        raise ValueError(f"The dtype of class_weight should be 'f', got {class_weight.dtype}")


def _float_labels(t_type):
    return type_check.InvalidType(
        "t.dtype.kind == 'i' for labels, as t.astype('int32') gives, or t.shape == "
        'x.shape for probabilities',
        f't.dtype == {type_check.eval(t_type.dtype)}, t.shape == {type_check.eval(t_type.shape)}',
    )


class SoftmaxCrossEntropy(Operation):
    """Softmax activation followed by a cross entropy loss."""

    _kernels = kernels(retain=(0, 1), check=True)

    def __init__(
        self,
        normalize: bool = True,
        cache_score: bool = True,
        class_weight: NdArray | None = None,
        ignore_label: int = -1,
        reduce: str = 'mean',
        soft_target_loss: str = 'cross-entropy',
    ) -> None:
        _check_class_weight(class_weight)
        check_reduce(reduce)
        if soft_target_loss not in ('cross-entropy', 'kl-divergence'):
            raise ValueError(
                "only 'cross-entropy' and 'kl-divergence' are valid for "
                f"'soft_target_loss', but {soft_target_loss!r} is given"
            )
        self.normalize = normalize
        self.cache_score = cache_score
        self.class_weight = class_weight
        self.ignore_label = ignore_label
        self.reduce = reduce
        self.soft_target_loss = soft_target_loss
        self._target_has_gradient = False

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 't'))
        x_type, t_type = in_types
        type_check.expect(x_type.dtype.kind == 'f', x_type.ndim > 1)
        if type_check.eval(t_type.dtype.kind) == 'f':
            if type_check.eval(t_type.ndim) == type_check.eval(x_type.ndim) - 1:
                raise _float_labels(t_type)
            type_check.expect(x_type.shape == t_type.shape)
        else:
            type_check.expect(
                t_type.dtype.kind == 'i',
                t_type.ndim == x_type.ndim - 1,
                x_type.shape[0] == t_type.shape[0],
                x_type.shape[2:] == t_type.shape[1:],
            )

    @property
    def y(self) -> NdArray | None:
        """Softmax probabilities, if the score is cached."""
        if not self.cache_score or self.inputs is None:
            return None
        x = self.inputs[0].data
        return None if x is None else numpy.exp(_log_softmax(backend.get_array_module(x), x))

    # -- parts shared by forward and backward --------------------------------------------

    def _is_ignored(self, t):
        # CuPy compares no array with None, and no integer differs from itself.
        return t != t if self.ignore_label is None else t == self.ignore_label

    def _weights(self, xp, x, t):
        """Weight of each element of ``t`` in the gradient, and the coefficient of the mean."""
        mask = ~self._is_ignored(t)
        coefficient = None
        if self.reduce == 'mean':
            count = int(mask.sum()) if self.normalize else len(x)
            coefficient = 1.0 / max(count, 1)
        weight = mask.astype(x.dtype)
        if self.class_weight is not None:
            class_weight = backend.get_device_from_array(x).send(self.class_weight)
            weight *= class_weight.astype(x.dtype, copy=False)[xp.where(mask, t, 0)]
        return weight, coefficient

    def _one_hot_index(self, xp, t):
        """Index of the element of each true class; ignored labels point at class zero."""
        labels = xp.where(self._is_ignored(t), 0, t)
        if t.ndim == 1:
            return xp.arange(len(t)), labels
        grid = xp.ogrid[tuple(map(slice, t.shape))]
        return (grid[0], labels, *grid[1:])

    def _check_labels(self, x, t):
        if bool((((t < 0) | (t >= x.shape[1])) & ~self._is_ignored(t)).any()):
            raise ValueError(
                f'each label `t` needs to satisfy 0 <= t < {x.shape[1]} or t == {self.ignore_label}'
            )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, t = inputs
        self.retain_inputs((0, 1))
        xp = backend.get_array_module(x)
        if self.class_weight is not None and len(self.class_weight) != x.shape[1]:
            raise ValueError(
                f'class_weight must have a weight for each of {x.shape[1]} classes, '
                f'but has {len(self.class_weight)}'
            )
        if x.size == 0:
            shape = () if self.reduce == 'mean' else x.shape[:1] + x.shape[2:]
            return (xp.zeros(shape, x.dtype),)
        log_y = _log_softmax(xp, x)
        if t.dtype.kind in FLOAT_KINDS:
            return (self._soft_target_loss(xp, x, t, log_y),)
        if is_debug():
            self._check_labels(x, t)
        try:
            loss = -log_y[self._one_hot_index(xp, t)]
        except IndexError as error:  # of NumPy
            raise IndexError(
                f'labels must be less than {x.shape[1]}, the number of classes, or ignore_label, '
                f'which is {self.ignore_label}, but are from {t.min()} to {t.max()}'
            ) from error
        weight, coefficient = self._weights(xp, x, t)
        # Not a product: an ignored element may have an infinite loss.
        loss = xp.where(self._is_ignored(t), x.dtype.type(0), loss * weight)
        if coefficient is None:
            return (loss,)
        return (xp.asarray(loss.sum() * x.dtype.type(coefficient), dtype=x.dtype),)

    def _soft_target_loss(self, xp, x, t, log_y):
        loss = -(t * log_y)
        if self.soft_target_loss == 'kl-divergence':
            # t log t is zero at t = 0.
            loss = loss + t * xp.log(xp.where(t > 0, t, 1))
        if self.class_weight is not None:
            loss = loss * self._broadcast_class_weight(x)
        loss = loss.sum(axis=1)
        if self.reduce == 'no':
            return loss
        return utils.force_array(loss.sum() * x.dtype.type(1.0 / loss.size), x.dtype)

    def _broadcast_class_weight(self, x):
        weight = backend.get_device_from_array(x).send(self.class_weight)
        return weight.astype(x.dtype, copy=False).reshape((1, -1) + (1,) * (x.ndim - 2))

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, t = inputs
        if x.size == 0:
            return Fallback('no elements')
        if t.dtype.kind in FLOAT_KINDS:
            if t.shape != x.shape or t.dtype != x.dtype:
                return Fallback('other probabilities than scores')
            if not self._target_has_gradient:
                t = t.as_grad_stopped()
            return (self._soft_target_loss(chainerx, x, t, chainerx.log_softmax(x, axis=1)),)
        if is_debug():
            self._check_labels(x, t)
        class_weight = self.class_weight
        if class_weight is not None:
            class_weight = backend.ChainerxDevice(x.device).send(class_weight)
        ignore_label = self.ignore_label
        if ignore_label is None:
            ignore_label = numpy.iinfo(numpy.int64).min
        elif not isinstance(ignore_label, numbers.Integral):
            return Fallback('ignored label of another type')
        return (
            chainerx.softmax_cross_entropy(
                x, t, ignore_label, class_weight, self.reduce, self.normalize
            ),
        )

    # -- backward ------------------------------------------------------------------------

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, t = xs
        (gy,) = gys
        rule = self._soft_target_gradients if t.dtype.kind in FLOAT_KINDS else self._label_gradients
        gxs = (m.broadcast_to(m.sum(gy), x.shape), None) if x.size == 0 else rule(m, x, t, gy)
        return [gxs[i] for i in targets]

    def _label_gradients(self, m, x, t, gy):
        x_array, t = as_array(x), as_array(t)
        xp = backend.get_array_module(t)
        weight, coefficient = self._weights(xp, x_array, t)
        one_hot = xp.zeros_like(x_array)
        one_hot[self._one_hot_index(xp, t)] = 1
        if coefficient is not None:
            gy = gy * coefficient
        return (m.softmax(x) - one_hot) * m.expand_dims(gy * weight, 1), None

    def _soft_target_gradients(self, m, x, t, gy):
        x_dtype, t_dtype = x.dtype, t.dtype
        if not self._target_has_gradient:
            t = as_array(t)
        x, t = m.cast(x, gy.dtype), m.cast(t, gy.dtype)
        if self.reduce == 'mean':
            gy = gy * (x.shape[1] / x.size)
        else:
            gy = m.expand_dims(gy, 1)
        weight = 1 if self.class_weight is None else self._broadcast_class_weight(as_array(x))
        weighted = t * weight
        gx = (m.softmax(x) * m.sum(weighted, axis=1, keepdims=True) - weighted) * gy
        gx = m.cast(gx, x_dtype)
        if not self._target_has_gradient:
            return gx, None
        gt = -m.log_softmax(x)
        if self.soft_target_loss == 'kl-divergence':
            gt = gt + m.log(t) + 1
        return gx, m.cast(gt * weight * gy, t_dtype)


def softmax_cross_entropy(
    x: VariableLike,
    t: VariableLike,
    normalize: bool = True,
    cache_score: bool = True,
    class_weight: NdArray | None = None,
    ignore_label: int = -1,
    reduce: str = 'mean',
    enable_double_backprop: bool = False,
    soft_target_loss: str = 'cross-entropy',
) -> Variable:
    """Cross entropy loss of unnormalized log probabilities.

    For an integer label :math:`t` and for probabilities :math:`t_k`, with weights :math:`w` of the
    classes, the loss of an element is

    .. math:: -w_t \\log \\mathrm{softmax}(x)_t \\quad \\text{or} \\quad
        -\\sum_k w_k t_k \\log \\mathrm{softmax}(x)_k

    Args:
        x (:class:`~chainer.Variable` or array): Scores, floating point of shape
            :math:`(N, K, d_1, ...)`.
        t (:class:`~chainer.Variable` or array): Labels, integers of shape
            :math:`(N, d_1, ...)`, or probabilities of the shape and dtype of ``x``.
        normalize (bool): Whether to average over elements that are not ignored; otherwise
            divides the sum by :math:`N`. Only for integer labels with ``reduce='mean'``.
        cache_score (bool): Whether to keep scores for backward instead of recomputing them.
        class_weight (array): Weights of the classes, of shape :math:`(K,)`.
        ignore_label (int): Label of elements to ignore.
        reduce (str): ``'mean'``, or ``'no'`` for the loss of each element.
        enable_double_backprop (bool): Whether the gradient also flows to probabilities ``t``.
            The gradient with respect to ``x`` is always differentiable.
        soft_target_loss (str): ``'cross-entropy'`` or ``'kl-divergence'``, for probabilities.

    Returns:
        ~chainer.Variable: Scalar loss, or losses of shape :math:`(N, d_1, ...)`, of the dtype of
        ``x``.

    Raises:
        ValueError: If an option is invalid, or in debug mode if a label is out of range.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> x = np.array([[-1, 0, 1, 2], [2, 0, 1, -1]], np.float32)
        >>> print(F.softmax_cross_entropy(x, np.array([3, 0])).array.round(4))
        0.4402
        >>> F.softmax_cross_entropy(x, np.array([3, -1]), reduce='no').array.round(4)
        array([0.4402, 0.    ], dtype=float32)

    """
    func = SoftmaxCrossEntropy(
        normalize, cache_score, class_weight, ignore_label, reduce, soft_target_loss
    )
    func._target_has_gradient = enable_double_backprop
    return func.apply((x, t))[0]
