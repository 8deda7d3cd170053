#!/usr/bin/env python
"""Trains two LSTMs to translate sentences: one reads, the other writes."""

import argparse
import contextlib

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions

UNK = 0
EOS = 1


def embed_all(embed, xs):
    """Embeds the words of all sentences in one call, and splits the result by sentence."""
    sections = np.cumsum([len(x) for x in xs[:-1]])
    return F.split_axis(embed(F.concat(xs, axis=0)), sections, axis=0)


class Seq2seq(chainer.Chain):
    """Encoder and decoder.

    Source: I. Sutskever, O. Vinyals, Q. V. Le, Sequence to Sequence Learning with Neural
    Networks, 2014.

    Args:
        n_layers (int): Number of layers of each LSTM.
        n_source_vocab (int): Number of words to read.
        n_target_vocab (int): Number of words to write.
        n_units (int): Number of units of each layer.

    """

    def __init__(self, n_layers, n_source_vocab, n_target_vocab, n_units):
        super().__init__()
        with self.init_scope():
            self.embed_x = L.EmbedID(n_source_vocab, n_units)
            self.embed_y = L.EmbedID(n_target_vocab, n_units)
            self.encoder = L.NStepLSTM(n_layers, n_units, n_units, 0.1)
            self.decoder = L.NStepLSTM(n_layers, n_units, n_units, 0.1)
            self.W = L.Linear(n_units, n_target_vocab)

    def encode(self, xs):
        # Reading backwards brings the beginnings of both sentences close together.
        h, c, _ = self.encoder(None, None, embed_all(self.embed_x, [x[::-1] for x in xs]))
        return h, c

    def forward(self, xs, ys):
        """Returns the loss of target sentences ``ys`` for source sentences ``xs``."""
        eos = self.xp.array([EOS], np.int32)
        ys_in = [F.concat([eos, y], axis=0) for y in ys]
        ys_out = F.concat([F.concat([y, eos], axis=0) for y in ys], axis=0)

        h, c = self.encode(xs)
        _, _, os = self.decoder(h, c, embed_all(self.embed_y, ys_in))
        # The sum over the words of a sentence, the mean over the sentences
        total = F.sum(F.softmax_cross_entropy(self.W(F.concat(os, axis=0)), ys_out, reduce='no'))
        loss = total / len(xs)
        n_words = len(ys_out)
        chainer.report({'loss': loss, 'perp': self.xp.exp(total.array / n_words)}, self)
        return loss

    def translate(self, xs, max_length=100):
        """Returns the most probable words, one after another, as a list of NumPy arrays."""
        send_back = chainer.get_device('@numpy').send
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            h, c = self.encode(xs)
            ys = np.full(len(xs), EOS, np.int32)
            result = []
            for _ in range(max_length):
                eys = F.split_axis(self.embed_y(self.device.send(ys)), len(xs), axis=0)
                h, c, os = self.decoder(h, c, eys)
                ys = send_back(self.W(F.concat(os, axis=0)).array).argmax(axis=1)
                ys = ys.astype(np.int32)
                result.append(ys)
                if all(EOS in words for words in zip(*result)):
                    break
        sentences = np.stack(result, axis=1)
        return [y[: list(y).index(EOS)] if EOS in y else y for y in sentences]


@chainer.dataset.converter()
def convert(batch, device):
    xs, ys = zip(*batch)
    return {'xs': [device.send(x) for x in xs], 'ys': [device.send(y) for y in ys]}


