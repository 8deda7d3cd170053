"""BlackOut loss."""
from __future__ import annotations

import chainer
from chainer.functions._base import check_reduce


def black_out(x, t, W, samples, reduce='mean'):
    """BlackOut loss, which approximates a softmax over a large vocabulary.

    With the softmax :math:`p` over the label and its samples the loss is
    :math:`-\\log p(t) - \\sum_i \\log (1 - p(s_i))`.

    Args:
        x (:class:`~chainer.Variable` or array): Inputs, of shape :math:`(N, D)`.
        t (:class:`~chainer.Variable` or array): Labels, integers of shape :math:`(N,)`.
        W (:class:`~chainer.Variable` or array): Embeddings, of shape :math:`(V, D)`.
        samples (:class:`~chainer.Variable` or array): Negative samples, integers of shape
            :math:`(N, S)`.
        reduce (str): ``'mean'``, or ``'no'`` for the loss of each input.

    Returns:
        ~chainer.Variable: Scalar, or losses of shape :math:`(N,)`.

    Raises:
        ValueError: If ``reduce`` has no meaning.

    See: Ji et al., BlackOut: speeding up recurrent neural network language models with very
    large vocabularies, ICLR 2016.

    """
    check_reduce(reduce)
    F = chainer.functions
    positive = F.sum(F.embed_id(t, W) * x, axis=1, keepdims=True)
    negative = F.embed_id(samples, W)
    x = F.broadcast_to(F.expand_dims(x, 1), negative.shape)
    scores = F.concat([positive, F.sum(negative * x, axis=2)], axis=1)
    log_p = F.log_softmax(scores, axis=1)
    log_p_true, log_p_samples = F.split_axis(log_p, [1], axis=1)
    loss = -F.reshape(log_p_true, (len(scores),)) \
        - F.sum(F.log1p(-F.exp(log_p_samples)), axis=1)
    return F.mean(loss) if reduce == 'mean' else loss
