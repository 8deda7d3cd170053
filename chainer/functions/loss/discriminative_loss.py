"""Discriminative loss for instance segmentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import backend
from chainer._core.names.namespace import F
from chainer.backends import cuda
from chainer.functions._arrays import sent_like
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class DiscriminativeMarginBasedClusteringLoss:
    """Loss that pulls the embeddings of one instance together and pushes instances apart.

    It is :func:`~chainer.functions.discriminative_margin_based_clustering_loss` with options.

    Args:
        delta_v (float): Maximum distance from the mean of the instance without loss.
        delta_d (float): Half of the minimum distance between means without loss.
        max_embedding_dim (int): Number of instances, which is the maximum label.
        norm (int): Norm of the distances, 1 or 2.
        alpha, beta, gamma (float): Weights of the three parts of the loss.

    Raises:
        ValueError: If ``norm`` is neither 1 nor 2.

    """

    def __init__(
        self,
        delta_v: float = 0.5,
        delta_d: float = 1.5,
        max_embedding_dim: int = 10,
        norm: int = 1,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 0.001,
    ) -> None:
        if norm not in (1, 2):
            raise ValueError(f'norm must be 1 or 2, got {norm}')
        self.delta_v = delta_v
        self.delta_d = delta_d
        self.max_embedding_dim = max_embedding_dim
        self.norm = norm
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma

    def norm_function(self, x: VariableLike) -> Variable:
        """Norm along the last axis."""
        if self.norm == 1:
            return F.sum(abs(x), axis=-1)
        # The norm has no gradient at zero: there it counts as a constant.
        squared = F.sum(x * x, axis=-1)
        zero = (squared.array == 0).astype(x.dtype)
        return F.sqrt(squared + zero) - zero

    def __call__(
        self, embeddings: VariableLike, labels: VariableLike
    ) -> tuple[Variable, Variable, Variable]:
        """Returns the variance, distance and regularization losses.

        Args:
            embeddings (:class:`~chainer.Variable` or array): Shape :math:`(B, D, H, W)`.
            labels (:class:`~chainer.Variable` or array): Integers of shape :math:`(B, H, W)`;
                zero is the background.

        """
        labels = as_array(labels)
        if embeddings.shape[0] != labels.shape[0] or embeddings.shape[2:] != labels.shape[1:]:
            raise type_check.InvalidType(
                'labels.shape == embeddings.shape without axis 1',
                f'{labels.shape} and {embeddings.shape}',
            )
        with cuda.get_device_from_array(embeddings):
            return self._losses(embeddings, labels)

    def _losses(self, embeddings, labels):
        xp = backend.get_array_module(labels)
        n_batch, n_dim = embeddings.shape[:2]
        n_instances, dtype = self.max_embedding_dim, embeddings.dtype
        # x: (B, P, D) points; member: (B, C, P) mask of the points of each instance.
        x = F.transpose(F.reshape(embeddings, (n_batch, n_dim, -1)), (0, 2, 1))
        instances = sent_like(labels, numpy.arange(1, n_instances + 1))
        member = (labels.reshape(n_batch, 1, -1) == instances[:, None]).astype(dtype)
        count = member.sum(axis=2)
        weight = member / xp.maximum(count, 1)[:, :, None]

        means = F.matmul(weight, x)  # (B, C, D)
        own_mean = F.matmul(xp.ascontiguousarray(member.swapaxes(1, 2)), means)
        spread = F.relu(self.norm_function(x - own_mean) - self.delta_v) ** 2
        variance = F.sum(spread * weight.sum(axis=1)) * (1.0 / (n_batch * n_instances))

        a, b = F.broadcast(F.expand_dims(means, 2), F.expand_dims(means, 1))
        gap = F.relu(2 * self.delta_d - self.norm_function(a - b)) ** 2
        others = sent_like(labels, 1 - numpy.eye(n_instances, dtype=dtype))
        n_pairs = max(n_instances * (n_instances - 1), 1)
        distance = F.sum(gap * others) * (1.0 / (n_batch * n_pairs))

        size = self.norm_function(means)
        regularization = F.sum(size) * (1.0 / (n_batch * n_instances))
        return self.alpha * variance, self.beta * distance, self.gamma * regularization


def discriminative_margin_based_clustering_loss(
    embeddings: VariableLike,
    labels: VariableLike,
    delta_v: float,
    delta_d: float,
    max_embedding_dim: int,
    norm: int = 1,
    alpha: float = 1.0,
    beta: float = 1.0,
    gamma: float = 0.001,
) -> tuple[Variable, ...]:
    """Discriminative loss for instance segmentation with embeddings of pixels.

    It is the sum of three terms, averaged over the batch:

    .. math::
        L_{var} &= \\frac\\alpha C \\sum_c \\frac1{N_c} \\sum_{i \\in c}
            \\max(\\|\\mu_c - x_i\\| - \\delta_v, 0)^2 \\\\
        L_{dist} &= \\frac\\beta{C (C - 1)} \\sum_{c \\ne d}
            \\max(2 \\delta_d - \\|\\mu_c - \\mu_d\\|, 0)^2 \\\\
        L_{reg} &= \\frac\\gamma C \\sum_c \\|\\mu_c\\|

    for :math:`C` = ``max_embedding_dim`` instances, :math:`N_c` pixels and the mean embedding
    :math:`\\mu_c` of instance :math:`c`. Instances that an image lacks count, too: their mean is
    zero.

    Args:
        embeddings (:class:`~chainer.Variable` or array): Embeddings of pixels, floating
            point of shape :math:`(B, D, H, W)`.
        labels (:class:`~chainer.Variable` or array): Instances of the pixels, integers of
            shape :math:`(B, H, W)`; zero is the background, which has no loss.
        delta_v (float): Maximum distance from the mean of the instance without loss.
        delta_d (float): Half of the minimum distance between means without loss.
        max_embedding_dim (int): Number of instances, which is the maximum label.
        norm (int): Norm of the distances, 1 or 2.
        alpha (float): Weight of the variance loss.
        beta (float): Weight of the distance loss.
        gamma (float): Weight of the regularization.

    Returns:
        tuple of ~chainer.Variable: Weighted variance, distance and regularization losses, scalars
        of the dtype of ``embeddings``.

    Raises:
        ValueError: If ``norm`` is neither 1 nor 2.
        ~chainer.utils.type_check.InvalidType: If shapes do not fit.

    See: De Brabandere et al., Semantic instance segmentation with a discriminative loss
    function, 2017 (arXiv:1708.02551).

    .. admonition:: Example

        >>> embeddings = np.array([0, 0, 4, 6], np.float32).reshape(1, 1, 1, 4)
        >>> labels = np.array([[[1, 1, 2, 2]]])
        >>> losses = F.discriminative_margin_based_clustering_loss(
        ...     embeddings, labels, delta_v=0.5, delta_d=3, max_embedding_dim=2)
        >>> [round(float(loss.array), 4) for loss in losses]
        [0.125, 1.0, 0.0025]

    """
    loss = DiscriminativeMarginBasedClusteringLoss(
        delta_v, delta_d, max_embedding_dim, norm, alpha, beta, gamma
    )
    return loss(embeddings, labels)
