from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import functions, link, variable
from chainer._core.names import hints
from chainer.links.connection import linear

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


@hints.explain_arguments
class MultiHeadAttention(link.Chain):
    r"""Multi-head scaled dot-product attention layer.

    It projects queries, keys and values and splits them into heads. Each head
    computes

    .. math::

        \mathrm{softmax}(Q K^\top / \sqrt{d}) V,

    where :math:`d` is the size of a head. A projection combines the heads.
    See A. Vaswani et al., `Attention Is All You Need
    <https://arxiv.org/abs/1706.03762>`_.

    Args:
        size (int): Size of queries and outputs.
        n_heads (int): Number of heads, which divides ``size``.
        dropout (float): Ratio of dropout of the attention weights.
        nobias (bool): If ``True``, the projections have no biases.
        initialW (initializer): Initializer of the weights. The default is
            :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer): Initializer of the biases. The default is
            zero.
        memory_size (int or None): Size of keys and values. The default is
            ``size``.

    Raises:
        ValueError: ``size`` is not a multiple of ``n_heads``.

    Attributes:
        query, key, value, output (~chainer.links.Linear): Projections.

    .. seealso:: :func:`chainer.functions.scaled_dot_product_attention`

    .. admonition:: Example

        >>> x = np.random.RandomState(0).rand(2, 5, 8).astype(np.float32)
        >>> attention = L.MultiHeadAttention(8, 4)
        >>> attention(x, np.ones((2, 3, 8), np.float32)).shape
        (2, 5, 8)
        >>> y1, y2 = attention(x, causal=True).array, attention(x[:, :2], causal=True).array
        >>> np.allclose(y1[:, :2], y2, atol=1e-6)  # later positions have no influence
        True

    """

    def __init__(
        self,
        size: int,
        n_heads: int,
        dropout: float = 0.0,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        memory_size: int | None = None,
    ) -> None:
        super().__init__()
        if size % n_heads != 0:
            raise ValueError(
                f'size must be a multiple of n_heads, but {size} and {n_heads} were given'
            )
        self.n_heads = n_heads
        self.dropout = dropout
        if memory_size is None:
            memory_size = size

        def projection(in_size):
            return linear.Linear(
                in_size, size, nobias, initialW=initialW, initial_bias=initial_bias
            )

        with self.init_scope():
            self.query: linear.Linear = projection(size)
            self.key: linear.Linear = projection(memory_size)
            self.value: linear.Linear = projection(memory_size)
            self.output: linear.Linear = projection(size)

    def forward(
        self,
        query: VariableLike,
        key: VariableLike | None = None,
        value: VariableLike | None = None,
        mask: VariableLike | None = None,
        causal: bool = False,
    ) -> Variable:
        """Attends to the memory.

        Args:
            query (~chainer.Variable or :ref:`ndarray`): Queries of the shape
                ``(batch size, length, size)``.
            key (~chainer.Variable or :ref:`ndarray`): Keys of the shape
                ``(batch size, memory length, memory_size)``. The default is
                ``query``.
            value (~chainer.Variable or :ref:`ndarray`): Values of the shape of
                keys. The default is ``key``.
            mask (:ref:`ndarray`): Boolean array, ``True`` where a query may
                attend to a key, of the shape ``(length, memory length)``,
                ``(batch size, length, memory length)`` or ``(batch size,
                n_heads, length, memory length)``. Axes of the length one are
                broadcast.
            causal (bool): If ``True``, a query attends only to keys at or
                before its own position.

        Returns:
            ~chainer.Variable: Outputs of the shape ``(batch size, length,
            size)``.

        """
        key = query if key is None else key
        value = key if value is None else value
        q = self._split_heads(self.query(query, n_batch_axes=2))
        k = self._split_heads(self.key(key, n_batch_axes=2))
        v = self._split_heads(self.value(value, n_batch_axes=2))
        mask = self._complete_mask(mask, causal, q.shape[2], k.shape[2])
        heads = functions.scaled_dot_product_attention(
            q, k, v, mask, self.dropout, is_causal=causal and mask is None
        )
        return self.output(self._join_heads(heads), n_batch_axes=2)

    def _split_heads(self, x):
        batch, length, size = x.shape
        x = functions.reshape(x, (batch, length, self.n_heads, size // self.n_heads))
        return functions.transpose(x, (0, 2, 1, 3))

    def _join_heads(self, x):
        batch, _, length, size = x.shape
        x = functions.transpose(x, (0, 2, 1, 3))
        return functions.reshape(x, (batch, length, self.n_heads * size))

    def _complete_mask(self, mask, causal, length, memory_length):
        """Returns the mask for all heads, including the causal mask."""
        if mask is None:
            return None
        mask = variable.as_array(mask)
        if mask.dtype != numpy.bool_ or not 2 <= mask.ndim <= 4:
            raise ValueError(
                'mask must be a boolean array of two to four axes, but has the dtype '
                f'{mask.dtype} and the shape {mask.shape}'
            )
        if mask.ndim == 3:
            mask = mask[:, None]
        if causal:
            mask = mask & self.device.send(numpy.tri(length, memory_length, dtype=bool))
        return mask
