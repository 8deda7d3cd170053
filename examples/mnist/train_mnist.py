#!/usr/bin/env python
"""Trains a multi-layer perceptron on images of handwritten digits."""

from _common import MLP, get_datasets, get_device, make_parser, print_settings, set_seed

import chainer
import chainer.links as L
import chainerx
from chainer import training
from chainer.training import extensions


def main():
    parser = make_parser()
    parser.add_argument(
        '--frequency',
        '-f',
        type=int,
        default=-1,
        help='Frequency of taking a snapshot, in epochs (-1: at the end only)',
    )
    parser.add_argument('--resume', '-r', type=str, help='Resume the training from a snapshot')
    parser.add_argument(
        '--autoload',
        action='store_true',
        help='Resume the training from the latest snapshot in the out folder',
    )
    parser.add_argument(
        '--noplot', dest='plot', action='store_false', help='Disable PlotReport extension'
    )
    parser.add_argument(
        '--profile',
        action='store_true',
        help='Print where the time of iterations 11 to 30 goes, and write a trace of them',
    )
    args = parser.parse_args()

    device = get_device(args.device)
    print_settings(args, [device])
    set_seed(args.seed)

    # The classifier reports loss and accuracy at every iteration; the extensions below use
    # them.
    model = L.Classifier(MLP(args.unit, 10))
    model.to_device(device)
    device.use()

    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    train, test = get_datasets(args.dataset)
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)

    trainer.extend(extensions.Evaluator(test_iter, model, device=device), call_before_training=True)
    # The graph of the loss at the first iteration, for Graphviz; ChainerX keeps its graph in C++
    if device.xp is not chainerx:
        trainer.extend(extensions.DumpGraph('main/loss'))
    frequency = args.epoch if args.frequency == -1 else max(1, args.frequency)
    trainer.extend(extensions.snapshot(autoload=args.autoload), trigger=(frequency, 'epoch'))
    trainer.extend(extensions.LogReport(), call_before_training=True)
    if args.plot and extensions.PlotReport.available():
        for value in ('loss', 'accuracy'):
            trainer.extend(
                extensions.PlotReport(
                    ['main/' + value, 'validation/main/' + value], 'epoch', filename=value + '.png'
                ),
                call_before_training=True,
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
        ),
        call_before_training=True,
    )
    trainer.extend(extensions.ProgressBar(update_interval=10))
    if args.profile:
        trainer.extend(extensions.ProfileReport())

    if args.resume is not None:
        chainer.serializers.load_npz(args.resume, trainer)

    trainer.run()


if __name__ == '__main__':
    main()
