#!/usr/bin/env python
"""Trains a network that describes images."""

import argparse
import json
import os

import data
from model import FEATURES, ImageCaptionModel

import chainer
from chainer import training
from chainer.training import extensions


def main():
    parser = argparse.ArgumentParser(description='Chainer example: image captioning')
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument('--mscoco-root', default='mscoco', help='Directory of the dataset')
    parser.add_argument(
        '--max-iters', type=int, default=50000, help='Number of iterations to train'
    )
    parser.add_argument(
        '--batch-size', '-b', type=int, default=128, help='Number of captions in each mini-batch'
    )
    parser.add_argument('--dropout-ratio', type=float, default=0.5, help='Dropout ratio')
    parser.add_argument(
        '--val-keep-quantity', type=int, default=100, help='Number of captions for validation'
    )
    parser.add_argument(
        '--val-iter', type=int, default=100, help='Interval of evaluations, in iterations'
    )
    parser.add_argument(
        '--log-iter', type=int, default=1, help='Interval of lines of the log, in iterations'
    )
    parser.add_argument(
        '--snapshot-iter', type=int, default=1000, help='Interval of snapshots, in iterations'
    )
    parser.add_argument(
        '--rnn',
        choices=['nsteplstm', 'lstm'],
        default='nsteplstm',
        help='Language model layer type',
    )
    parser.add_argument(
        '--features',
        choices=FEATURES,
        default='vgg16',
        help='Feature extractor: vgg16 loads the caffemodel file, small is trained',
    )
    parser.add_argument('--unit', '-u', type=int, default=512, help='Number of units')
    parser.add_argument(
        '--max-caption-length',
        type=int,
        default=30,
        help='Maximum number of words in captions',
    )
    parser.add_argument(
        '--min-freq', type=int, default=5, help='Minimum count of words in the vocabulary'
    )
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
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
    vocab = data.make_vocab(data.annotation_path(args.mscoco_root, 'train2014'), args.min_freq)
    size = FEATURES[args.features].size
    train, val = [
        data.CaptionDataset(args.mscoco_root, part, vocab, args.max_caption_length, size, quantity)
        for part, quantity in (('train2014', None), ('val2014', args.val_keep_quantity))
    ]
    print(f'Device: {device}')
    print(f'# of captions: {len(train)}')
    print(f'# of words: {len(vocab)}')

    model = ImageCaptionModel(len(vocab), args.features, args.rnn, args.dropout_ratio, args.unit)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    train_iter = chainer.iterators.MultithreadIterator(train, args.batch_size)
    val_iter = chainer.iterators.MultithreadIterator(
        val, args.batch_size, repeat=False, shuffle=False
    )
    updater = training.updaters.StandardUpdater(
        train_iter, optimizer, converter=data.convert, device=device
    )
    trainer = training.Trainer(updater, (args.max_iters, 'iteration'), out=args.out)
    trainer.extend(
        extensions.Evaluator(val_iter, model, converter=data.convert, device=device),
        trigger=(args.val_iter, 'iteration'),
    )
    trainer.extend(
        extensions.LogReport(
            ['main/loss', 'main/perplexity', 'validation/main/loss', 'validation/main/perplexity'],
            trigger=(args.log_iter, 'iteration'),
        )
    )
    trainer.extend(
        extensions.PrintReport(
            [
                'elapsed_time',
                'epoch',
                'iteration',
                'main/loss',
                'main/perplexity',
                'validation/main/loss',
                'validation/main/perplexity',
            ]
        ),
        trigger=(args.log_iter, 'iteration'),
    )
    for extension in (
        extensions.snapshot(),
        extensions.snapshot_object(model, 'model_{.updater.iteration}'),
    ):
        trainer.extend(extension, trigger=(args.snapshot_iter, 'iteration'))

    os.makedirs(args.out, exist_ok=True)
    with open(os.path.join(args.out, 'setup.json'), 'w', encoding='utf-8') as f:
        json.dump(dict(vocab=vocab, features=args.features, rnn=args.rnn, unit=args.unit), f)
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()


if __name__ == '__main__':
    main()
