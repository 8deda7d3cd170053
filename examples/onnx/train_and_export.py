#!/usr/bin/env python
"""Trains a small network on handwritten digits and writes it as an ONNX file.

Also writes a test image, and prints the probabilities that the C++ program in ``cpp`` prints, too.
"""

import argparse
import os

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
import onnx_chainer


class Classifier(chainer.Chain):
    """Two convolutions with batch normalization, then a linear layer."""

    def __init__(self, n_out=10):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(None, 16, 3, pad=1, nobias=True)
            self.norm1 = L.BatchNormalization(16)
            self.conv2 = L.Convolution2D(16, 32, 3, pad=1, nobias=True)
            self.norm2 = L.BatchNormalization(32)
            self.fc = L.Linear(None, n_out)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.norm1(self.conv1(x))), 2)
        h = F.max_pooling_2d(F.relu(self.norm2(self.conv2(h))), 2)
        return self.fc(h)


class Probabilities(chainer.Chain):
    """What the file describes: the probabilities of the classes."""

    def __init__(self, predictor):
        super().__init__()
        with self.init_scope():
            self.predictor = predictor

    def forward(self, x):
        return F.softmax(self.predictor(x))


def train(model, images, epochs, batch_size):
    loss = L.Classifier(model)
    optimizer = chainer.optimizers.Adam().setup(loss)
    for epoch in range(epochs):
        losses = []
        for batch in chainer.iterators.SerialIterator(images, batch_size, repeat=False):
            x, t = chainer.dataset.concat_examples(batch)
            optimizer.update(loss, x, t)
            losses.append(float(loss.loss.array))
        print(f'epoch {epoch + 1}: loss {np.mean(losses):.4f}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--epoch', '-e', type=int, default=5, help='Number of sweeps')
    parser.add_argument('--batchsize', '-b', type=int, default=64, help='Images in a batch')
    parser.add_argument('--out', '-o', default='result', help='Folder of model.onnx and image.bin')
    args = parser.parse_args()

    np.random.seed(0)
    images, tests = chainer.datasets.get_digits(ndim=3)
    model = Classifier()
    train(model, images, args.epoch, args.batchsize)

    os.makedirs(args.out, exist_ok=True)
    x, label = tests[0]
    probabilities = Probabilities(model)
    with chainer.using_config('train', False):
        path = os.path.join(args.out, 'model.onnx')
        onnx_chainer.export(
            probabilities, x[None], filename=path, input_names=['image'],
            output_names=['probabilities'], input_shapes=[('batch', *x.shape)],
        )  # fmt: skip
        y = probabilities(x[None]).array[0]
    x.tofile(os.path.join(args.out, 'image.bin'))
    print(f'label: {label}')
    for digit, p in enumerate(y):
        print(f'{digit}: {p:.4f}')


if __name__ == '__main__':
    main()
