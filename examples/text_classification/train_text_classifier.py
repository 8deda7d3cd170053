#!/usr/bin/env python
"""Trains a text classifier: recurrent, convolutional or bag of words."""

import argparse
import json
import os

import nets
import numpy as np
import text_datasets

import chainer
from chainer import training
from chainer.training import extensions


def main():
    parser = argparse.ArgumentParser(description='Chainer example: text classification')
    parser.add_argument(
        '--batchsize', '-b', type=int, default=64, help='Number of texts in each mini-batch'
    )
    parser.add_argument(
        '--epoch', '-e', type=int, default=30, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument('--unit', '-u', type=int, default=300, help='Number of units')
    parser.add_argument(
        '--layer',
        '-l',
        type=int,
        default=1,
        help='Number of layers of the RNN, or of the MLP after CNN and BOW',
    )
    parser.add_argument('--dropout', type=float, default=0.4, help='Dropout ratio')
    parser.add_argument(
        '--dataset',
        '-data',
        default='imdb.binary',
        help='Dataset: toy (generated), one of those downloaded ({}), or '
        'a file with a label and a text in each line'.format(', '.join(text_datasets.NAMES)),
    )
    parser.add_argument(
        '--model',
        '-model',
        default='cnn',
        choices=nets.ENCODERS,
        help='Name of the encoder model type',
    )
    parser.add_argument(
        '--char-based',
        action='store_true',
        help='Treat texts as sequences of characters, not words',
    )
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
    parser.add_argument('--test', action='store_true', help='Use tiny datasets for quick tests')
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
    train, test = text_datasets.get_texts(args.dataset)
    if args.test:
        train, test = train[:100], test[:100]
    vocab = text_datasets.make_vocab(train, args.char_based)
    train, test = [
        [
            (text_datasets.transform(text, vocab, args.char_based), np.array([label], np.int32))
            for text, label in texts
        ]
        for texts in (train, test)
    ]
    n_class = 1 + max(int(label[0]) for _, label in train)
    print(f'Device: {device}')
    print(f'# train data: {len(train)}')
    print(f'# test  data: {len(test)}')
    print(f'# vocab: {len(vocab)}')
    print(f'# class: {n_class}')

    setup = dict(vars(args), n_class=n_class)
    model = nets.make_model(setup, len(vocab))
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))

    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)
    updater = training.updaters.StandardUpdater(
        train_iter, optimizer, converter=nets.convert_seq, device=device
    )
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    trainer.extend(
        extensions.Evaluator(test_iter, model, converter=nets.convert_seq, device=device)
    )
    trainer.extend(
        extensions.snapshot_object(model, 'best_model.npz'),
        trigger=training.triggers.MaxValueTrigger('validation/main/accuracy', (1, 'epoch')),
    )
    trainer.extend(extensions.snapshot(), trigger=(args.epoch, 'epoch'))
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
    trainer.extend(extensions.ProgressBar(update_interval=10))

    # run_text_classifier.py reads these settings
    os.makedirs(args.out, exist_ok=True)
    setup.update(
        vocab_path=os.path.join(args.out, 'vocab.json'),
        model_path=os.path.join(args.out, 'best_model.npz'),
    )
    for path, content in (
        (setup['vocab_path'], vocab),
        (os.path.join(args.out, 'args.json'), setup),
    ):
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(content, f)

    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()


if __name__ == '__main__':
    main()
