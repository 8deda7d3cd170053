#!/usr/bin/env python
"""Saves a model and an optimizer to files, and loads them completely and partially."""

import argparse
import os

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L


class MLP(chainer.Chain):
    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(n_units, n_out)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


def train(model, optimizer, dataset, device, n_iterations):
    """Updates a model with the same batches in every call."""
    for i in range(n_iterations):
        x, t = chainer.dataset.concat_examples(dataset[i * 50 : (i + 1) * 50], device)
        optimizer.update(model, x, t)
    return float(model.loss.array)


def main():
    parser = argparse.ArgumentParser(description='Chainer example: serialization')
    parser.add_argument(
        '--format',
        choices=('npz', 'hdf5'),
        default='npz',
        help='Format of the files; hdf5 needs h5py',
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to save to')
    parser.add_argument('--unit', '-u', type=int, default=50, help='Number of hidden units')
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    args = parser.parse_args()

    device = chainer.get_device(args.device)
    device.use()
    save = getattr(chainer.serializers, 'save_' + args.format)
    load = getattr(chainer.serializers, 'load_' + args.format)
    dataset, _ = chainer.datasets.get_digits()
    os.makedirs(args.out, exist_ok=True)
    model_path = os.path.join(args.out, 'model.' + args.format)
    state_path = os.path.join(args.out, 'state.' + args.format)

    def make():
        model = L.Classifier(MLP(args.unit, 10))
        model.to_device(device)
        return model, chainer.optimizers.Adam().setup(model)

    # The model file contains the parameters. The optimizer also has state, for Adam the moments
    # of the gradients. Resuming exactly needs both.
    model, optimizer = make()
    train(model, optimizer, dataset, device, 10)
    save(model_path, model)
    save(state_path, optimizer)
    loss = train(model, optimizer, dataset, device, 10)

    other, other_optimizer = make()
    load(model_path, other)
    load(state_path, other_optimizer)
    other_loss = train(other, other_optimizer, dataset, device, 10)
    print(f'loss after saving and going on:  {loss:.6f}')
    print(f'loss after loading and going on: {other_loss:.6f}')

    if args.format == 'npz':
        # Load a part of a file: the predictor without the classifier
        predictor = MLP(args.unit, 10)
        load(model_path, predictor, path='predictor/')
        # For a different number of classes, load all but the last layer
        small = MLP(args.unit, 2)
        load(
            model_path,
            small,
            path='predictor/',
            ignore_names=lambda name: name.startswith('predictor/l2/'),
        )
        same = np.array_equal(small.l1.W.array, predictor.l1.W.array)
        print(f'first layers are equal: {same}')


if __name__ == '__main__':
    main()
