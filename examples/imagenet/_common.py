"""Code shared by the ImageNet examples: command line, data and models."""

import argparse
import random

import alex
import googlenet
import googlenetbn
import nin
import numpy as np
import resnet50
import resnext50

import chainer
import chainerx
from chainer import training
from chainer.training import extensions

ARCHS = {
    'alex': alex.Alex,
    'googlenet': googlenet.GoogLeNet,
    'googlenetbn': googlenetbn.GoogLeNetBN,
    'nin': nin.NIN,
    'resnet50': resnet50.ResNet50,
    'resnext50': resnext50.ResNeXt50,
}
DTYPES = {
    'mixed16': chainer.mixed16,
    'float16': np.float16,
    'float32': np.float32,
    'float64': np.float64,
}


def make_parser():
    parser = argparse.ArgumentParser(description='Learning convnet from ILSVRC2012 dataset')
    parser.add_argument('train', help='Path to training image-label list file')
    parser.add_argument('val', help='Path to validation image-label list file')
    parser.add_argument(
        '--arch', '-a', choices=sorted(ARCHS), default='nin', help='Convnet architecture'
    )
    parser.add_argument(
        '--insize', type=int, help='Size of the images (default: depends on the architecture)'
    )
    parser.add_argument('--classes', type=int, default=1000, help='Number of classes')
    parser.add_argument(
        '--batchsize', '-B', '-b', type=int, default=32, help='Learning minibatch size'
    )
    parser.add_argument('--dtype', choices=DTYPES, default='float32', help='Data type')
    parser.add_argument('--learnrate', type=float, default=0.01, help='Learning rate')
    parser.add_argument(
        '--epoch', '-E', '-e', type=int, default=10, help='Number of epochs to train'
    )
    parser.add_argument('--initmodel', help='Initialize the model from given file')
    parser.add_argument(
        '--loaderjob', '-j', type=int, help='Number of parallel data loading processes'
    )
    parser.add_argument(
        '--mean', '-m', default='mean.npy', help='Mean file (computed by compute_mean.py)'
    )
    parser.add_argument('--resume', '-r', help='Initialize the trainer from given file')
    parser.add_argument('--out', '-o', default='result', help='Output directory')
    parser.add_argument('--root', '-R', default='.', help='Root directory path of image files')
    parser.add_argument(
        '--val_batchsize', '-V', type=int, default=250, help='Validation minibatch size'
    )
    parser.add_argument(
        '--test', action='store_true', help='Evaluate and write snapshots often, for quick tests'
    )
    return parser


class PreprocessedDataset(chainer.dataset.DatasetMixin):
    """Crops images to a size and subtracts the mean image.

    Args:
        path (str): List of image files and labels.
        root (str): Directory of the image files.
        mean (numpy.ndarray): Mean image, ``(3, height, width)``.
        crop_size (int): Size of the results.
        is_random (bool): Whether to crop and mirror images at random or crop the center.

    """

    def __init__(self, path, root, mean, crop_size, is_random=True):
        self.base = chainer.datasets.LabeledImageDataset(path, root)
        self.mean = mean.astype(chainer.get_dtype())
        self.crop_size = crop_size
        self.is_random = is_random

    def __len__(self):
        return len(self.base)

    def get_example(self, i):
        image, label = self.base[i]
        size = self.crop_size
        _, h, w = image.shape
        if self.is_random:
            top = random.randint(0, h - size)
            left = random.randint(0, w - size)
        else:
            top = (h - size) // 2
            left = (w - size) // 2
        window = slice(None), slice(top, top + size), slice(left, left + size)
        image = (image[window] - self.mean[window]) * (1.0 / 255.0)
        if self.is_random and random.randint(0, 1):
            image = image[:, :, ::-1]
        return image, label


def make_model(args):
    model = ARCHS[args.arch](args.classes)
    if args.initmodel:
        print(f'Load model from {args.initmodel}')
        chainer.serializers.load_npz(args.initmodel, model)
    return model


def make_datasets(args, insize):
    """Returns the training and the validation images."""
    mean = np.load(args.mean)
    return (
        PreprocessedDataset(args.train, args.root, mean, insize),
        PreprocessedDataset(args.val, args.root, mean, insize, False),
    )


def make_iterators(args, train, val):
    """Returns iterators of the training and the validation images."""
    options = dict(n_processes=args.loaderjob)
    return (
        chainer.iterators.MultiprocessIterator(train, args.batchsize, **options),
        chainer.iterators.MultiprocessIterator(
            val, args.val_batchsize, repeat=False, shuffle=False, **options
        ),
    )


def make_trainer(args, updater, model, *evaluators, has_output=True):
    """Makes the trainer with its extensions.

    Args:
        args: Command line.
        updater: Updater.
        model: Model.
        *evaluators: Extensions that run at each validation.
        has_output (bool): Whether the trainer prints and writes files.

    """
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), args.out)
    val_interval = (1, 'iteration') if args.test else (100000, 'iteration')
    for evaluator in evaluators:
        trainer.extend(evaluator, trigger=val_interval)
    if has_output:
        _add_output(args, trainer, model, val_interval)
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    return trainer


def _add_output(args, trainer, model, val_interval):
    log_interval = (1, 'iteration') if args.test else (1000, 'iteration')
    if model.xp is not chainerx:  # ChainerX records its graphs in C++
        trainer.extend(extensions.DumpGraph('main/loss'))
    # Compressing weights takes long and saves little space.
    writer = extensions.snapshot_writers.SimpleWriter(compression=False)
    trainer.extend(extensions.snapshot(writer=writer), trigger=val_interval)
    trainer.extend(
        extensions.snapshot_object(model, 'model_iter_{.updater.iteration}', writer=writer),
        trigger=val_interval,
    )
    trainer.extend(extensions.LogReport(trigger=log_interval))
    trainer.extend(extensions.observe_lr(), trigger=log_interval)
    trainer.extend(
        extensions.PrintReport(
            [
                'epoch',
                'iteration',
                'main/loss',
                'validation/main/loss',
                'main/accuracy',
                'validation/main/accuracy',
                'lr',
            ]
        ),
        trigger=log_interval,
    )
    trainer.extend(extensions.ProgressBar(update_interval=10))
