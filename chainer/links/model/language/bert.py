from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

import numpy

from chainer import functions, initializers, link, variable
from chainer.links.connection.embed_id import EmbedID
from chainer.links.connection.linear import Linear
from chainer.links.model import _config, _names, pretrained
from chainer.links.model.language import _blocks
from chainer.links.normalization.layer_normalization import LayerNormalization
from chainer.serializers.name_table import NameTable

if TYPE_CHECKING:
    from typing import Any

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


@dataclasses.dataclass
class BERTConfig(_config.PretrainedConfig):
    """Sizes of :class:`~chainer.links.BERT`, with the names of Hugging Face's ``config.json``.

    The defaults are those of BERT-base.

    .. admonition:: Example

        >>> config = L.BERTConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16)
        >>> config.hidden_act
        'gelu'

    """

    model_type: ClassVar[str] = 'bert'
    architecture: ClassVar[str] = 'BertModel'
    fixed: ClassVar[dict[str, Any]] = {
        'position_embedding_type': 'absolute',
        'is_decoder': False,
        'add_cross_attention': False,
    }

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = 'gelu'
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12


_LAYER = 'encoder.layer.{i}'
_TABLE = NameTable(
    [
        *_names.rows(
            _names.WEIGHT,
            {
                'embeddings.word_embeddings': 'token',
                'embeddings.position_embeddings': 'position',
                'embeddings.token_type_embeddings': 'segment',
            },
        ),
        *_names.rows(
            _names.LINEAR,
            {
                f'{_LAYER}.attention.self.query': 'layers/{i}/self_attention/query',
                f'{_LAYER}.attention.self.key': 'layers/{i}/self_attention/key',
                f'{_LAYER}.attention.self.value': 'layers/{i}/self_attention/value',
                f'{_LAYER}.attention.output.dense': 'layers/{i}/self_attention/output',
                f'{_LAYER}.intermediate.dense': 'layers/{i}/linear1',
                f'{_LAYER}.output.dense': 'layers/{i}/linear2',
                'pooler.dense': 'pooler',
            },
        ),
        *_names.rows(
            _names.NORMALIZATION,
            {
                'embeddings.LayerNorm': 'norm',
                f'{_LAYER}.attention.output.LayerNorm': 'layers/{i}/norm1',
                f'{_LAYER}.output.LayerNorm': 'layers/{i}/norm2',
            },
        ),
    ],
    # The indices of positions, and the heads of models with a task
    ignore=r'embeddings\.position_ids|(cls|classifier|qa_outputs)\..*',
    # In models with a task; of the first releases
    rename={
        r'^bert\.': '',
        r'LayerNorm\.gamma$': 'LayerNorm.weight',
        r'LayerNorm\.beta$': 'LayerNorm.bias',
    },
)


