from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions, link
from chainer._core.names import hints
from chainer.functions.activation import relu
from chainer.links.connection import linear
from chainer.links.connection.multi_head_attention import MultiHeadAttention
from chainer.links.normalization.layer_normalization import LayerNormalization

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


class _TransformerLayer(link.Chain):
    """Base of encoder and decoder layers: residual blocks and the feed-forward network."""

    def __init__(
        self,
        size: int,
        n_heads: int,
        hidden_size: int | None,
        dropout: float,
        activation: Callable[..., Any],
        norm_first: bool,
        eps: float,
        initialW: InitializerSpec | None,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.activation = activation
        self.norm_first = norm_first
        if hidden_size is None:
            hidden_size = 4 * size
        with self.init_scope():
            self.self_attention: MultiHeadAttention = MultiHeadAttention(
                size, n_heads, dropout, initialW=initialW
            )
            self.linear1: linear.Linear = linear.Linear(size, hidden_size, initialW=initialW)
            self.linear2: linear.Linear = linear.Linear(hidden_size, size, initialW=initialW)
            self.norm1: LayerNormalization = LayerNormalization(size, eps)
            self.norm2: LayerNormalization = LayerNormalization(size, eps)

    def _drop(self, x):
        # A mask of ones would take the time of drawing random numbers.
        return functions.dropout(x, self.dropout) if self.dropout else x

    def _feed_forward(self, x):
        h = self._drop(self.activation(self.linear1(x, n_batch_axes=2)))
        return self.linear2(h, n_batch_axes=2)

    def _residual(self, x, norm, block):
        """Applies a block with a shortcut and normalization before or after it."""
        if self.norm_first:
            return x + self._drop(block(norm(x)))
        return norm(x + self._drop(block(x)))


@hints.explain_arguments
class TransformerEncoderLayer(_TransformerLayer):
    """Transformer encoder layer: self-attention and a feed-forward network.

    Each of the two is a residual block with dropout and layer normalization.
    See A. Vaswani et al., `Attention Is All You Need
    <https://arxiv.org/abs/1706.03762>`_.

    Args:
        size (int): Size of inputs and outputs.
        n_heads (int): Number of attention heads, which divides ``size``.
        hidden_size (int): Size of the hidden layer of the feed-forward network.
            The default is ``4 * size``.
        dropout (float): Ratio of dropout.
        activation (callable): Activation function of the feed-forward network.
        norm_first (bool): Whether to normalize before a block
            instead of after adding the shortcut.
        eps (float): Small value for numerical stability of the normalization.
        initialW (initializer): Initializer of the weights of the projections. The default is
            :class:`~chainer.initializers.LeCunNormal`.

    Raises:
        ValueError: ``size`` is not a multiple of ``n_heads``.
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or its
            last axis is not of ``size``.

    Attributes:
        self_attention (~chainer.links.MultiHeadAttention): Self-attention.
        linear1, linear2 (~chainer.links.Linear): Feed-forward network.
        norm1, norm2 (~chainer.links.LayerNormalization): Normalizations.

    .. admonition:: Example

        >>> layer = L.TransformerEncoderLayer(8, 2)
        >>> layer(np.zeros((2, 5, 8), np.float32)).shape
        (2, 5, 8)
        >>> layer.linear1.W.shape
        (32, 8)

    """

    def __init__(
        self,
        size: int,
        n_heads: int,
        hidden_size: int | None = None,
        dropout: float = 0.1,
        activation: Callable[..., Any] = relu.relu,
        norm_first: bool = False,
        eps: float = 1e-5,
        initialW: InitializerSpec | None = None,
    ) -> None:
        super().__init__(size, n_heads, hidden_size, dropout, activation, norm_first, eps, initialW)

    def forward(
        self, x: VariableLike, mask: VariableLike | None = None, causal: bool = False
    ) -> Variable:
        """Applies the layer.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Inputs of the shape
                ``(batch size, length, size)``.
            mask, causal: See :class:`~chainer.links.MultiHeadAttention`.

        Returns:
            ~chainer.Variable: Outputs of the shape of ``x``.

        """
        x = self._residual(
            x, self.norm1, lambda h: self.self_attention(h, mask=mask, causal=causal)
        )
        return self._residual(x, self.norm2, self._feed_forward)


@hints.explain_arguments
class TransformerDecoderLayer(_TransformerLayer):
    """Transformer decoder layer: self-attention, cross-attention and a feed-forward network.

    Each of the three is a residual block with dropout and layer normalization.
    See A. Vaswani et al., `Attention Is All You Need
    <https://arxiv.org/abs/1706.03762>`_.

    Args:
        size (int): Size of inputs and outputs.
        n_heads (int): Number of attention heads, which divides ``size``.
        hidden_size (int): Size of the hidden layer of the feed-forward network.
            The default is ``4 * size``.
        dropout (float): Ratio of dropout.
        activation (callable): Activation function of the feed-forward network.
        norm_first (bool): Whether to normalize before a block
            instead of after adding the shortcut.
        eps (float): Small value for numerical stability of the normalization.
        memory_size (int): Size of the memory. The default is ``size``.
        initialW (initializer): Initializer of the weights of the projections. The default is
            :class:`~chainer.initializers.LeCunNormal`.

    Raises:
        ValueError: ``size`` is not a multiple of ``n_heads``.
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its last
            axis is not of ``size``.

    Attributes:
        self_attention (~chainer.links.MultiHeadAttention): Self-attention.
        cross_attention (~chainer.links.MultiHeadAttention): Attention to the
            memory.
        linear1, linear2 (~chainer.links.Linear): Feed-forward network.
        norm1, norm2, norm3 (~chainer.links.LayerNormalization): Normalizations.

    .. admonition:: Example

        >>> layer = L.TransformerDecoderLayer(8, 2, memory_size=6)
        >>> x = np.zeros((2, 5, 8), np.float32)
        >>> memory = np.zeros((2, 7, 6), np.float32)
        >>> layer(x, memory).shape
        (2, 5, 8)

    """

    def __init__(
        self,
        size: int,
        n_heads: int,
        hidden_size: int | None = None,
        dropout: float = 0.1,
        activation: Callable[..., Any] = relu.relu,
        norm_first: bool = False,
        eps: float = 1e-5,
        memory_size: int | None = None,
        initialW: InitializerSpec | None = None,
    ) -> None:
        super().__init__(size, n_heads, hidden_size, dropout, activation, norm_first, eps, initialW)
        with self.init_scope():
            self.cross_attention: MultiHeadAttention = MultiHeadAttention(
                size, n_heads, dropout, initialW=initialW, memory_size=memory_size
            )
            self.norm3: LayerNormalization = LayerNormalization(size, eps)

    def forward(
        self,
        x: VariableLike,
        memory: VariableLike,
        mask: VariableLike | None = None,
        memory_mask: VariableLike | None = None,
        causal: bool = True,
    ) -> Variable:
        """Applies the layer.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Inputs of the shape
                ``(batch size, length, size)``.
            memory (~chainer.Variable or :ref:`ndarray`): Memory, usually the
                output of the encoder, of the shape ``(batch size, memory
                length, memory_size)``.
            mask, causal: Of the self-attention; see
                :class:`~chainer.links.MultiHeadAttention`.
            memory_mask: Mask of the attention to the memory.

        Returns:
            ~chainer.Variable: Outputs of the shape of ``x``.

        """
        x = self._residual(
            x, self.norm1, lambda h: self.self_attention(h, mask=mask, causal=causal)
        )
        x = self._residual(
            x, self.norm2, lambda h: self.cross_attention(h, memory, mask=memory_mask)
        )
        return self._residual(x, self.norm3, self._feed_forward)
