"""Linear-chain conditional random fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import backend
from chainer._core.names.namespace import F
from chainer.backends import cuda
from chainer.functions._arguments import check_reduce
from chainer.functions._arrays import sent_like
from chainer.variable import as_array, as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


def crf1d(
    cost: VariableLike, xs: Sequence[VariableLike], ys: Sequence[VariableLike], reduce: str = 'mean'
) -> Variable:
    """Negative log-likelihood of a linear-chain conditional random field.

    .. math:: \\log \\sum_{y'} \\exp s(y') - s(y), \\qquad
        s(y) = \\sum_t x_{t, y_t} + \\sum_t C_{y_t, y_{t+1}}

    Args:
        cost (:class:`~chainer.Variable` or array): Transition matrix :math:`C`, floating
            point of shape :math:`(K, K)`.
        xs (list of :class:`~chainer.Variable` or array): Scores of the labels at each time step,
            of shape :math:`(B_t, K)` and of the dtype of ``cost``; batch sizes never grow
            (sequences sorted by length).
        ys (list of :class:`~chainer.Variable` or array): True labels, integers of shape
            :math:`(B_t,)`.
        reduce (str): ``'mean'``, or ``'no'`` for the loss of each sequence.

    Returns:
        ~chainer.Variable: Scalar, or losses of shape :math:`(B_0,)`, of the dtype of ``cost``.

    Raises:
        ValueError: If ``reduce`` is invalid or ``ys`` has fewer time steps than ``xs``.
        AssertionError: If ``cost`` is not of shape :math:`(K, K)`.
        ~chainer.utils.type_check.InvalidType: If other shapes or dtypes do not fit.

    See: Lafferty et al., Conditional random fields, ICML 2001.

    .. admonition:: Example

        >>> cost = np.zeros((2, 2), np.float32)
        >>> xs = [np.zeros((1, 2), np.float32) for _ in range(3)]
        >>> ys = [np.array([0]), np.array([1]), np.array([0])]
        >>> print(F.crf1d(cost, xs, ys).array.round(3))  # one of eight paths: log(8)
        2.079

    """
    check_reduce(reduce)
    n_batch, n_label = xs[0].shape
    if len(ys) < len(xs):
        raise ValueError(f'ys must have labels for all {len(xs)} time steps, got {len(ys)}')
    assert cost.shape == (n_label, n_label), (
        f'cost must be of shape {(n_label, n_label)} for {n_label} labels, got {cost.shape}'
    )

    def expand(alpha):
        return F.broadcast_to(F.expand_dims(alpha, 2), (*alpha.shape, n_label))

    # Logarithm of the normalizer; sequences that end early leave the recursion.
    alpha, finished = as_variable(xs[0]), []
    score = F.select_item(alpha, ys[0])
    finished_scores = []
    for x, y_before, y in zip(xs[1:], ys[:-1], ys[1:]):
        size = len(x)
        if len(alpha) > size:
            alpha, ended = F.split_axis(alpha, [size], axis=0)
            finished.append(ended)
            score, ended_score = F.split_axis(score, [size], axis=0)
            finished_scores.append(ended_score)
        y_before, y = as_array(y_before)[:size], as_array(y)
        with cuda.get_device_from_array(y):
            pairs = y_before * n_label + y
        transitions = F.broadcast_to(F.expand_dims(cost, 0), (size, n_label, n_label))
        alpha = F.logsumexp(expand(alpha) + transitions, axis=1) + x
        flat = F.reshape(cost, (n_label * n_label, 1))
        step = F.reshape(F.embed_id(pairs, flat), (size,))
        score = score + F.select_item(x, y) + step
    if finished:
        alpha = F.concat([alpha, *finished[::-1]], axis=0)
        score = F.concat([score, *finished_scores[::-1]], axis=0)
    loss = F.logsumexp(alpha, axis=1) - score
    return F.sum(loss) * (1.0 / n_batch) if reduce == 'mean' else loss


def argmax_crf1d(cost: VariableLike, xs: Sequence[VariableLike]) -> tuple[Variable, list[NdArray]]:
    """Most likely labels under a linear-chain conditional random field (Viterbi algorithm).

    Args:
        cost (:class:`~chainer.Variable` or array): Transition matrix, floating point of
            shape :math:`(K, K)`.
        xs (list of :class:`~chainer.Variable` or array): Scores of the labels at each time step,
            of shape :math:`(B_t, K)`; batch sizes never grow.

    Returns:
        tuple: The log-probability of the best labels (not normalized), a
        :class:`~chainer.Variable` of shape :math:`(B_0,)`, and a list of int32 arrays of shape
        :math:`(B_t,)` with the labels at each time step.

    Raises:
        ~chainer.utils.type_check.InvalidType: If the shapes of ``cost`` and ``xs`` do not fit.

    See: :func:`~chainer.functions.crf1d`.

    .. admonition:: Example

        >>> cost = np.array([[0, 5], [5, 0]], np.float32)  # labels alternate
        >>> xs = [np.array([[0, 1]], np.float32), np.array([[0, 2]], np.float32)]
        >>> score, path = F.argmax_crf1d(cost, xs)
        >>> score.array, [int(labels[0]) for labels in path]
        (array([7.], dtype=float32), [0, 1])

    """
    with cuda.get_device_from_array(cost):
        return _argmax_crf1d(cost, xs)


def _argmax_crf1d(cost, xs):
    xp = backend.get_array_module(cost)
    alpha, finished, pointers = as_variable(xs[0]), [], []
    for x in xs[1:]:
        size = len(x)
        if len(alpha) != size:
            alpha, ended = F.split_axis(alpha, [size], axis=0)
            finished.append(ended)
        shape = (size, *cost.shape)
        candidates = F.broadcast_to(F.expand_dims(alpha, 2), shape) + F.broadcast_to(cost, shape)
        pointers.append(candidates.array.argmax(axis=1))
        alpha = F.max(candidates, axis=1) + x
    ends = [alpha, *finished[::-1]]
    scores = F.concat([F.max(a, axis=1) for a in ends], axis=0)
    labels = xp.concatenate([a.array.argmax(axis=1) for a in ends]).astype('i')
    path = [labels[: len(xs[-1])]]
    for pointer, x in zip(pointers[::-1], xs[-2::-1]):
        previous = pointer[sent_like(pointer, numpy.arange(len(pointer))), path[-1]].astype('i')
        # Sequences that end here start from their own best label.
        path.append(xp.concatenate([previous, labels[len(previous) : len(x)]]))
    return scores, path[::-1]
