#!/usr/bin/env python
"""A network for handwritten digits in 8 and 4 bits: what it gains and what it loses."""

import argparse
import os

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import quantization


class CNN(chainer.Chain):
    def __init__(self, n_units):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, n_units, 3, pad=1)
            self.norm1 = L.BatchNormalization(n_units)
            self.conv2 = L.Convolution2D(n_units, n_units, 3, pad=1)
            self.norm2 = L.BatchNormalization(n_units)
            self.fc1 = L.Linear(16 * n_units, 64)
            self.fc2 = L.Linear(64, 10)

    def forward(self, x):
        h = F.relu(self.norm1(self.conv1(x)))
        h = F.max_pooling_2d(F.relu(self.norm2(self.conv2(h))), 2)
        return self.fc2(F.relu(self.fc1(h)))


def train(model, dataset, args, epoch, alpha=0.001):
    """Trains a model with Adam."""
    optimizer = chainer.optimizers.Adam(alpha).setup(model)
    iterator = chainer.iterators.SerialIterator(dataset, args.batchsize)
    while iterator.epoch < epoch:
        x, t = chainer.dataset.concat_examples(next(iterator), model.device)
        optimizer.update(lambda x=x, t=t: F.softmax_cross_entropy(model(x), t))


def batches(dataset, args, device):
    """Batches of images and labels, in order."""
    iterator = chainer.iterators.SerialIterator(
        dataset, args.batchsize, repeat=False, shuffle=False
    )
    return [chainer.dataset.concat_examples(batch, device) for batch in iterator]


def size_of_file(model, path):
    chainer.serializers.save_npz(path, model, compression=False)
    return os.path.getsize(path)


def main():
    parser = argparse.ArgumentParser(description='Chainer example: quantization')
    parser.add_argument('--batchsize', '-b', type=int, default=50)
    parser.add_argument('--epoch', '-e', type=int, default=20, help='Epochs in float32')
    parser.add_argument(
        '--finetune', '-f', type=int, default=5, help='Epochs of quantization-aware training'
    )
    parser.add_argument('--unit', '-u', type=int, default=16, help='Number of channels')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', '-o', default='result')
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    args = parser.parse_args()
    device = chainer.get_device(args.device)
    device.use()
    np.random.seed(args.seed)
    os.makedirs(args.out, exist_ok=True)

    training, test = chainer.datasets.get_digits(ndim=3)
    model = CNN(args.unit).to_device(device)
    train(model, training, args, args.epoch)

    # Ranges of activations on some of the training images
    images = [x for x, _ in batches(training, args, device)[:10]]
    ranges = quantization.calibrate(model, images)
    clipped = quantization.calibrate(model, images, quantization.Entropy)

    # Training goes on with rounded numbers.
    aware = quantization.prepare(model, bits=4, block_size=16)
    train(aware, training, args, args.finetune, alpha=0.0003)

    models = {
        'int8': quantization.quantize(model, ranges),
        'int8, entropy': quantization.quantize(model, clipped),
        'int8 weights': quantization.quantize(model),
        'int4 weights': quantization.quantize(model, bits=4, block_size=16),
        'int4 weights, trained': quantization.convert(aware),
    }
    path = os.path.join(args.out, 'model.npz')
    evaluations = {
        name: quantization.evaluate(model, each, batches(test, args, device), F.accuracy)
        for name, each in models.items()
    }
    print(f'{"model":22} accuracy    bytes')
    print(f'{"float32":22} {evaluations["int8"].before:8.4f} {size_of_file(model, path):8}')
    for name, each in models.items():
        accuracy = evaluations[name].after
        print(f'{name:22} {accuracy:8.4f} {size_of_file(each, path):8}')
    print(f'\nint8, {evaluations["int8"]}')
    chainer.serializers.save_npz(path, models['int8'])


if __name__ == '__main__':
    main()
