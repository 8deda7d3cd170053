#!/usr/bin/env python
"""Trains a convolutional network of which each process computes a part of the channels."""

import os
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
from chainer import training
from chainer.training import extensions

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path.insert(0, os.path.join(sys.path[0], '../cifar'))

import _common  # of the example for one process
import _processes


class ParallelConvolution2D(L.Convolution2D):
    """Convolution whose output channels the processes divide between them.

    All processes have the same input and get the whole output. Each has all parameters, so a file
    of the model suits any number of processes, but its gradient concerns those of its channels.
    What gets here in backward is the gradient of the sum of the losses of all processes; as these
    are equal, the mean of the gradients over the processes is the gradient of one of them.
    """

    def __init__(self, comm, in_channels, out_channels, *args, **kwargs):
        super().__init__(in_channels, out_channels, *args, **kwargs)
        if out_channels < comm.size:
            raise ValueError(f'{comm.size} processes cannot share {out_channels} channels')
        self._comm = comm
        ends = [out_channels * rank // comm.size for rank in (comm.rank, comm.rank + 1)]
        self._channels = slice(*ends)

    def forward(self, x):
        W, b = self.W[self._channels], self.b[self._channels]
        y = F.convolution_2d(x, W, b, self.stride, self.pad)
        return F.concat(chainermn.functions.allgather(self._comm, y), axis=1)


def make_model(comm, n, class_labels):
    """Makes a network for images of 32x32 pixels, equal in all processes; collective."""

    def block(in_channels, out_channels):
        return [
            ParallelConvolution2D(comm, in_channels, out_channels, 3, pad=1),
            L.BatchNormalization(out_channels),
            F.relu,
            lambda h: F.max_pooling_2d(h, 2),
        ]

    layers = [*block(3, n), *block(n, 2 * n), *block(2 * n, 4 * n)]
    model = L.Classifier(chainer.Sequential(*layers, L.Linear(4 * 4 * 4 * n, class_labels)))
    comm.bcast_data(model)
    return model


def main():
    args = _processes.parse_args(_common.make_parser())

    comm, device = _processes.start(args)
    # All processes see the same batches, which rank 0 draws.
    train, test, class_labels = _common.get_datasets(args.dataset, args.test)
    train_iter, test_iter = [
        chainermn.iterators.create_multi_node_iterator(iterator, comm)
        for iterator in (
            chainer.iterators.SerialIterator(train, args.batchsize),
            chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False),
        )
    ]

    model = make_model(comm, args.unit, class_labels)
    model.to_device(device)
    optimizer = chainermn.create_multi_node_optimizer(
        chainer.optimizers.MomentumSGD(args.learnrate), comm
    ).setup(model)
    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    trainer.extend(extensions.Evaluator(test_iter, model, device=device))
    if comm.rank == 0:
        trainer.extend(extensions.snapshot_object(model, 'model_epoch_{.updater.epoch}'))
        trainer.extend(extensions.LogReport())
        trainer.extend(
            extensions.PrintReport(
                ['epoch', 'main/loss', 'validation/main/loss', 'validation/main/accuracy']
            )
        )
    trainer.run()


if __name__ == '__main__':
    main()
