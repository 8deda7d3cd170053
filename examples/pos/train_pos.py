#!/usr/bin/env python
"""Tags words with their part of speech, using a conditional random field."""

import argparse
import collections

import numpy as np

import chainer
import chainer.links as L
from chainer import training
from chainer.training import extensions


class CRF(chainer.Chain):
    """Scores tags by word, and pairs of adjacent tags."""

    def __init__(self, n_vocab, n_pos):
        super().__init__()
        with self.init_scope():
            self.feature = L.EmbedID(n_vocab, n_pos)
            self.crf = L.CRF1d(n_pos)

    def forward(self, xs, ys):
        hs = [self.feature(x) for x in xs]
        loss = self.crf(hs, ys, transpose=True)

        _, predicted = self.crf.argmax(hs, transpose=True)
        n_correct = sum(int((t == p).sum()) for t, p in zip(ys, predicted))
        chainer.report({'loss': loss, 'accuracy': n_correct / sum(len(t) for t in ys)}, self)
        return loss


@chainer.dataset.converter()
def convert(batch, device):
    xs, ys = zip(*batch)
    return {'xs': [device.send(x) for x in xs], 'ys': [device.send(y) for y in ys]}


def get_sentences(test):
    """Returns lists of pairs of word and tag."""
    if test:
        return make_sentences(300)
    try:
        import nltk
    except ImportError:
        raise SystemExit('The Brown corpus needs NLTK: pip install nltk') from None
    nltk.download('brown')
    # keep the first part of tags like VB-HL or NN+BEZ
    return [
        [(word.lower(), tag.split('-')[0].split('+')[0]) for word, tag in sentence]
        for sentence in nltk.corpus.brown.tagged_sents()
    ]


def make_sentences(n_sentences):
    """Generates sentences with ambiguous words, whose tags follow from their neighbours."""
    random = np.random.RandomState(0)
    both = 'walk', 'play', 'dream', 'talk', 'plan'  # nouns and verbs
    words = {
        'DET': ('the', 'a', 'this'),
        'ADJ': ('old', 'new', 'long'),
        'PRON': ('we', 'they', 'you'),
        'NOUN': ('dog', 'house') + both,
        'VERB': ('see', 'like') + both,
    }
    patterns = [
        pattern.split()
        for pattern in (
            'PRON VERB',
            'PRON VERB DET NOUN',
            'DET NOUN VERB',
            'PRON VERB DET ADJ NOUN',
            'DET ADJ NOUN VERB DET NOUN',
        )
    ]
    return [
        [(random.choice(words[tag]), tag) for tag in patterns[random.randint(len(patterns))]]
        for _ in range(n_sentences)
    ]


def main():
    parser = argparse.ArgumentParser(description='Chainer example: POS tagging')
    parser.add_argument(
        '--batchsize', '-b', type=int, default=30, help='Number of sentences in each mini-batch'
    )
    parser.add_argument(
        '--epoch', '-e', type=int, default=20, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
    parser.add_argument(
        '--test', action='store_true', help='Use generated sentences for quick tests'
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
    vocab = collections.defaultdict(lambda: len(vocab))
    pos_vocab = collections.defaultdict(lambda: len(pos_vocab))
    data = [
        (
            np.array([vocab[word] for word, _ in sentence], np.int32),
            np.array([pos_vocab[tag] for _, tag in sentence], np.int32),
        )
        for sentence in get_sentences(args.test)
    ]
    print(f'Device: {device}')
    print(f'# of sentences: {len(data)}')
    print(f'# of words: {len(vocab)}')
    print(f'# of pos: {len(pos_vocab)}')

    model = CRF(len(vocab), len(pos_vocab))
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.0001))

    test_data, train_data = chainer.datasets.split_dataset_random(data, len(data) // 10, seed=0)
    train_iter = chainer.iterators.SerialIterator(train_data, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(
        test_data, args.batchsize, repeat=False, shuffle=False
    )
    updater = training.updaters.StandardUpdater(
        train_iter, optimizer, converter=convert, device=device
    )
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)

    interval = 1 if args.test else 10
    evaluator = extensions.Evaluator(test_iter, model, converter=convert, device=device)
    # Evaluate rarely, because it takes time.
    trainer.extend(
        evaluator,
        trigger=training.triggers.ManualScheduleTrigger(
            list(range(interval, args.epoch + 1, interval)), 'epoch'
        ),
    )
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.PrintReport(
            [
                'epoch',
                'main/loss',
                'validation/main/loss',
                'main/accuracy',
                'validation/main/accuracy',
                'elapsed_time',
            ]
        )
    )
    trainer.extend(extensions.snapshot(), trigger=(args.epoch, 'epoch'))
    trainer.extend(extensions.ProgressBar(update_interval=10))
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()


if __name__ == '__main__':
    main()
