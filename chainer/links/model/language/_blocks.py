"""What BERT and GPT-2 share."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy

from chainer import functions
from chainer.links.connection.transformer import TransformerEncoderLayer

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.types import InitializerSpec

_APPROXIMATE_GELU = functools.partial(functions.gelu, approximate=True)
#: Activation functions by their names in ``config.json``.
ACTIVATIONS: dict[str, Callable[..., Any]] = {
    'gelu': functions.gelu,
    'gelu_new': _APPROXIMATE_GELU,
    'gelu_pytorch_tanh': _APPROXIMATE_GELU,
    'relu': functions.relu,
    'silu': functions.silu,
    'swish': functions.silu,
}


class Block(TransformerEncoderLayer):
    """Layer of BERT and GPT-2, which drop in other places than the first transformer.

    They drop attention weights by a ratio of their own, and nothing within the feed-forward
    network.

    Args:
        size, n_heads, hidden_size, dropout, norm_first, eps, initialW: See
            :class:`~chainer.links.TransformerEncoderLayer`.
        activation (str): Key of :data:`ACTIVATIONS`.
        attention_dropout (float): Ratio of dropout of the attention weights.

    """

    def __init__(
        self,
        size: int,
        n_heads: int,
        hidden_size: int | None,
        dropout: float,
        activation: str,
        norm_first: bool,
        eps: float,
        initialW: InitializerSpec,
        attention_dropout: float,
    ) -> None:
        if activation not in ACTIVATIONS:
            known = ', '.join(sorted(ACTIVATIONS))
            raise ValueError(f'the activation function must be one of {known}, not {activation!r}')
        function = ACTIVATIONS[activation]
        super().__init__(size, n_heads, hidden_size, dropout, function, norm_first, eps, initialW)
        self.self_attention.dropout = attention_dropout

    def _feed_forward(self, x):
        h = self.activation(self.linear1(x, n_batch_axes=2))
        return self.linear2(h, n_batch_axes=2)


def embed(model: Any, tokens: Any, max_length: int) -> Any:
    """Adds the embeddings of tokens and of their positions.

    Raises:
        ValueError: ``tokens`` is no batch, or its texts are too long.

    """
    if tokens.ndim != 2 or tokens.shape[1] > max_length:
        raise ValueError(
            'tokens must have the shape (batch size, length) with a length of at most '
            f'{max_length}, not {tokens.shape}'
        )
    positions = model.device.send(numpy.arange(tokens.shape[1], dtype=numpy.int32))
    h = model.token(tokens)
    return h + functions.broadcast_to(model.position(positions), h.shape)
