#!/usr/bin/env python
"""Exports a network to Caffe, loads it, and compares the outputs."""

import argparse
import os

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.exporters import caffe
from chainer.links.caffe import CaffeFunction


class Small(chainer.Chain):
    """A convolutional network for images of 32x32 pixels."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(3, 8, 3, stride=2, pad=1)
            self.bn1 = L.BatchNormalization(8)
            self.conv2 = L.Convolution2D(8, 16, 3, pad=1)
            self.fc = L.Linear(16 * 8 * 8, 10)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        return F.softmax(self.fc(h))


class Predictor(chainer.Chain):
    """Computes class probabilities with a network of ``chainer.links``."""

    def __init__(self, network):
        super().__init__()
        with self.init_scope():
            self.network = network

    def forward(self, x):
        return self.network(x, layers=['prob'])['prob']


ARCHS = {
    'small': (Small, 32),
    'vgg16': (lambda: Predictor(L.VGG16Layers(pretrained_model=None)), 224),
    'vgg19': (lambda: Predictor(L.VGG19Layers(pretrained_model=None)), 224),
    'resnet50': (lambda: Predictor(L.ResNet50Layers(pretrained_model=None)), 224),
}


def main():
    parser = argparse.ArgumentParser(description='Chainer example: export to Caffe')
    parser.add_argument('--arch', '-a', choices=ARCHS, default='small', help='Network to export')
    parser.add_argument('--out-dir', '-o', default='exported', help='Directory to write to')
    parser.add_argument(
        '--param', '-p', help='File of parameters (.npz); random parameters by default'
    )
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
    make, size = ARCHS[args.arch]
    model = make()
    if args.param:
        chainer.serializers.load_npz(args.param, model)
    x = np.random.uniform(-1, 1, (1, 3, size, size)).astype(np.float32)
    os.makedirs(args.out_dir, exist_ok=True)
    with chainer.using_config('train', False):
        caffe.export(
            model, [chainer.Variable(x)], args.out_dir, export_params=True, graph_name=args.arch
        )

    path = os.path.join(args.out_dir, 'chainer_model.caffemodel')
    imported = CaffeFunction(path)
    imported.to_device(device)
    model.to_device(device)
    x = device.send(x)
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        blob = imported.layers[-1][2][0]  # what the last layer computes
        (y,) = imported({'data': x}, [blob])
        difference = abs(model(x).array - y.array).max()
    print(f'exported to {path}')
    print(f'output: {blob}')
    print(f'largest difference of the outputs: {float(difference):.2g}')


if __name__ == '__main__':
    main()
