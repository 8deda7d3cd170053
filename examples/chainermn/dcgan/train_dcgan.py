#!/usr/bin/env python
"""Trains a deep convolutional generative adversarial network, each process on its images."""

import os
import sys

import chainer
import chainermn
from chainer import training

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path.insert(0, os.path.join(sys.path[0], '../dcgan'))

import _processes
import train_dcgan  # that for one process


def main():
    args = _processes.parse_args(train_dcgan.make_parser())

    comm, device = _processes.start(args)
    images = train_dcgan.get_images(args.dataset) if comm.rank == 0 else None
    images = chainermn.scatter_dataset(images, comm, shuffle=True)

    models = train_dcgan.make_models(args)
    updater = train_dcgan.make_updater(
        args,
        images,
        models,
        device,
        lambda optimizer: chainermn.create_multi_node_optimizer(optimizer, comm),
    )
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    for model in models:
        # The batch statistics of the files that rank 0 writes are those of all processes.
        trainer.extend(
            chainermn.extensions.AllreducePersistent(model, comm),
            name=f'AllreducePersistent {type(model).__name__}',
            trigger=(args.snapshot_interval, 'iteration'),
        )
    if comm.rank == 0:
        train_dcgan.add_output(args, trainer, *models)
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()


if __name__ == '__main__':
    main()
