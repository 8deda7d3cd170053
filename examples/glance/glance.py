#!/usr/bin/env python
"""Chainer at a glance: from a table of data to a trained model that predicts."""

import argparse
import csv

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import training
from chainer.training import extensions


def make_rows(n_rows):
    """Generates mushrooms that are poisonous by a synthetic rule with few exceptions."""
    random = np.random.RandomState(0)
    features = [
        random.choice(list(values), n_rows)
        for values in ('bcfkx', 'fgsy', 'bcegnrw', 'acflmnps', 'bn', 'cdgprsuw')
    ]
    poisonous = np.isin(features[3], list('cfmps')) | ((features[2] == 'r') & (features[4] == 'n'))
    poisonous ^= random.rand(n_rows) < 0.01
    return np.stack([np.where(poisonous, 'p', 'e'), *features], axis=1)


def read_rows(path):
    """Reads a file of comma-separated values, without its first line."""
    with open(path, newline='') as f:
        return np.array(list(csv.reader(f))[1:])


class MLP(chainer.Chain):
    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            # The links infer their input sizes at the first call.
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_units)
            self.l3 = L.Linear(None, n_out)

    def forward(self, x):
        h1 = F.relu(self.l1(x))
        h2 = F.relu(self.l2(h1))
        return self.l3(h2)


def main():
    parser = argparse.ArgumentParser(description='Chainer at a glance')
    parser.add_argument(
        '--data',
        help='File of comma-separated letters with a head line, the '
        'label (two kinds) first; e.g. mushrooms.csv. Made up if not given',
    )
    parser.add_argument('--batchsize', '-b', type=int, default=100)
    parser.add_argument('--epoch', '-e', type=int, default=50)
    parser.add_argument('--unit', '-u', type=int, default=44)
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

    # Data: each letter becomes a number
    rows = make_rows(2000) if args.data is None else read_rows(args.data)
    columns = [np.unique(column, return_inverse=True)[1] for column in rows.T]
    labels = columns[0].astype(np.int32)[:, None]
    features = np.stack(columns[1:], axis=1).astype(np.float32)

    dataset = chainer.datasets.TupleDataset(features, labels)
    train, test = chainer.datasets.split_dataset_random(dataset, len(dataset) * 7 // 10, seed=0)
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    # Model with loss and accuracy, and optimizer
    model = L.Classifier(
        MLP(args.unit, 1), lossfun=F.sigmoid_cross_entropy, accfun=F.binary_accuracy
    )
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)

    # Training loop
    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    trainer.extend(extensions.Evaluator(test_iter, model, device=device))
    if device.xp is not chainerx:  # ChainerX records its graphs in C++
        trainer.extend(extensions.DumpGraph('main/loss'))
    trainer.extend(extensions.snapshot(), trigger=(args.epoch, 'epoch'))
    trainer.extend(extensions.LogReport())
    if extensions.PlotReport.available():
        trainer.extend(
            extensions.PlotReport(
                ['main/accuracy', 'validation/main/accuracy'], 'epoch', filename='accuracy.png'
            )
        )
    trainer.extend(
        extensions.PrintReport(
            [
                'epoch',
                'main/loss',
                'validation/main/loss',
                'main/accuracy',
                'validation/main/accuracy',
                'elapsed_time',
            ]
        )
    )
    trainer.run()

    # Prediction
    x, t = test[np.random.randint(len(test))]
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        y = model.predictor(device.send(x[None]))
    kinds = np.unique(rows[:, 0])
    print('Predicted', kinds[int(float(y.array[0, 0]) >= 0)], 'actual', kinds[t[0]])


if __name__ == '__main__':
    main()
