#!/usr/bin/env python
"""Evaluates a network from a Caffe file on labelled images."""

import argparse

import numpy as np

import chainer
import chainer.functions as F
from chainer.links.caffe import CaffeFunction

# Image size, output blob, disabled layers
MODELS = {
    'alexnet': (227, 'fc8', []),
    'caffenet': (227, 'fc8', []),
    'googlenet': (224, 'loss3/classifier', ['loss1/ave_pool', 'loss2/ave_pool']),
    'resnet': (224, 'prob', []),
}


def preprocess(image, mean, size):
    """Converts an image to BGR, subtracts the mean, and crops the center."""
    image = image[::-1] - mean
    top, left = [(n - size) // 2 for n in image.shape[1:]]
    return image[:, top : top + size, left : left + size].astype(np.float32)


def main():
    parser = argparse.ArgumentParser(
        description='Evaluate a Caffe reference model on ILSVRC2012 dataset'
    )
    parser.add_argument('dataset', help='Path to validation image-label list file')
    parser.add_argument('model_type', choices=MODELS, help='Model type')
    parser.add_argument('model', help='Path to the pretrained Caffe model')
    parser.add_argument('--basepath', '-b', default='/', help='Base path for images in the dataset')
    parser.add_argument(
        '--mean', '-m', help='Path to the mean image (.npy); default: the mean colour of ImageNet'
    )
    parser.add_argument('--batchsize', '-B', type=int, default=100, help='Minibatch size')
    parser.add_argument('--output', help='Output blob, if it differs from the default of the type')
    parser.add_argument(
        '--insize', type=int, help='Size of the images, if it differs from the default of the type'
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
    size, output, disable = MODELS[args.model_type]
    size = args.insize or size
    output = args.output or output
    mean = np.array([104, 117, 123], np.float32)[:, None, None]
    if args.mean:
        mean = np.load(args.mean)

    print(f'Loading Caffe model file {args.model}')
    func = CaffeFunction(args.model)
    func.to_device(device)
    print('Loaded')

    dataset = chainer.datasets.TransformDataset(
        chainer.datasets.LabeledImageDataset(args.dataset, args.basepath),
        lambda example: (preprocess(example[0], mean, size), example[1]),
    )
    iterator = chainer.iterators.SerialIterator(
        dataset, args.batchsize, repeat=False, shuffle=False
    )
    summary = chainer.DictSummary()
    count = 0
    for batch in iterator:
        x, t = chainer.dataset.concat_examples(batch, device)
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            (y,) = func({'data': x}, [output], disable)
        values = {'loss': F.softmax_cross_entropy(y, t), 'accuracy': F.accuracy(y, t)}
        summary.add({name: (float(v.array), len(batch)) for name, v in values.items()})
        count += len(batch)
        print(f'{count} / {len(dataset)}', end='\r')

    means = summary.compute_mean()
    print('mean loss:     {}'.format(float(means['loss'])))
    print('mean accuracy: {}'.format(float(means['accuracy'])))


if __name__ == '__main__':
    main()
