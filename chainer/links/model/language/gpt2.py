from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from chainer import functions, initializers, link
from chainer.links.connection.embed_id import EmbedID
from chainer.links.model import _config, _names, pretrained
from chainer.links.model.language import _blocks
from chainer.links.normalization.layer_normalization import LayerNormalization
from chainer.serializers.name_table import NameTable, Weight

if TYPE_CHECKING:
    from typing import Any

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


@dataclasses.dataclass
class GPT2Config(_config.PretrainedConfig):
    """Sizes of :class:`~chainer.links.GPT2`, with the names of Hugging Face's ``config.json``.

    The defaults are those of the smallest model, with 124 million parameters.

    .. admonition:: Example

        >>> config = L.GPT2Config(n_embd=1024, n_layer=24, n_head=16)
        >>> config.n_positions
        1024

    """

    model_type: ClassVar[str] = 'gpt2'
    architecture: ClassVar[str] = 'GPT2LMHeadModel'
    fixed: ClassVar[dict[str, Any]] = {
        'scale_attn_weights': True,
        'scale_attn_by_inverse_layer_idx': False,
        'add_cross_attention': False,
        'tie_word_embeddings': True,
    }

    vocab_size: int = 50257
    n_positions: int = 1024
    n_embd: int = 768
    n_layer: int = 12
    n_head: int = 12
    n_inner: int | None = None
    activation_function: str = 'gelu_new'
    resid_pdrop: float = 0.1
    embd_pdrop: float = 0.1
    attn_pdrop: float = 0.1
    layer_norm_epsilon: float = 1e-5
    initializer_range: float = 0.02


_LAYER = 'transformer.h.{i}'


def _transposed(theirs, *layers):
    """Yields rows of a layer that has its weight transposed, and may hold several of ours."""
    yield Weight(f'{theirs}.weight', tuple(f'{ours}/W' for ours in layers), transpose=True)
    yield Weight(f'{theirs}.bias', tuple(f'{ours}/b' for ours in layers))


_TABLE = NameTable(
    [
        *_names.rows(_names.WEIGHT, {'transformer.wte': 'token', 'transformer.wpe': 'position'}),
        *_transposed(
            f'{_LAYER}.attn.c_attn',
            *(f'layers/{{i}}/self_attention/{part}' for part in ('query', 'key', 'value')),
        ),
        *_transposed(f'{_LAYER}.attn.c_proj', 'layers/{i}/self_attention/output'),
        *_transposed(f'{_LAYER}.mlp.c_fc', 'layers/{i}/linear1'),
        *_transposed(f'{_LAYER}.mlp.c_proj', 'layers/{i}/linear2'),
        *_names.rows(
            _names.NORMALIZATION,
            {
                f'{_LAYER}.ln_1': 'layers/{i}/norm1',
                f'{_LAYER}.ln_2': 'layers/{i}/norm2',
                'transformer.ln_f': 'norm',
            },
        ),
    ],
    # The embeddings of tokens once more, and causal masks
    ignore=r'lm_head\.weight|transformer\.h\.\d+\.attn\.(masked_)?bias',
    rename={r'^(?=wte|wpe|h|ln_f)(\w+)\.': r'transformer.\1.'},  # in models without a task
)


class GPT2(pretrained.Pretrained, link.Chain):
    """GPT-2, a transformer that predicts the next token of a text.

    See A. Radford et al., `Language Models are Unsupervised Multitask Learners
    <https://openai.com/index/better-language-models/>`_. It computes what ``GPT2LMHeadModel`` of
    Hugging Face's transformers does, and loads and saves its weights, also
    those of ``GPT2Model``. The embeddings of tokens are the weights of the last layer, too.

    Args:
        config (GPT2Config): Sizes. The default is the smallest model.
        initialW (initializer): Initializer of weights. The default is
            :class:`~chainer.initializers.Normal` with the scale ``config.initializer_range``.

    Raises:
        ValueError: The size is not a multiple of the number of heads, or the activation function is
            unknown. In a call: ``tokens`` is not of two axes, or longer than
            ``config.n_positions``.
        IndexError: An ID is not in the vocabulary.
        ~chainer.utils.type_check.InvalidType: ``tokens`` are no integers.

    Attributes:
        config (GPT2Config): Sizes.
        dropout (float): Ratio of dropout of the embeddings.
        token, position (~chainer.links.EmbedID): Embeddings.
        layers (~chainer.ChainList): Layers.
        norm (~chainer.links.LayerNormalization): Normalization of the last layer's output.

    .. admonition:: Example

        >>> config = L.GPT2Config(vocab_size=99, n_positions=16, n_embd=8, n_layer=2, n_head=2)
        >>> model = L.GPT2(config)
        >>> tokens = np.array([[2, 7, 45, 3]], np.int32)
        >>> model(tokens).shape
        (1, 4, 99)
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save_pretrained(folder)
        ...     other = L.GPT2.from_pretrained(folder)
        >>> np.array_equal(model.token.W.array, other.token.W.array)
        True

    """

    config: GPT2Config
    _config_class = GPT2Config

    def __init__(
        self, config: GPT2Config | None = None, initialW: InitializerSpec | None = None
    ) -> None:
        super().__init__()
        c = self.config = GPT2Config() if config is None else config
        if initialW is None:
            initialW = initializers.Normal(c.initializer_range)
        layers = [
            _blocks.Block(
                c.n_embd,
                c.n_head,
                c.n_inner,
                c.resid_pdrop,
                c.activation_function,
                norm_first=True,
                eps=c.layer_norm_epsilon,
                initialW=initialW,
                attention_dropout=c.attn_pdrop,
            )
            for _ in range(c.n_layer)
        ]
        self.dropout: float = c.embd_pdrop
        with self.init_scope():
            self.token: EmbedID = EmbedID(c.vocab_size, c.n_embd, initialW)
            self.position: EmbedID = EmbedID(c.n_positions, c.n_embd, initialW)
            self.layers: link.ChainList = link.ChainList(*layers)
            self.norm: LayerNormalization = LayerNormalization(c.n_embd, c.layer_norm_epsilon)

    def _table(self):
        return _TABLE

    def forward(self, tokens: VariableLike) -> Variable:
        """Predicts the next token at each position.

        Args:
            tokens (~chainer.Variable or :ref:`ndarray`): IDs of the shape ``(batch size, length)``.

        Returns:
            ~chainer.Variable: Scores of the shape ``(batch size, length, vocab_size)``.

        Raises:
            ValueError: ``tokens`` is not of two axes, or longer than ``config.n_positions``.
            IndexError: An ID is not in the vocabulary.
            ~chainer.utils.type_check.InvalidType: ``tokens`` are no integers.

        """
        return functions.linear(self.encode(tokens), self.token.W, n_batch_axes=2)

    def encode(self, tokens: VariableLike) -> Variable:
        """Computes the output of the last layer, normalized.

        Args:
            tokens (~chainer.Variable or :ref:`ndarray`): IDs of the shape ``(batch size, length)``.

        Returns:
            ~chainer.Variable: Output of the shape ``(batch size, length, n_embd)``.

        Raises:
            ValueError: ``tokens`` is not of two axes, or longer than ``config.n_positions``.
            IndexError: An ID is not in the vocabulary.
            ~chainer.utils.type_check.InvalidType: ``tokens`` are no integers.

        """
        h = _blocks.embed(self, tokens, self.config.n_positions)
        h = functions.dropout(h, self.dropout)
        for layer in self.layers:
            h = layer(h, causal=True)
        return self.norm(h)
