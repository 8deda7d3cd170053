#!/usr/bin/env python
"""Trains a multi-layer perceptron on digits whose two halves are in two processes."""

import argparse
import os
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
from chainer import training
from chainer.training import extensions

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

import _processes


class FirstHalf(chainermn.MultiNodeChainList):
    """Half of the model on rank 0, which has the images and gets the predictions back."""

    def __init__(self, comm, n):
        super().__init__(comm)
        self.add_link(chainer.Sequential(L.Linear(64, n), F.relu), rank_out=1)
        self.add_link(L.Linear(n, 10), rank_in=1)


class SecondHalf(chainermn.MultiNodeChainList):
    """Half of the model on rank 1."""

    def __init__(self, comm, n):
        super().__init__(comm)
        self.add_link(chainer.Sequential(L.Linear(n, n), F.relu), rank_in=0, rank_out=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--batchsize', '-b', type=int, default=100, help='Number of examples')
    parser.add_argument('--epoch', '-e', type=int, default=20, help='Number of epochs')
    parser.add_argument('--unit', '-u', type=int, default=100, help='Number of units')
    parser.add_argument('--out', '-o', default='result', help='Folder of the results')
    args = _processes.parse_args(parser)

    comm, device = _processes.start(args)
    if comm.size != 2:
        raise ValueError(f'this model needs 2 processes, but there are {comm.size}')

    train, _ = chainer.datasets.get_digits()
    if comm.rank == 0:
        model = L.Classifier(FirstHalf(comm, args.unit))
    else:
        model = SecondHalf(comm, args.unit)
        # Rank 1 has no data, but as many batches.
        train = chainermn.datasets.create_empty_dataset(train)
    model.to_device(device)
    # Each process has its own parameters, so nothing is averaged.
    optimizer = chainer.optimizers.Adam().setup(model)
    iterator = chainer.iterators.SerialIterator(train, args.batchsize)
    updater = training.updaters.StandardUpdater(iterator, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    if comm.rank == 0:
        trainer.extend(extensions.LogReport())
        trainer.extend(extensions.PrintReport(['epoch', 'main/loss', 'main/accuracy']))
    trainer.run()


if __name__ == '__main__':
    main()
