#!/usr/bin/env python
"""Trains a multi-layer perceptron on digits, each process on its part of the data."""

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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--batchsize', '-b', type=int, default=50, help='Examples per process')
    parser.add_argument('--epoch', '-e', type=int, default=20, help='Number of epochs')
    parser.add_argument('--unit', '-u', type=int, default=100, help='Number of units')
    parser.add_argument('--out', '-o', default='result', help='Folder of the results')
    parser.add_argument('--dtype', help='Dtype in which gradients travel, such as bfloat16')
    parser.add_argument('--sharded', action='store_true', help='Divide the optimizer state')
    args = _processes.parse_args(parser)

    comm, device = _processes.start(args, allreduce_grad_dtype=args.dtype)
    n = args.unit
    model = L.Classifier(
        chainer.Sequential(L.Linear(64, n), F.relu, L.Linear(n, n), F.relu, L.Linear(n, 10))
    )
    model.to_device(device)
    optimizer = chainermn.create_multi_node_optimizer(
        chainer.optimizers.Adam(), comm, sharded=args.sharded
    ).setup(model)

    # Rank 0 reads the data and sends each process its part.
    train, test = chainer.datasets.get_digits() if comm.rank == 0 else (None, None)
    train = chainermn.scatter_dataset(train, comm, shuffle=True, seed=0)
    test = chainermn.scatter_dataset(test, comm, force_equal_length=False)
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    evaluator = extensions.Evaluator(test_iter, model, device=device)
    trainer.extend(chainermn.create_multi_node_evaluator(evaluator, comm))
    checkpointer = chainermn.create_multi_node_checkpointer('mnist', comm)
    trainer.extend(checkpointer, trigger=(5, 'epoch'))

    if comm.rank == 0:  # one report is enough
        trainer.extend(extensions.LogReport())
        trainer.extend(
            extensions.PrintReport(
                ['epoch', 'main/loss', 'validation/main/loss', 'validation/main/accuracy']
            )
        )

    checkpointer.maybe_load(trainer)
    trainer.run()


if __name__ == '__main__':
    main()
