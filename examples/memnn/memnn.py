import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L


def position_encoding(sentence_length, n_units):
    """Returns the weights of each unit for each position in a sentence."""
    position = np.arange(1, sentence_length + 1)[:, None] / sentence_length
    unit = np.arange(1, n_units + 1)[None, :] / n_units
    return ((1 - position) - unit * (1 - 2 * position)).astype(np.float32)


class SentenceEncoder(chainer.Chain):
    """Sum of the vectors of the words (``bow``), weighted by position (``pe``)."""

    def __init__(self, n_vocab, n_units, sentence_repr):
        super().__init__()
        self.weighted = sentence_repr == 'pe'
        with self.init_scope():
            self.embed = L.EmbedID(
                n_vocab, n_units, initialW=chainer.initializers.Normal(0.1), ignore_label=0
            )

    def forward(self, words):
        e = self.embed(words)  # (..., words, units)
        if self.weighted:
            weights = self.device.send(position_encoding(*e.shape[-2:]))
            e = e * F.broadcast_to(weights, e.shape)
        return F.sum(e, axis=-2)


class MemNN(chainer.Chain):
    """End-to-end memory network.

    In each hop, the question attends to the sentences of the story and adds the attended content.
    The output encoder of a hop is the input encoder of the next one.

    Source: S. Sukhbaatar et al., End-To-End Memory Networks, 2015.
    """

    def __init__(self, n_units, n_vocab, max_memory, hops, sentence_repr='bow'):
        super().__init__()
        normal = chainer.initializers.Normal(0.1)
        with self.init_scope():
            self.encoders = chainer.ChainList(
                *[SentenceEncoder(n_vocab, n_units, sentence_repr) for _ in range(hops + 1)]
            )
            # Temporal encoding: depends on the age of a sentence
            self.times = chainer.ChainList(
                *[L.EmbedID(max_memory, n_units, initialW=normal) for _ in range(hops + 1)]
            )
            self.output = L.Linear(n_units, n_vocab, nobias=True, initialW=normal)

    def forward(self, stories, questions):
        age = self.device.send(np.arange(stories.shape[1], dtype=np.int32))
        memories = [
            h + F.broadcast_to(time(age), h.shape)
            for h, time in (
                (encoder(stories), time) for encoder, time in zip(self.encoders, self.times)
            )
        ]
        u = self.encoders[0](questions)
        for inputs, outputs in zip(memories, memories[1:]):
            p = F.softmax(F.matmul(inputs, u[:, :, None])[:, :, 0], axis=1)
            u = u + F.matmul(p[:, None, :], outputs)[:, 0]
        return self.output(u)
