"""Code shared by the sentiment examples: command line and model."""

import argparse

import chainer
import chainer.functions as F
import chainer.links as L


def make_parser(epoch=400):
    parser = argparse.ArgumentParser(description='Chainer example: recursive neural networks')
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument(
        '--epoch', '-e', default=epoch, type=int, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument('--unit', '-u', default=30, type=int, help='Number of units')
    parser.add_argument(
        '--batchsize', '-b', type=int, default=25, help='Number of trees in each mini-batch'
    )
    parser.add_argument('--label', '-l', type=int, default=5, help='Number of labels')
    parser.add_argument(
        '--epocheval', '-p', type=int, default=5, help='Number of epochs between evaluations'
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument('--test', action='store_true', help='Use generated trees for quick tests')
    group = parser.add_argument_group('deprecated arguments')
    group.add_argument(
        '--gpu',
        '-g',
        dest='device',
        type=int,
        nargs='?',
        const=0,
        help='GPU number (negative value indicates CPU)',
    )
    return parser


class RecursiveNet(chainer.Chain):
    """Vectors of words, of pairs of vectors, and labels of vectors.

    Source: R. Socher et al., Recursive Deep Models for Semantic Compositionality Over a
    Sentiment Treebank, 2013 (there called RNN).
    """

    def __init__(self, n_vocab, n_units, n_label):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)
            self.l = L.Linear(n_units * 2, n_units)
            self.w = L.Linear(n_units, n_label)

    def leaf(self, words):
        return self.embed(words)

    def node(self, left, right):
        return F.tanh(self.l(F.concat([left, right], axis=1)))

    def label(self, v):
        return self.w(v)
