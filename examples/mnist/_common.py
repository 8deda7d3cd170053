"""Code shared by the MNIST examples: model, data and command line."""

import argparse
import random

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L


class MLP(chainer.Chain):
    """Two hidden layers of ReLU units; infers input sizes at the first call."""

    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_units)
            self.l3 = L.Linear(None, n_out)

    def forward(self, x):
        h1 = F.relu(self.l1(x))
        h2 = F.relu(self.l2(h1))
        return self.l3(h2)


def make_parser(out='result', device=True):
    """Makes the parser of the options that the examples share."""
    parser = argparse.ArgumentParser(description='Chainer example: MNIST')
    parser.add_argument(
        '--batchsize', '-b', type=int, default=100, help='Number of images in each mini-batch'
    )
    parser.add_argument(
        '--epoch', '-e', type=int, default=20, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument('--out', '-o', default=out, help='Directory to output the result')
    parser.add_argument('--unit', '-u', type=int, default=1000, help='Number of units')
    parser.add_argument(
        '--dataset',
        choices=('digits', 'mnist'),
        default='digits',
        help='Dataset: digits is bundled, mnist is downloaded',
    )
    parser.add_argument('--seed', type=int, default=None, help='Random seed')
    if device:
        parser.add_argument(
            '--device',
            '-d',
            type=str,
            default='-1',
            help='Device specifier: a GPU number (negative for CPU), or e.g. '
            '@numpy, @cupy:0, native:0',
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


def add_devices(parser, nargs='*'):
    """Adds the options of scripts that use several devices."""
    parser.add_argument(
        '--devices',
        '-d',
        nargs=nargs,
        default=['@numpy', '@numpy'],
        help='Device specifiers, e.g. 0 1, native:0 native:1, @numpy @numpy',
    )
    group = parser.add_argument_group('deprecated arguments')
    group.add_argument('--gpu0', '-g', type=int, help='First GPU number')
    group.add_argument('--gpu1', '-G', type=int, help='Second GPU number')


def get_devices(args):
    """Returns the devices selected with the options of :func:`add_devices`."""
    specs = [spec for spec in (args.gpu0, args.gpu1) if spec is not None]
    return [get_device(spec) for spec in specs or args.devices]


def get_device(spec):
    """Returns the device of a command line option."""
    try:
        return chainer.get_device(int(spec))
    except ValueError:
        return chainer.get_device(spec)


def set_seed(seed):
    """Makes random numbers reproducible."""
    if seed is None:
        return
    random.seed(seed)
    np.random.seed(seed)
    if chainer.backends.cuda.available:
        chainer.backends.cuda.cupy.random.seed(seed)


def get_datasets(name):
    """Returns the training and the test dataset."""
    if name == 'digits':
        return chainer.datasets.get_digits()
    return chainer.datasets.get_mnist()


def print_settings(args, devices):
    """Prints the settings of the training."""
    print('Device: {}'.format(', '.join(str(device) for device in devices)))
    print(f'# unit: {args.unit}')
    print(f'# Minibatch-size: {args.batchsize}')
    print(f'# epoch: {args.epoch}')
    print('')
