#!/usr/bin/env python
"""Trains a multi-layer perceptron on two devices with ParallelUpdater."""

from _common import (
    MLP,
    add_devices,
    get_datasets,
    get_devices,
    make_parser,
    print_settings,
    set_seed,
)

import chainer
import chainer.links as L
import chainerx
from chainer import training
from chainer.training import extensions


def main():
    parser = make_parser(out='result_data_parallel', device=False)
    add_devices(parser)
    parser.add_argument('--resume', '-r', type=str, help='Resume the training from a snapshot')
    args = parser.parse_args()

    devices = get_devices(args)
    print_settings(args, devices)
    set_seed(args.seed)
    devices[0].use()

    model = L.Classifier(MLP(args.unit, 10))
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    train, test = get_datasets(args.dataset)
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    # The first device is the main one: the optimizer updates its model, the evaluator uses it.
    names = ['main'] + [f'device{i}' for i in range(1, len(devices))]
    updater = training.updaters.ParallelUpdater(
        train_iter, optimizer, devices=dict(zip(names, devices))
    )
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)

    trainer.extend(extensions.Evaluator(test_iter, model, device=devices[0]))
    if devices[0].xp is not chainerx:  # ChainerX records its graphs in C++
        trainer.extend(extensions.DumpGraph('main/loss'))
    trainer.extend(extensions.snapshot(), trigger=(args.epoch, 'epoch'))
    trainer.extend(extensions.LogReport())
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
    trainer.extend(extensions.ProgressBar(update_interval=10))

    if args.resume is not None:
        chainer.serializers.load_npz(args.resume, trainer)

    trainer.run()


if __name__ == '__main__':
    main()
