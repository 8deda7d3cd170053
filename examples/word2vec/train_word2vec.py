#!/usr/bin/env python
"""Learns word vectors from context words: skip-gram and continuous bag of words."""

import argparse
import collections
import os

import numpy as np
from _common import get_words

import chainer
import chainer.functions as F
import chainer.initializers as I
import chainer.links as L
from chainer import training
from chainer.training import extensions


class ContinuousBoW(chainer.Chain):
    """Predicts a word from the mean of the vectors of the words around it."""

    def __init__(self, n_vocab, n_units, loss_func):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, initialW=I.Uniform(1.0 / n_units))
            self.loss_func = loss_func

    def forward(self, x, contexts):
        h = F.mean(self.embed(contexts), axis=1)
        loss = self.loss_func(h, x) / len(h)
        chainer.report({'loss': loss}, self)
        return loss


class SkipGram(chainer.Chain):
    """Predicts a word from the vector of each word around it."""

    def __init__(self, n_vocab, n_units, loss_func):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units, initialW=I.Uniform(1.0 / n_units))
            self.loss_func = loss_func

    def forward(self, x, contexts):
        n_words, n_contexts = contexts.shape
        h = self.embed(contexts).reshape(n_words * n_contexts, -1)
        loss = self.loss_func(h, x.repeat(n_contexts)) / len(h)
        chainer.report({'loss': loss}, self)
        return loss


class SoftmaxCrossEntropyLoss(chainer.Chain):
    """Linear layer and softmax over all words."""

    def __init__(self, n_in, n_out):
        super().__init__()
        with self.init_scope():
            self.out = L.Linear(n_in, n_out, initialW=0)

    def forward(self, x, t):
        return F.sum(F.softmax_cross_entropy(self.out(x), t, reduce='no'))


class WindowIterator(chainer.dataset.Iterator):
    """Returns words in random order, with the words in a window around each.

    Each batch draws the half width of its windows between 1 and ``window``.
    """

    def __init__(self, dataset, window, batch_size, repeat=True):
        self.dataset = np.asarray(dataset)
        self.window = window
        self.batch_size = batch_size
        self.repeat = repeat
        # Words at the ends have no full window.
        self.order = np.random.permutation(len(dataset) - window * 2).astype(np.int32) + window
        self.reset()

    def reset(self):
        self.current_position = 0
        self.epoch = 0
        self.is_new_epoch = False

    def __next__(self):
        if not self.repeat and self.epoch > 0:
            raise StopIteration
        start = self.current_position
        end = start + self.batch_size
        position = self.order[start:end]
        half = np.random.randint(self.window) + 1
        offsets = np.concatenate([np.arange(-half, 0), np.arange(1, half + 1)])
        contexts = self.dataset[position[:, None] + offsets[None, :]]
        center = self.dataset[position]

        self.is_new_epoch = end >= len(self.order)
        if self.is_new_epoch:
            np.random.shuffle(self.order)
            self.epoch += 1
            end = 0
        self.current_position = end
        return center, contexts

    @property
    def epoch_detail(self):
        return self.epoch + self.current_position / len(self.order)

    def serialize(self, serializer):
        self.current_position = serializer('current_position', self.current_position)
        self.epoch = serializer('epoch', self.epoch)
        self.is_new_epoch = serializer('is_new_epoch', self.is_new_epoch)
        self.order = serializer('order', self.order)


@chainer.dataset.converter()
def convert(batch, device):
    """Sends the arrays of a batch to the device."""
    center, contexts = batch
    return device.send(center), device.send(contexts)


def make_loss(args, counts):
    """Makes the link that sums the losses of predicting words from vectors."""
    n_vocab = max(counts) + 1
    if args.out_type == 'hsm':
        tree = L.BinaryHierarchicalSoftmax.create_huffman_tree(counts)
        loss_func = L.BinaryHierarchicalSoftmax(args.unit, tree)
        loss_func.W.array[...] = 0
    elif args.out_type == 'ns':
        loss_func = L.NegativeSampling(
            args.unit, [counts[word] for word in range(n_vocab)], args.negative_size
        )
        loss_func.W.array[...] = 0
    else:
        loss_func = SoftmaxCrossEntropyLoss(args.unit, n_vocab)
    return loss_func


def main():
    parser = argparse.ArgumentParser(description='Chainer example: word2vec')
    parser.add_argument('--unit', '-u', default=100, type=int, help='Length of the vectors')
    parser.add_argument('--window', '-w', default=5, type=int, help='Half width of the window')
    parser.add_argument(
        '--batchsize', '-b', type=int, default=1000, help='Number of words in each mini-batch'
    )
    parser.add_argument(
        '--epoch', '-e', default=20, type=int, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument(
        '--model', '-m', choices=['skipgram', 'cbow'], default='skipgram', help='Model type'
    )
    parser.add_argument('--negative-size', default=5, type=int, help='Number of negative samples')
    parser.add_argument(
        '--out-type',
        '-t',
        choices=['hsm', 'ns', 'original'],
        default='hsm',
        help='Loss: hierarchical softmax, negative sampling or plain softmax',
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
    parser.add_argument(
        '--snapshot-interval', type=int, default=1, help='Number of epochs between snapshots'
    )
    parser.add_argument(
        '--test', action='store_true', help='Use a small generated text for quick tests'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
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
    args = parser.parse_args()

    device = chainer.get_device(args.device)
    device.use()
    print(f'Device: {device}')
    print(f'# unit: {args.unit}')
    print(f'Window: {args.window}')
    print(f'Minibatch-size: {args.batchsize}')
    print(f'# epoch: {args.epoch}')
    print(f'Training model: {args.model}')
    print(f'Output type: {args.out_type}')
    print('')

    train, val, vocabulary = get_words(args.test)
    words = {i: word for word, i in vocabulary.items()}
    counts = collections.Counter(train.tolist() + val.tolist())
    print(f'n_vocab: {len(vocabulary)}')
    print(f'data length: {len(train)}')

    network = {'skipgram': SkipGram, 'cbow': ContinuousBoW}[args.model]
    model = network(len(vocabulary), args.unit, make_loss(args, counts))
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    train_iter = WindowIterator(train, args.window, args.batchsize)
    val_iter = WindowIterator(val, args.window, args.batchsize, repeat=False)
    updater = training.updaters.StandardUpdater(
        train_iter, optimizer, converter=convert, device=device
    )
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    trainer.extend(extensions.Evaluator(val_iter, model, converter=convert, device=device))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.PrintReport(['epoch', 'main/loss', 'validation/main/loss']))
    trainer.extend(extensions.ProgressBar())
    trainer.extend(
        extensions.snapshot(filename='snapshot_epoch_{.updater.epoch}'),
        trigger=(args.snapshot_interval, 'epoch'),
    )
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()

    # The text format of the original word2vec
    model.to_device('@numpy')
    with open(os.path.join(args.out, 'word2vec.model'), 'w', encoding='utf-8') as f:
        f.write(
            f"""{len(vocabulary)} {args.unit}
"""
        )
        for i, vector in enumerate(model.embed.W.array):
            f.write('{} {}\n'.format(words[i], ' '.join(f'{value:f}' for value in vector)))


if __name__ == '__main__':
    main()
