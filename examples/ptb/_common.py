"""Code shared by the language model examples: command line, data, model, iterator."""

import argparse

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L


def make_parser():
    parser = argparse.ArgumentParser(description='Chainer example: recurrent language model')
    parser.add_argument(
        '--batchsize', '-b', type=int, default=20, help='Number of word sequences read side by side'
    )
    parser.add_argument(
        '--bproplen',
        '-l',
        type=int,
        default=35,
        help='Number of words in each mini-batch (= length of truncated BPTT)',
    )
    parser.add_argument(
        '--epoch', '-e', type=int, default=39, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument(
        '--gradclip', '-c', type=float, default=5, help='Gradient norm threshold to clip'
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
    parser.add_argument(
        '--test', action='store_true', help='Use a small generated text for quick tests'
    )
    parser.add_argument('--text', help='Text file to learn instead of the Penn Tree Bank')
    parser.add_argument(
        '--unit', '-u', type=int, default=650, help='Number of LSTM units in each layer'
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
    return parser


def get_words(test=False, text=None):
    """Returns the word IDs of the training, validation and test parts, and the vocabulary."""
    if not test and text is None:
        return (*chainer.datasets.get_ptb_words(), chainer.datasets.get_ptb_words_vocabulary())
    if test:
        lines = make_lines(600)
    else:
        with open(text, encoding='utf-8') as f:
            lines = f.readlines()
    words = [word for line in lines for word in line.split() + ['<eos>']]
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(words))}
    ids = np.array([vocabulary[word] for word in words], np.int32)
    return (*np.split(ids, [len(ids) * 8 // 10, len(ids) * 9 // 10]), vocabulary)


def make_lines(n_lines):
    """Generates sentences in which the verb agrees with the subject at any distance."""
    random = np.random.RandomState(0)
    nouns = 'dog', 'child', 'king', 'river', 'garden', 'horse'
    verbs = 'sees', 'loves', 'finds', 'crosses'
    plural_nouns = 'dogs', 'children', 'kings', 'rivers', 'gardens', 'horses'
    plural_verbs = 'see', 'love', 'find', 'cross'
    adjectives = 'old', 'small', 'quiet', 'red'

    def phrase(plural):
        words = ['the' if random.rand() < 0.7 else 'some' if plural else 'a']
        if random.rand() < 0.4:
            words.append(random.choice(adjectives))
        words.append(random.choice(plural_nouns if plural else nouns))
        if random.rand() < 0.2:
            words += ['near'] + phrase(random.rand() < 0.5)
        return words

    lines = []
    for _ in range(n_lines):
        plural = random.rand() < 0.5
        verb = random.choice(plural_verbs if plural else verbs)
        lines.append(' '.join(phrase(plural) + [verb] + phrase(random.rand() < 0.5)))
    return lines


class RNNForLM(chainer.Chain):
    """Predicts the next word: embedding, two LSTM layers, linear layer; dropout between."""

    def __init__(self, n_vocab, n_units):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)
            self.l1 = L.LSTM(n_units, n_units)
            self.l2 = L.LSTM(n_units, n_units)
            self.l3 = L.Linear(n_units, n_vocab)
        for param in self.params():
            param.array[...] = np.random.uniform(-0.1, 0.1, param.shape)

    def reset_state(self):
        self.l1.reset_state()
        self.l2.reset_state()

    def forward(self, x):
        h = self.embed(x)
        h = self.l1(F.dropout(h))
        h = self.l2(F.dropout(h))
        return self.l3(F.dropout(h))


class ParallelSequentialIterator(chainer.dataset.Iterator):
    """Reads a text from several positions at once.

    Element ``i`` of successive batches reads the text from ``i / batch_size`` of its length.
    An example is a word and the next word.
    """

    def __init__(self, dataset, batch_size, repeat=True):
        self.dataset = dataset
        self.batch_size = batch_size
        self.repeat = repeat
        length = len(dataset)
        self.offsets = [i * length // batch_size for i in range(batch_size)]
        self.reset()

    def reset(self):
        self.epoch = 0
        self.is_new_epoch = False
        self.iteration = 0
        self._previous_epoch_detail = -1.0

    def __next__(self):
        length = len(self.dataset)
        if not self.repeat and self.iteration * self.batch_size >= length:
            raise StopIteration
        self._previous_epoch_detail = self.epoch_detail
        words, next_words = (
            [self.dataset[(offset + self.iteration + step) % length] for offset in self.offsets]
            for step in (0, 1)
        )
        self.iteration += 1
        epoch = self.iteration * self.batch_size // length
        self.is_new_epoch = epoch > self.epoch
        self.epoch = epoch
        return list(zip(words, next_words))

    @property
    def epoch_detail(self):
        return self.iteration * self.batch_size / len(self.dataset)

    @property
    def previous_epoch_detail(self):
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    def serialize(self, serializer):
        self.iteration = serializer('iteration', self.iteration)
        self.epoch = serializer('epoch', self.epoch)
        self._previous_epoch_detail = serializer(
            'previous_epoch_detail', self._previous_epoch_detail
        )


def print_settings(args, device, n_vocab):
    print(f'Device: {device}')
    print(f'# vocab: {n_vocab}')
    print(f'# unit: {args.unit}')
    print('')
