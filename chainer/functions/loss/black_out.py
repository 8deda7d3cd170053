"""BlackOut loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.names.namespace import F

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def black_out(
    x: VariableLike, t: VariableLike, W: VariableLike, samples: VariableLike, reduce: str = 'mean'
) -> Variable:
    """BlackOut loss, which approximates a softmax over a large vocabulary.

    .. math:: -\\log p(t) - \\sum_i \\log (1 - p(s_i))

    for the label :math:`t`, samples :math:`s_i` of other labels, and the softmax :math:`p` of the
    products of the input with their embeddings.

    Args:
        x (:class:`~chainer.Variable` or array): Inputs, floating point of shape
            :math:`(N, D)`.
        t (:class:`~chainer.Variable` or array): Labels, integers of shape :math:`(N,)`.
        W (:class:`~chainer.Variable` or array): Embeddings, of shape :math:`(V, D)` and of
            the dtype of ``x``.
        samples (:class:`~chainer.Variable` or array): Negative samples, integers of shape
            :math:`(N, S)`.
        reduce (str): ``'mean'``; any other gives the loss of each input, such as ``'no'``.

    Returns:
        ~chainer.Variable: Scalar, or losses of shape :math:`(N,)`, of the dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Ji et al., BlackOut: speeding up recurrent neural network language models with very
    large vocabularies, ICLR 2016.

    .. admonition:: Example

        >>> x, W = np.ones((1, 2), np.float32), np.zeros((4, 2), np.float32)
        >>> loss = F.black_out(x, np.array([0]), W, samples=np.array([[1, 3]]))
        >>> print(loss.array.round(3))  # log(3) - 2 * log(2 / 3)
        1.91

    """
    positive = F.sum(F.embed_id(t, W) * x, axis=1, keepdims=True)
    negative = F.embed_id(samples, W)
    x = F.broadcast_to(F.expand_dims(x, 1), negative.shape)
    scores = F.concat([positive, F.sum(negative * x, axis=2)], axis=1)
    log_p = F.log_softmax(scores, axis=1)
    log_p_true, log_p_samples = F.split_axis(log_p, [1], axis=1)
    log_p_others = F.sum(F.log1p(-F.exp(log_p_samples)), axis=1)
    loss = -(F.reshape(log_p_true, (len(scores),)) + log_p_others)
    return F.mean(loss) if reduce == 'mean' else loss