class CalculateBleu(chainer.training.Extension):
    """Reports the BLEU score of the translations of test sentences.

    Source: K. Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation,
    2002.
    """

    trigger = 1, 'epoch'
    priority = chainer.training.PRIORITY_WRITER

    def __init__(self, model, test_data, device, batch=100, max_length=100):
        self.model = model
        self.test_data = test_data
        self.device = device
        self.batch = batch
        self.max_length = max_length

    def translate(self):
        """Returns the sentences to reach and those of the model, as lists of words."""
        references = []
        hypotheses = []
        for i in range(0, len(self.test_data), self.batch):
            sources, targets = zip(*self.test_data[i : i + self.batch])
            references += [t.tolist() for t in targets]
            ys = self.model.translate([self.device.send(x) for x in sources], self.max_length)
            hypotheses += [y.tolist() for y in ys]
        return references, hypotheses

    def __call__(self, trainer):
        chainer.report({'validation/main/bleu': bleu(*self.translate())})


def bleu(references, hypotheses, max_n=4):
    """Returns the BLEU score, with add-one smoothing for n-grams longer than one word."""
    log_precision = 0
    for n in range(1, max_n + 1):
        matches = total = int(n > 1)
        for reference, hypothesis in zip(references, hypotheses):
            r, h = [
                [tuple(s[i : i + n]) for i in range(len(s) - n + 1)]
                for s in (reference, hypothesis)
            ]
            matches += sum(min(r.count(gram), h.count(gram)) for gram in set(h))
            total += len(h)
        if matches == 0:
            return 0.0
        log_precision += np.log(matches / total) / max_n
    length = sum(map(len, hypotheses))
    brevity = min(0, 1 - sum(map(len, references)) / length)
    return float(np.exp(log_precision + brevity))


def load_vocabulary(path):
    """Assigns IDs to the words in a file, after the two special symbols."""
    with open(path, encoding='utf-8') as f:
        words = [line.strip() for line in f]
    return {word: i for i, word in enumerate(['<UNK>', '<EOS>', *words])}


def encode_sentence(vocabulary, sentence):
    return np.array([vocabulary.get(word, UNK) for word in sentence.split()], np.int32)


def load_data(vocabulary, path):
    with open(path, encoding='utf-8') as f:
        return [encode_sentence(vocabulary, line) for line in f]


def load_pairs(args, files, source_ids, target_ids, source_path, target_path):
    """Returns pairs of sentences from two files with lengths within the bounds.

    Adds opened files to the stack ``files``, which closes them.
    """

    def is_wanted(x, y):
        return (
            args.min_source_sentence <= len(x) <= args.max_source_sentence
            and args.min_target_sentence <= len(y) <= args.max_target_sentence
        )

    if args.use_dataset_api:
        # The lines stay in the files and are read on demand.
        data = files.enter_context(
            contextlib.closing(
                chainer.datasets.TextDataset(
                    [source_path, target_path],
                    encoding='utf-8',
                    filter_func=lambda x, y: is_wanted(x.split(), y.split()),
                )
            )
        )
        return chainer.datasets.TransformDataset(
            data,
            lambda pair: (
                encode_sentence(source_ids, pair[0]),
                encode_sentence(target_ids, pair[1]),
            ),
        )
    sources = load_data(source_ids, source_path)
    targets = load_data(target_ids, target_path)
    if len(sources) != len(targets):
        raise SystemExit(
            f'{source_path} has {len(sources)} lines, but {target_path} has {len(targets)}'
        )
    return [(x, y) for x, y in zip(sources, targets) if is_wanted(x, y)]


