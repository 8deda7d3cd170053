#!/usr/bin/env python
"""Trains WaveNet to generate speech from spectrograms."""

import argparse
import pathlib

import net
import numpy as np
import sound

import chainer
from chainer import training
from chainer.training import extensions


class SoundDataset(chainer.dataset.DatasetMixin):
    """Random parts of sounds: samples, spectrogram, next samples."""

    def __init__(self, paths, length, n_values):
        self.paths = paths
        self.length = length
        self.mu_law = sound.MuLaw(n_values)

    def __len__(self):
        return len(self.paths)

    def get_example(self, i):
        x = sound.read(str(self.paths[i]))
        x = np.pad(x, (0, max(0, self.length + 1 - len(x))))
        start = np.random.randint(len(x) - self.length)
        x = x[start : start + self.length + 1]
        q = self.mu_law.encode(x)
        return q[:-1], sound.spectrogram(x[:-1]), q[1:]


def main():
    parser = argparse.ArgumentParser(description='Chainer example: WaveNet')
    parser.add_argument(
        '--batchsize', '-b', type=int, default=4, help='Number of sounds in each mini-batch'
    )
    parser.add_argument(
        '--length',
        '-l',
        type=int,
        default=7680,
        help=f'Number of samples of each sound, a multiple of {sound.HOP}',
    )
    parser.add_argument(
        '--epoch', '-e', type=int, default=100, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument(
        '--dataset',
        '-i',
        default='./VCTK-Corpus',
        help='Directory of sound files (.wav), including subfolders',
    )
    parser.add_argument(
        '--prefetch', type=int, default=8, help='Number of batches to load in advance'
    )
    parser.add_argument(
        '--process',
        type=int,
        default=2,
        help='Number of processes that load sounds; 0: load in the main process',
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
    parser.add_argument('--seed', type=int, default=0, help='Random seed of the split')
    parser.add_argument(
        '--snapshot_interval', type=int, default=10000, help='Interval of snapshots, in iterations'
    )
    parser.add_argument(
        '--display_interval',
        type=int,
        default=100,
        help='Interval of lines of the log, in iterations',
    )
    net.add_arguments(parser)
    args = parser.parse_args()
    if args.length % sound.HOP:
        parser.error(f'--length must be a multiple of {sound.HOP}')

    device = chainer.get_device(args.device)
    device.use()
    paths = sorted(pathlib.Path(args.dataset).glob('**/*.wav'))
    if len(paths) < 2:
        parser.error(f'two sound files or more are needed below {args.dataset}')
    print(f'Device: {device}')
    print(f'# Sound files: {len(paths)}')
    print(f'# Minibatch-size: {args.batchsize}')
    print(f'# epoch: {args.epoch}')
    print('')

    dataset = SoundDataset(paths, args.length, args.a_channels)
    n_train = min(len(dataset) - 1, round(len(dataset) * 0.9))
    train, valid = chainer.datasets.split_dataset_random(dataset, n_train, args.seed)
    options = dict(n_processes=args.process, n_prefetch=args.prefetch)
    iterator = chainer.iterators.MultiprocessIterator
    if args.process == 0:
        options = {}
        iterator = chainer.iterators.SerialIterator
    train_iter = iterator(train, args.batchsize, **options)
    valid_iter = iterator(valid, args.batchsize, repeat=False, shuffle=False, **options)

    model = net.make_model(args)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam(1e-4)
    optimizer.setup(model)

    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    snapshot_interval = (args.snapshot_interval, 'iteration')
    display_interval = (args.display_interval, 'iteration')
    trainer.extend(extensions.Evaluator(valid_iter, model, device=device))
    trainer.extend(extensions.snapshot(), trigger=snapshot_interval)
    trainer.extend(
        extensions.snapshot_object(model, 'model_iter_{.updater.iteration}'),
        trigger=snapshot_interval,
    )
    trainer.extend(extensions.LogReport(trigger=display_interval))
    trainer.extend(
        extensions.PrintReport(
            [
                'epoch',
                'iteration',
                'main/loss',
                'main/accuracy',
                'validation/main/loss',
                'validation/main/accuracy',
            ]
        ),
        trigger=display_interval,
    )
    trainer.extend(extensions.ProgressBar(update_interval=10))
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()


if __name__ == '__main__':
    main()