class BERT(pretrained.Pretrained, link.Chain):
    """BERT, a transformer that reads a text in both directions.

    See J. Devlin et al., `BERT: Pre-training of Deep Bidirectional Transformers for Language
    Understanding <https://arxiv.org/abs/1810.04805>`_. It computes what ``BertModel`` of
    Hugging Face's transformers does, and loads and saves its weights. Heads for a task
    in a file are ignored.

    Args:
        config (BERTConfig): Sizes. The default is BERT-base.
        initialW (initializer): Initializer of weights. The default is
            :class:`~chainer.initializers.Normal` with the scale ``config.initializer_range``.
        pooler (bool): Whether there is a layer for the whole text. Models that were trained to fill
            in words have none.

    Raises:
        ValueError: The size is not a multiple of the number of heads, or the activation function is
            unknown. In a call: ``tokens`` is not of two axes, or longer than
            ``config.max_position_embeddings``.
        IndexError: An ID is not in the vocabulary.
        ~chainer.utils.type_check.InvalidType: ``tokens`` or ``segments`` are no integers, or the
            shape of ``mask`` or ``segments`` is not that of ``tokens``.

    Attributes:
        config (BERTConfig): Sizes.
        dropout (float): Ratio of dropout of the embeddings.
        token, position, segment (~chainer.links.EmbedID): Embeddings.
        norm (~chainer.links.LayerNormalization): Normalization of their sum.
        layers (~chainer.ChainList): Layers.
        pooler (~chainer.links.Linear): Layer for the whole text, or ``None``.

    .. admonition:: Example

        >>> config = L.BERTConfig(
        ...     vocab_size=99, hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
        ...     intermediate_size=16)
        >>> model = L.BERT(config)
        >>> tokens = np.array([[2, 7, 45, 3], [2, 9, 3, 0]], np.int32)
        >>> h, pooled = model(tokens, mask=tokens != 0)
        >>> h.shape, pooled.shape
        ((2, 4, 8), (2, 8))

    """

    config: BERTConfig
    _config_class = BERTConfig

    def __init__(
        self,
        config: BERTConfig | None = None,
        initialW: InitializerSpec | None = None,
        pooler: bool = True,
    ) -> None:
        super().__init__()
        c = self.config = BERTConfig() if config is None else config
        if initialW is None:
            initialW = initializers.Normal(c.initializer_range)
        layers = [
            _blocks.Block(
                c.hidden_size,
                c.num_attention_heads,
                c.intermediate_size,
                c.hidden_dropout_prob,
                c.hidden_act,
                norm_first=False,
                eps=c.layer_norm_eps,
                initialW=initialW,
                attention_dropout=c.attention_probs_dropout_prob,
            )
            for _ in range(c.num_hidden_layers)
        ]
        size = c.hidden_size
        self.dropout: float = c.hidden_dropout_prob
        with self.init_scope():
            self.token: EmbedID = EmbedID(c.vocab_size, size, initialW)
            self.position: EmbedID = EmbedID(c.max_position_embeddings, size, initialW)
            self.segment: EmbedID = EmbedID(c.type_vocab_size, size, initialW)
            self.norm: LayerNormalization = LayerNormalization(size, c.layer_norm_eps)
            self.layers: link.ChainList = link.ChainList(*layers)
            self.pooler: Linear | None = Linear(size, size, initialW=initialW) if pooler else None

    def _table(self):
        return _TABLE

    def forward(
        self,
        tokens: VariableLike,
        mask: VariableLike | None = None,
        segments: VariableLike | None = None,
    ) -> tuple[Variable, Variable | None]:
        """Encodes texts.

        Args:
            tokens (~chainer.Variable or :ref:`ndarray`): IDs of the shape ``(batch size, length)``.
            mask (:ref:`ndarray`): Array of the shape of ``tokens``, zero or ``False`` where there
                is padding. By default there is none.
            segments (~chainer.Variable or :ref:`ndarray`): For pairs of texts, IDs of the text, of
                the shape of ``tokens``. The default is zero.

        Returns:
            tuple: Variables of the shape ``(batch size, length, hidden_size)`` for each token and
            ``(batch size, hidden_size)`` for the text; the latter is ``None`` without a pooler.

        Raises:
            ValueError: ``tokens`` is not of two axes, or longer than
                ``config.max_position_embeddings``.
            IndexError: An ID is not in the vocabulary.
            ~chainer.utils.type_check.InvalidType: ``tokens`` or ``segments`` are no integers, or
                the shape of ``mask`` or ``segments`` is not that of ``tokens``.

        """
        h = self._embed(tokens, segments)
        if mask is not None:
            mask = variable.as_array(mask).astype(bool)[:, None]  # for all queries
        for layer in self.layers:
            h = layer(h, mask)
        if self.pooler is None:
            return h, None
        return h, functions.tanh(self.pooler(h[:, 0]))

    def _embed(self, tokens, segments):
        h = _blocks.embed(self, tokens, self.config.max_position_embeddings)
        if segments is None:
            segments = self.device.send(numpy.zeros(tokens.shape, numpy.int32))
        return functions.dropout(self.norm(h + self.segment(segments)), self.dropout)
