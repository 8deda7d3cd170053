"""Code shared by the CIFAR examples: command line, data and model."""

import argparse

import models
import numpy as np

import chainer
import chainer.links as L


def make_parser():
    parser = argparse.ArgumentParser(description='Chainer CIFAR example')
    parser.add_argument(
        '--dataset',
        default='cifar10',
        choices=('cifar10', 'cifar100', 'digits'),
        help='Dataset; digits is bundled, the others are downloaded',
    )
    parser.add_argument(
        '--model', default='VGG', choices=('VGG', 'resnet50'), help='Network to train'
    )
    parser.add_argument(
        '--unit', '-u', type=int, default=64, help='Number of channels of the first layer'
    )
    parser.add_argument(
        '--batchsize', '-b', type=int, default=64, help='Number of images in each mini-batch'
    )
    parser.add_argument('--learnrate', '-l', type=float, default=0.05, help='Learning rate for SGD')
    parser.add_argument(
        '--epoch', '-e', type=int, default=300, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument(
        '--test', action='store_true', help='Use a small part of the dataset for quick tests'
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


def get_datasets(name, test=False):
    """Returns training dataset, test dataset and number of classes."""
    if name == 'cifar10':
        class_labels = 10
        datasets = chainer.datasets.get_cifar10()
    elif name == 'cifar100':
        class_labels = 100
        datasets = chainer.datasets.get_cifar100()
    else:
        class_labels = 10
        datasets = [
            chainer.datasets.TransformDataset(dataset, _enlarge)
            for dataset in chainer.datasets.get_digits(ndim=3, rgb_format=True)
        ]
    if test:
        datasets = [dataset[:200] for dataset in datasets]
    return (*datasets, class_labels)


def _enlarge(example):
    """Enlarges an image of 8x8 pixels to the size of CIFAR."""
    image, label = example
    return np.kron(image, np.ones((1, 4, 4), image.dtype)), label


def make_model(name, class_labels, width):
    network = {'VGG': models.VGG, 'resnet50': models.ResNet50}[name]
    return L.Classifier(network(class_labels, width))


def print_settings(args, device):
    print(f'Device: {device}')
    print(f'# Minibatch-size: {args.batchsize}')
    print(f'# epoch: {args.epoch}')
    print('')
