#!/usr/bin/env python
"""Classifies test images with a model trained by train_mnist.py."""

import argparse

from _common import MLP, get_datasets, get_device

import chainer
from chainer.dataset import to_device


def main():
    parser = argparse.ArgumentParser(description='Chainer example: MNIST')
    parser.add_argument(
        '--device',
        '-d',
        type=str,
        default='-1',
        help='Device specifier: a GPU number (negative for CPU), or e.g. @numpy, @cupy:0, native:0',
    )
    parser.add_argument(
        '--snapshot', '-s', default='result/snapshot_iter_288', help='Snapshot of the trainer'
    )
    parser.add_argument('--unit', '-u', type=int, default=1000, help='Number of units')
    parser.add_argument(
        '--dataset', choices=('digits', 'mnist'), default='digits', help='Images to classify'
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

    device = get_device(args.device)
    print(f'Device: {device}')
    print(f'# unit: {args.unit}')
    print('')

    # A snapshot contains the whole trainer; the path selects the predictor.
    model = MLP(args.unit, 10)
    chainer.serializers.load_npz(args.snapshot, model, path='updater/model:main/predictor/')
    model.to_device(device)
    device.use()

    _, test = get_datasets(args.dataset)
    n_correct = 0
    for i, (x, t) in enumerate(test):
        with chainer.using_config('train', False), chainer.using_config('enable_backprop', False):
            y = model(to_device(device, x[None]))
        prediction = int(y.array.argmax(axis=1)[0])
        n_correct += prediction == t
        if i < 10:
            print(f'image: {i:5d}  label: {t}  prediction: {prediction}')
    print('')
    print(f'accuracy: {n_correct / len(test):.6f}')


if __name__ == '__main__':
    main()
