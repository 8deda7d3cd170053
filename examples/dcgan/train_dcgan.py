#!/usr/bin/env python
"""Trains a deep convolutional generative adversarial network (DCGAN)."""

import argparse
import os

import numpy as np
from net import Discriminator, Generator
from updater import DCGANUpdater
from visualize import out_generated_image

import chainer
from chainer import training
from chainer.training import extensions


def get_images(name):
    """Returns a dataset of images of 32x32 pixels or more, with values between 0 and 1."""
    if name == 'digits':
        train, _ = chainer.datasets.get_digits(withlabel=False, ndim=3, rgb_format=True)
        return np.kron(train, np.ones((1, 1, 4, 4), train.dtype))
    if name == '':
        train, _ = chainer.datasets.get_cifar10(withlabel=False)
        return train
    files = [
        file
        for file in sorted(os.listdir(name))
        if file.lower().endswith(('.png', '.jpg', '.jpeg'))
    ]
    print(f'{name} contains {len(files)} image files')
    return chainer.datasets.TransformDataset(
        chainer.datasets.ImageDataset(files, name, dtype=np.float32), lambda x: x / 255
    )


def make_parser():
    parser = argparse.ArgumentParser(description='Chainer example: DCGAN')
    parser.add_argument(
        '--batchsize', '-b', type=int, default=50, help='Number of images in each mini-batch'
    )
    parser.add_argument(
        '--epoch', '-e', type=int, default=1000, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument(
        '--dataset',
        '-i',
        default='',
        help='Directory of colour images of 32x32 pixels, or digits, which come '
        'with Chainer. Default is CIFAR-10 (downloaded).',
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
    parser.add_argument(
        '--n_hidden', '-n', type=int, default=100, help='Length of the random vectors'
    )
    parser.add_argument(
        '--unit', '-u', type=int, default=512, help='Largest number of channels of the networks'
    )
    parser.add_argument('--seed', type=int, default=0, help='Random seed of the pictures')
    parser.add_argument(
        '--snapshot_interval', type=int, default=1000, help='Interval of snapshots, in iterations'
    )
    parser.add_argument(
        '--display_interval',
        type=int,
        default=100,
        help='Interval of lines of the log, in iterations',
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


def make_models(args):
    """Returns the generator and the discriminator."""
    return Generator(n_hidden=args.n_hidden, ch=args.unit), Discriminator(ch=args.unit)


def make_updater(args, images, models, device, wrap=lambda optimizer: optimizer):
    """Makes the updater; ``wrap`` may give each optimizer what training needs beside it."""
    optimizers = {}
    for name, model in zip(('gen', 'dis'), models):
        model.to_device(device)
        optimizers[name] = wrap(chainer.optimizers.Adam(alpha=0.0002, beta1=0.5)).setup(model)
        optimizers[name].add_hook(chainer.optimizer_hooks.WeightDecay(0.0001))
    train_iter = chainer.iterators.SerialIterator(images, args.batchsize)
    return DCGANUpdater(train_iter, optimizers, models=models, device=device)


def add_output(args, trainer, gen, dis):
    """Adds the extensions that print and write files."""
    snapshot_interval = (args.snapshot_interval, 'iteration')
    display_interval = (args.display_interval, 'iteration')
    trainer.extend(
        extensions.snapshot(filename='snapshot_iter_{.updater.iteration}.npz'),
        trigger=snapshot_interval,
    )
    for name, model in ('gen', gen), ('dis', dis):
        trainer.extend(
            extensions.snapshot_object(model, name + '_iter_{.updater.iteration}.npz'),
            trigger=snapshot_interval,
        )
    trainer.extend(extensions.LogReport(trigger=display_interval))
    trainer.extend(
        extensions.PrintReport(['epoch', 'iteration', 'gen/loss', 'dis/loss']),
        trigger=display_interval,
    )
    trainer.extend(extensions.ProgressBar(update_interval=10))
    trainer.extend(out_generated_image(gen, 10, 10, args.seed, args.out), trigger=snapshot_interval)


def main():
    args = make_parser().parse_args()

    device = chainer.get_device(args.device)
    device.use()
    print(f'Device: {device}')
    print(f'# Minibatch-size: {args.batchsize}')
    print(f'# n_hidden: {args.n_hidden}')
    print(f'# epoch: {args.epoch}')
    print('')

    models = make_models(args)
    updater = make_updater(args, get_images(args.dataset), models, device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    add_output(args, trainer, *models)
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()


if __name__ == '__main__':
    main()
