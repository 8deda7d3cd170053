import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

EMBED_INIT = chainer.initializers.Uniform(0.25)


def embed_all(embed, xs, dropout):
    """Embeds the words of all texts in one call, and splits the result by text."""
    sections = np.cumsum([len(x) for x in xs[:-1]])
    es = F.dropout(embed(F.concat(xs, axis=0)), ratio=dropout)
    return F.split_axis(es, sections, axis=0)


class TextClassifier(chainer.Chain):
    """Classifies texts with an encoder and a linear layer.

    Args:
        encoder (Link): Encodes each text as a vector of size ``out_units``, its attribute.
        n_class (int): Number of classes.
        dropout (float): Dropout ratio.

    """

    def __init__(self, encoder, n_class, dropout=0.1):
        super().__init__()
        self.dropout = dropout
        with self.init_scope():
            self.encoder = encoder
            self.output = L.Linear(encoder.out_units, n_class)

    def forward(self, xs, ys):
        scores = self.score(xs)
        t = F.concat(ys, axis=0)
        loss = F.softmax_cross_entropy(scores, t)
        chainer.report({'loss': loss, 'accuracy': F.accuracy(scores, t)}, self)
        return loss

    def score(self, xs):
        return self.output(F.dropout(self.encoder(xs), ratio=self.dropout))

    def predict(self, xs):
        """Returns an array of the probabilities of all classes for each text."""
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            return F.softmax(self.score(xs)).array


class RNNEncoder(chainer.Chain):
    """The last state of an LSTM that reads the text."""

    def __init__(self, n_layers, n_vocab, n_units, dropout=0.1):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, initialW=EMBED_INIT)
            self.encoder = L.NStepLSTM(n_layers, n_units, n_units, dropout)
        self.out_units = n_units
        self.dropout = dropout

    def forward(self, xs):
        h, _, _ = self.encoder(None, None, embed_all(self.embed, xs, self.dropout))
        return h[-1]


class CNNEncoder(chainer.Chain):
    """Convolutions over 3, 4 and 5 words with max pooling over the text.

    Source: Y. Kim, Convolutional Neural Networks for Sentence Classification, 2014.
    """

    widths = 3, 4, 5

    def __init__(self, n_layers, n_vocab, n_units, dropout=0.1):
        super().__init__()
        self.out_units = n_units // len(self.widths) * len(self.widths)
        self.dropout = dropout
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, ignore_label=-1, initialW=EMBED_INIT)
            self.convs = chainer.ChainList(
                *[
                    L.Convolution2D(
                        n_units, n_units // len(self.widths), (width, 1), pad=(width, 0)
                    )
                    for width in self.widths
                ]
            )
            self.mlp = chainer.Sequential(
                L.Linear(self.out_units, self.out_units), F.relu, lambda h: F.dropout(h, dropout)
            ).repeat(n_layers)

    def forward(self, xs):
        x = F.pad_sequence(xs, padding=-1)  # (texts, words)
        e = F.dropout(self.embed(x), ratio=self.dropout)
        e = F.transpose(e, (0, 2, 1))[:, :, :, None]  # (texts, units, words, 1)
        h = F.concat([F.max(F.relu(conv(e)), axis=(2, 3)) for conv in self.convs], axis=1)
        return self.mlp(F.dropout(h, ratio=self.dropout))


class BOWEncoder(chainer.Chain):
    """The mean of the word vectors, followed by linear layers."""

    def __init__(self, n_layers, n_vocab, n_units, dropout=0.1):
        super().__init__()
        self.out_units = n_units
        self.dropout = dropout
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, initialW=EMBED_INIT)
            self.mlp = chainer.Sequential(
                L.Linear(n_units, n_units), F.relu, lambda h: F.dropout(h, dropout)
            ).repeat(n_layers)

    def forward(self, xs):
        es = embed_all(self.embed, xs, self.dropout)
        return self.mlp(F.stack([F.mean(e, axis=0) for e in es]))


ENCODERS = {'rnn': RNNEncoder, 'cnn': CNNEncoder, 'bow': BOWEncoder}


def make_model(setup, n_vocab):
    """Makes the model from the options of the training."""
    encoder = ENCODERS[setup['model']](setup['layer'], n_vocab, setup['unit'], setup['dropout'])
    return TextClassifier(encoder, setup['n_class'])


@chainer.dataset.converter()
def convert_seq(batch, device):
    """Makes lists of arrays, because texts have different lengths."""
    xs, ys = zip(*batch)
    return {'xs': [device.send(x) for x in xs], 'ys': [device.send(y) for y in ys]}
