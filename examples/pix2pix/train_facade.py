#!/usr/bin/env python
"""Trains a network to generate facades from plans of their parts (pix2pix)."""

import argparse

from facade_dataset import N_LABELS, FacadeDataset
from facade_updater import FacadeUpdater
from facade_visualizer import out_image
from net import Decoder, Discriminator, Encoder

import chainer
from chainer import training
from chainer.training import extensions


def main():
    parser = argparse.ArgumentParser(description='Chainer example: pix2pix')
    parser.add_argument(
        '--batchsize', '-b', type=int, default=1, help='Number of images in each mini-batch'
    )
    parser.add_argument(
        '--epoch', '-e', type=int, default=200, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument(
        '--dataset', '-i', default='./facade/base', help='Directory of the image files'
    )
    parser.add_argument(
        '--n-train',
        type=int,
        default=300,
        help='Number of training images; the others are for the test',
    )
    parser.add_argument('--size', type=int, default=256, help='Size of the images, a power of 2')
    parser.add_argument(
        '--unit', '-u', type=int, default=64, help='Number of channels of the first layers'
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
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
    args = parser.parse_args()

    device = chainer.get_device(args.device)
    device.use()
    print(f'Device: {device}')
    print(f'# Minibatch-size: {args.batchsize}')
    print(f'# epoch: {args.epoch}')
    print('')

    models = {
        'enc': Encoder(N_LABELS, args.size, args.unit),
        'dec': Decoder(3, args.size, args.unit),
        'dis': Discriminator(N_LABELS, 3, args.unit),
    }
    optimizers = {}
    for name, model in models.items():
        model.to_device(device)
        optimizers[name] = chainer.optimizers.Adam(alpha=0.0002, beta1=0.5)
        optimizers[name].setup(model)
        optimizers[name].add_hook(chainer.optimizer_hooks.WeightDecay(0.00001))

    train = FacadeDataset(args.dataset, (0, args.n_train), args.size)
    test = FacadeDataset(args.dataset, (args.n_train, None), args.size)
    iterators = {
        'main': chainer.iterators.SerialIterator(train, args.batchsize),
        'test': chainer.iterators.SerialIterator(test, args.batchsize),
    }
    updater = FacadeUpdater(iterators, optimizers, models=models.values(), device=device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)

    snapshot_interval = (args.snapshot_interval, 'iteration')
    display_interval = (args.display_interval, 'iteration')
    trainer.extend(
        extensions.snapshot(filename='snapshot_iter_{.updater.iteration}.npz'),
        trigger=snapshot_interval,
    )
    for name, model in models.items():
        trainer.extend(
            extensions.snapshot_object(model, name + '_iter_{.updater.iteration}.npz'),
            trigger=snapshot_interval,
        )
    trainer.extend(extensions.LogReport(trigger=display_interval))
    trainer.extend(
        extensions.PrintReport(['epoch', 'iteration', 'enc/loss_enc', 'dec/loss_dec', 'dis/loss']),
        trigger=display_interval,
    )
    trainer.extend(extensions.ProgressBar(update_interval=10))
    trainer.extend(
        out_image(updater, models['enc'], models['dec'], 5, args.seed, args.out),
        trigger=snapshot_interval,
    )
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()


if __name__ == '__main__':
    main()
