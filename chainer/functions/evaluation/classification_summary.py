"""Precision, recall and F-score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.autograd.tape import NoGradient
from chainer._core.settings.debug import is_debug
from chainer.functions._arrays import sent_like
from chainer.functions._base import CallableFunction, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class ClassificationSummary(CallableFunction):
    """Precision, recall, F-beta score and support of each class."""

    _kernels = kernels()
    _rule = NoGradient

    def __init__(self, label_num: int | None, beta: float, ignore_label: int) -> None:
        if label_num is not None and label_num < 0:
            raise ValueError(f'label_num must not be negative, got {label_num}')
        self.label_num = label_num
        self.beta = beta
        self.ignore_label = ignore_label

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('y', 't'))
        y_type, t_type = in_types
        type_check.expect(
            y_type.dtype.kind == 'f',
            t_type.dtype.kind == 'i',
            y_type.ndim >= 2,
            y_type.shape[0] == t_type.shape[0],
        )
        y_ndim, t_ndim = type_check.eval(y_type.ndim), type_check.eval(t_type.ndim)
        for i in range(1, t_ndim):
            type_check.expect(y_type.shape[i + 1] == t_type.shape[i])
        for i in range(t_ndim + 1, y_ndim):
            type_check.expect(y_type.shape[i] == 1)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        y, t = inputs
        n = int(t.max()) + 1 if self.label_num is None else self.label_num
        if is_debug():
            assert (t < n).all(), f'labels must be less than label_num: {int(t.max())} and {n}'
        predicted = y.argmax(axis=1).reshape(t.shape)
        counted = t != self.ignore_label
        classes = sent_like(y, numpy.arange(n)).reshape((n,) + (1,) * t.ndim)
        axes = tuple(range(1, t.ndim + 1))
        is_true = (t == classes) & counted
        is_predicted = (predicted == classes) & counted
        relevant = (is_true & is_predicted).sum(axis=axes).astype(numpy.float64)
        support = is_true.sum(axis=axes)
        return *self._scores(relevant, is_predicted.sum(axis=axes), support), support

    def _scores(self, relevant, n_predicted, support):
        beta2 = self.beta**2
        with numpy.errstate(divide='ignore', invalid='ignore'):
            precision = relevant / n_predicted
            recall = relevant / support
            fbeta = (1 + beta2) * precision * recall / (beta2 * precision + recall)
        return precision, recall, fbeta

    forward_chainerx: Any = forward


def classification_summary(
    y: VariableLike,
    t: VariableLike,
    label_num: int | None = None,
    beta: float = 1.0,
    ignore_label: int = -1,
) -> tuple[Variable, ...]:
    """Precision, recall, F-beta score and support of each class; they have no gradient.

    With true positives :math:`tp`, false positives :math:`fp` and false negatives :math:`fn` the
    precision is :math:`P = tp / (tp + fp)`, the recall is :math:`R = tp / (tp + fn)` and the
    score is :math:`(1 + \\beta^2) P R / (\\beta^2 P + R)`, all in float64. The ratio 0 / 0, such
    as the recall of a class without a true label, is NaN. The support is the number of true
    labels.

    Args:
        y (:class:`~chainer.Variable` or array): Scores, floating point of shape
            :math:`(N, K, ...)`.
        t (:class:`~chainer.Variable` or array): Integer labels, of shape :math:`(N, ...)`.
        label_num (int): Number of classes (default: one more than the largest label).
        beta (float): Weight of the recall in the score.
        ignore_label (int): Label of elements to ignore.

    Returns:
        tuple of ~chainer.Variable: Precision, recall, score and support of each class, of
        shape :math:`(K',)` for :math:`K'` classes: the first three of dtype float64, the last
        one of integers.

    Raises:
        ValueError: If ``label_num`` is negative.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: In debug mode, if a label is not less than ``label_num``.

    .. admonition:: Example

        >>> y = np.array([[.1, .9], [.8, .2], [.3, .7], [.4, .6]], np.float32)
        >>> t = np.array([1, 0, 0, 1])
        >>> for a in F.classification_summary(y, t):
        ...     print(a.array.round(3))
        [1.    0.667]
        [0.5 1. ]
        [0.667 0.8  ]
        [2 2]

    """
    return ClassificationSummary(label_num, beta, ignore_label).apply((y, t))


def precision(
    y: VariableLike, t: VariableLike, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, ...]:
    """Precision :math:`tp / (tp + fp)` of each class, and its support.

    Ratios of zero to zero are NaN; see :func:`~chainer.functions.classification_summary`.

    Args:
        y (:class:`~chainer.Variable` or array): Scores, floating point of shape
            :math:`(N, K, ...)`.
        t (:class:`~chainer.Variable` or array): Integer labels, of shape :math:`(N, ...)`.
        label_num (int): Number of classes (default: one more than the largest label).
        ignore_label (int): Label of elements to ignore.

    Returns:
        tuple of ~chainer.Variable: Precision (float64) and the supports (integers), of shape
        ``(label_num,)`` each, without gradients.

    Raises:
        ValueError: If ``label_num`` is negative.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: In debug mode, if a label is not less than ``label_num``.

    .. admonition:: Example

        >>> y = np.array([[.1, .9], [.8, .2], [.3, .7], [.4, .6]], np.float32)
        >>> t = np.array([1, 0, 0, 1])
        >>> values, support = F.precision(y, t)
        >>> values.array.round(3), support.array
        (array([1.   , 0.667]), array([2, 2]))

    """
    result = ClassificationSummary(label_num, 1.0, ignore_label).apply((y, t))
    return result[0], result[3]


def recall(
    y: VariableLike, t: VariableLike, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, ...]:
    """Recall :math:`tp / (tp + fn)` of each class, and its support.

    Ratios of zero to zero are NaN; see :func:`~chainer.functions.classification_summary`.

    Args:
        y (:class:`~chainer.Variable` or array): Scores, floating point of shape
            :math:`(N, K, ...)`.
        t (:class:`~chainer.Variable` or array): Integer labels, of shape :math:`(N, ...)`.
        label_num (int): Number of classes (default: one more than the largest label).
        ignore_label (int): Label of elements to ignore.

    Returns:
        tuple of ~chainer.Variable: Recall (float64) and the supports (integers), of shape
        ``(label_num,)`` each, without gradients.

    Raises:
        ValueError: If ``label_num`` is negative.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: In debug mode, if a label is not less than ``label_num``.

    .. admonition:: Example

        >>> y = np.array([[.1, .9], [.8, .2], [.3, .7], [.4, .6]], np.float32)
        >>> t = np.array([1, 0, 0, 1])
        >>> values, support = F.recall(y, t)
        >>> values.array.round(3), support.array
        (array([0.5, 1. ]), array([2, 2]))

    """
    result = ClassificationSummary(label_num, 1.0, ignore_label).apply((y, t))
    return result[1], result[3]


def fbeta_score(
    y: VariableLike,
    t: VariableLike,
    label_num: int | None = None,
    beta: float = 1.0,
    ignore_label: int = -1,
) -> tuple[Variable, ...]:
    """F-beta score of each class, and its support.

    .. math:: F_\\beta = \\frac{(1 + \\beta^2) P R}{\\beta^2 P + R}

    for the precision :math:`P` and the recall :math:`R`;
    see :func:`~chainer.functions.classification_summary`.

    Args:
        y (:class:`~chainer.Variable` or array): Scores, floating point of shape
            :math:`(N, K, ...)`.
        t (:class:`~chainer.Variable` or array): Integer labels, of shape :math:`(N, ...)`.
        label_num (int): Number of classes (default: one more than the largest label).
        beta (float): Weight of the recall in the score.
        ignore_label (int): Label of elements to ignore.

    Returns:
        tuple of ~chainer.Variable: Scores (float64) and the supports (integers), of shape
        ``(label_num,)`` each, without gradients.

    Raises:
        ValueError: If ``label_num`` is negative.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: In debug mode, if a label is not less than ``label_num``.

    .. admonition:: Example

        >>> y = np.array([[.1, .9], [.8, .2], [.3, .7], [.4, .6]], np.float32)
        >>> t = np.array([1, 0, 0, 1])
        >>> values, support = F.fbeta_score(y, t, beta=2.)
        >>> values.array.round(3), support.array
        (array([0.556, 0.909]), array([2, 2]))

    """
    result = ClassificationSummary(label_num, beta, ignore_label).apply((y, t))
    return result[2], result[3]


def f1_score(
    y: VariableLike, t: VariableLike, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, ...]:
    """F1 score of each class, and its support.

    It is :math:`2 P R / (P + R)` for the precision :math:`P` and the recall :math:`R`;
    see :func:`~chainer.functions.classification_summary`.

    Args:
        y (:class:`~chainer.Variable` or array): Scores, floating point of shape
            :math:`(N, K, ...)`.
        t (:class:`~chainer.Variable` or array): Integer labels, of shape :math:`(N, ...)`.
        label_num (int): Number of classes (default: one more than the largest label).
        ignore_label (int): Label of elements to ignore.

    Returns:
        tuple of ~chainer.Variable: Scores (float64) and the supports (integers), of shape
        ``(label_num,)`` each, without gradients.

    Raises:
        ValueError: If ``label_num`` is negative.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: In debug mode, if a label is not less than ``label_num``.

    .. admonition:: Example

        >>> y = np.array([[.1, .9], [.8, .2], [.3, .7], [.4, .6]], np.float32)
        >>> t = np.array([1, 0, 0, 1])
        >>> values, support = F.f1_score(y, t)
        >>> values.array.round(3), support.array
        (array([0.667, 0.8  ]), array([2, 2]))

    """
    return fbeta_score(y, t, label_num, 1.0, ignore_label)
