"""Losses of trainings in several dtypes: ``python benchmarks/precision_losses.py [--seeds N]``.

ResNet-18 learns digits under noise, which is new at each step: the loss stays away from zero, where
its ratios would mean nothing. Trainings of one seed begin alike and see the same batches. Rounding
sends them different ways, as another seed does, so that only means of several seeds tell dtypes
apart. The table has the loss of digits that no training has seen.
"""

import argparse
import os
import sys

import numpy

NOISE = 0.5  # standard deviation; pixels are from 0 to 1
LEARNING_RATE = 0.003
BATCH = 32


def load_digits():
    """Returns images and labels of the training and of the test set, in three channels."""
    import chainer

    pairs = []
    for dataset in chainer.datasets.get_digits(ndim=3):
        images, labels = zip(*[dataset[i] for i in range(len(dataset))])
        pairs.append((numpy.repeat(images, 3, axis=1), numpy.array(labels, 'i')))
    return pairs


def noisy(rng, images):
    return images + NOISE * rng.standard_normal(images.shape).astype('f')


def train(precision, seed, options, digits):
    """Trains with a learning rate that falls as a cosine; returns the loss of the test set."""
    from workloads import WORKLOADS

    import chainer
    import chainer.functions as F

    (images, labels), test = digits
    device = chainer.get_device('native:0')
    rng = numpy.random.default_rng(seed)
    numpy.random.seed(seed)
    with chainer.using_config('dtype', precision):
        model, _ = WORKLOADS['resnet18'].chainer_model()
        model.to_device(device)
        optimizer = chainer.optimizers.MomentumSGD().setup(model)

        @chainer.compile
        def step(x, t):
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()

        for i in range(options.steps):
            optimizer.lr = LEARNING_RATE * (1 + numpy.cos(numpy.pi * i / options.steps)) / 2
            chosen = rng.integers(0, len(images), BATCH)
            step(*device.send((noisy(rng, images[chosen]), labels[chosen])))
        return evaluate(model, device, options.copies, *test)


def evaluate(model, device, copies, images, labels):
    import chainer
    import chainer.functions as F

    rng = numpy.random.default_rng(0)
    losses = []
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        for _ in range(copies):
            x, t = device.send((noisy(rng, images), labels))
            scores = F.cast(model(x), 'float32')  # bfloat16 has losses of three digits
            losses.append(float(F.softmax_cross_entropy(scores, t).array))
    return numpy.mean(losses)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--precisions', default='mixed_bfloat16', help='besides float32')
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--steps', type=int, default=250)
    parser.add_argument('--copies', type=int, default=4, help='of the test set, with new noise')
    parser.add_argument('--threads', type=int, default=1)
    options = parser.parse_args()
    for name in 'OPENBLAS', 'CHAINERX':  # read when the libraries are imported
        os.environ[f'{name}_NUM_THREADS'] = str(options.threads)

    import harness

    harness.print_machine(options.threads)
    precisions = ['float32', *options.precisions.split(',')]
    digits = load_digits()
    losses = numpy.array(
        [
            [train(precision, seed, options, digits) for precision in precisions]
            for seed in range(options.seeds)
        ]
    )
    names = [*map(str, range(options.seeds)), 'mean']
    rows = [
        [name, *(f'{loss:.4f} ({loss / row[0] - 1:+.2%})' for loss in row)]
        for name, row in zip(names, [*losses, losses.mean(axis=0)])
    ]
    harness.print_table(['seed', *precisions], rows)


if __name__ == '__main__':
    sys.exit(main())
