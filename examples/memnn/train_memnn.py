#!/usr/bin/env python
"""Trains an end-to-end memory network to answer questions about stories."""

import argparse
import collections
import json
import os

import babi
import memnn

import chainer
import chainer.links as L
from chainer import training
from chainer.training import extensions


def main():
    parser = argparse.ArgumentParser(description='Chainer example: end-to-end memory networks')
    parser.add_argument('TRAIN_DATA', help='Path to training data in bAbI dataset')
    parser.add_argument('TEST_DATA', help='Path to test data in bAbI dataset')
    parser.add_argument(
        '--model',
        '-m',
        default='model',
        help='Directory to save the model to, below the output directory',
    )
    parser.add_argument(
        '--batchsize', '-b', type=int, default=100, help='Number of questions in each mini-batch'
    )
    parser.add_argument(
        '--epoch', '-e', type=int, default=100, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument('--unit', '-u', type=int, default=20, help='Number of units')
    parser.add_argument('--hop', '-H', type=int, default=3, help='Number of hops')
    parser.add_argument(
        '--max-memory', type=int, default=50, help='Maximum number of sentences to remember'
    )
    parser.add_argument(
        '--sentence-repr',
        choices=['bow', 'pe'],
        default='bow',
        help='Sentences as bags of words or with position encoding',
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
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
    vocab['<unk>'] = 0
    parts = [babi.read_stories(vocab, path) for path in (args.TRAIN_DATA, args.TEST_DATA)]
    sentence_length = max(len(item.words) for part in parts for story in part for item in story)
    train, test = [babi.make_arrays(part, args.max_memory, sentence_length) for part in parts]
    print(f'Device: {device}')
    print(f'Training data: {args.TRAIN_DATA}: {len(train)}')
    print(f'Test data: {args.TEST_DATA}: {len(test)}')
    print(f'# of words: {len(vocab)}')

    network = memnn.MemNN(args.unit, len(vocab), args.max_memory, args.hop, args.sentence_repr)
    model = L.Classifier(network, label_key=-1)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)
    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    trainer.extend(extensions.Evaluator(test_iter, model, device=device))
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.PrintReport(
            [
                'epoch',
                'main/loss',
                'validation/main/loss',
                'main/accuracy',
                'validation/main/accuracy',
            ]
        )
    )
    trainer.extend(extensions.ProgressBar(update_interval=10))
    trainer.extend(extensions.snapshot(), trigger=(args.epoch, 'epoch'))
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()

    folder = os.path.join(args.out, args.model)
    os.makedirs(folder, exist_ok=True)
    chainer.serializers.save_npz(os.path.join(folder, 'model.npz'), network)
    setup = dict(
        unit=args.unit,
        hop=args.hop,
        max_memory=args.max_memory,
        sentence_repr=args.sentence_repr,
        sentence_length=sentence_length,
        vocab=vocab,
    )
    with open(os.path.join(folder, 'setup.json'), 'w', encoding='utf-8') as f:
        json.dump(setup, f)


if __name__ == '__main__':
    main()