def make_parser():
    parser = argparse.ArgumentParser(description='Chainer example: seq2seq')
    parser.add_argument('SOURCE', help='source sentence list')
    parser.add_argument('TARGET', help='target sentence list')
    parser.add_argument('SOURCE_VOCAB', help='source vocabulary file')
    parser.add_argument('TARGET_VOCAB', help='target vocabulary file')
    parser.add_argument('--validation-source', help='source sentence list for validation')
    parser.add_argument('--validation-target', help='target sentence list for validation')
    parser.add_argument(
        '--batchsize',
        '-b',
        type=int,
        default=64,
        help='number of sentence pairs in each mini-batch',
    )
    parser.add_argument(
        '--epoch', '-e', type=int, default=20, help='number of sweeps over the dataset to train'
    )
    parser.add_argument('--resume', '-r', help='resume the training from a snapshot')
    parser.add_argument('--save', '-s', help='save the model in a file after the training')
    parser.add_argument('--unit', '-u', type=int, default=1024, help='number of units')
    parser.add_argument('--layer', '-l', type=int, default=3, help='number of layers')
    parser.add_argument(
        '--use-dataset-api',
        action='store_true',
        help='read sentences with TextDataset, which uses less memory',
    )
    parser.add_argument(
        '--min-source-sentence', type=int, default=1, help='minimum length of source sentences'
    )
    parser.add_argument(
        '--max-source-sentence', type=int, default=50, help='maximum length of source sentences'
    )
    parser.add_argument(
        '--min-target-sentence', type=int, default=1, help='minimum length of target sentences'
    )
    parser.add_argument(
        '--max-target-sentence', type=int, default=50, help='maximum length of target sentences'
    )
    parser.add_argument(
        '--log-interval',
        type=int,
        default=200,
        help='number of iterations between lines of the log',
    )
    parser.add_argument(
        '--validation-interval',
        type=int,
        default=4000,
        help='number of iterations between evaluations',
    )
    parser.add_argument(
        '--snapshot-interval', type=int, default=4000, help='number of iterations between snapshots'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument('--out', '-o', default='result', help='directory to output the result')
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


def make_updater(args, pairs, optimizer, device):
    train_iter = chainer.iterators.SerialIterator(pairs, args.batchsize)
    return training.updaters.StandardUpdater(
        train_iter, optimizer, converter=convert, device=device
    )


def add_output(args, trainer):
    """Adds the extensions that print and write files."""
    interval = args.log_interval, 'iteration'
    trainer.extend(extensions.LogReport(trigger=interval))
    trainer.extend(
        extensions.PrintReport(
            ['epoch', 'iteration', 'main/loss', 'main/perp', 'validation/main/bleu', 'elapsed_time']
        ),
        trigger=interval,
    )
    trainer.extend(extensions.snapshot(), trigger=(args.snapshot_interval, 'iteration'))


def train(args, files):
    device = chainer.get_device(args.device)
    device.use()
    source_ids = load_vocabulary(args.SOURCE_VOCAB)
    target_ids = load_vocabulary(args.TARGET_VOCAB)
    pairs = load_pairs(args, files, source_ids, target_ids, args.SOURCE, args.TARGET)
    print(f'Device: {device}')
    print(f'# of training pairs: {len(pairs)}')
    print(f'Source vocabulary size: {len(source_ids)}')
    print(f'Target vocabulary size: {len(target_ids)}')

    model = Seq2seq(args.layer, len(source_ids), len(target_ids), args.unit)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    updater = make_updater(args, pairs, optimizer, device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    add_output(args, trainer)

    if args.validation_source and args.validation_target:
        test = load_pairs(
            args, files, source_ids, target_ids, args.validation_source, args.validation_target
        )
        print(f'# of validation pairs: {len(test)}')
        source_words = {i: w for w, i in source_ids.items()}
        target_words = {i: w for w, i in target_ids.items()}

        @chainer.training.make_extension()
        def translate(trainer):
            source, target = test[np.random.choice(len(test))]
            (result,) = model.translate([device.send(source)])
            for name, words, ids in (
                ('source', source_words, source),
                ('result', target_words, result),
                ('expect', target_words, target),
            ):
                print('# {} : {}'.format(name, ' '.join(words[int(i)] for i in ids)))

        trigger = (args.validation_interval, 'iteration')
        trainer.extend(translate, trigger=trigger)
        trainer.extend(CalculateBleu(model, test, device), trigger=trigger)

    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    print('start training')
    trainer.run()
    if args.save:
        chainer.serializers.save_npz(args.save, model)


def main():
    args = make_parser().parse_args()
    with contextlib.ExitStack() as files:
        train(args, files)


if __name__ == '__main__':
    main()
