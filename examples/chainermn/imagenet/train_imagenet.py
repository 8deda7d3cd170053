#!/usr/bin/env python
"""Trains a large convolutional network, each process on its part of the images."""

import multiprocessing
import os
import sys

import chainer
import chainermn
from chainer import training
from chainer.training import extensions

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path.insert(0, os.path.join(sys.path[0], '../imagenet'))

import _common  # of the example for one process
import _processes


def main():
    args = _processes.parse_args(_common.make_parser())

    # The drivers of some network cards do not allow a fork once MPI runs.
    multiprocessing.set_start_method('forkserver')
    chainer.config.dtype = _common.DTYPES[args.dtype]
    comm, device = _processes.start(args)
    model = _common.make_model(args)
    model.to_device(device)
    optimizer = chainermn.create_multi_node_optimizer(
        chainer.optimizers.MomentumSGD(lr=args.learnrate, momentum=0.9), comm
    ).setup(model)

    # Rank 0 reads the lists and sends each process its part; each reads its images.
    train, val = (
        _common.make_datasets(args, args.insize or model.insize) if comm.rank == 0 else (None, None)
    )
    train = chainermn.scatter_dataset(train, comm, shuffle=True)
    val = chainermn.scatter_dataset(val, comm, force_equal_length=False)
    train_iter, val_iter = _common.make_iterators(args, train, val)

    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    evaluator = extensions.Evaluator(val_iter, model, device=device)
    _common.make_trainer(
        args,
        updater,
        model,
        # Processes have batch statistics of their own, which must agree first.
        chainermn.extensions.AllreducePersistent(model, comm),
        chainermn.create_multi_node_evaluator(evaluator, comm),
        has_output=comm.rank == 0,
    ).run()


if __name__ == '__main__':
    main()
