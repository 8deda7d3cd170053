#!/usr/bin/env python
"""Trains a convolutional network on small colour images."""

import _common

import chainer
from chainer import training
from chainer.training import extensions, triggers


def main():
    parser = _common.make_parser()
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
    parser.add_argument(
        '--early-stopping',
        action='store_true',
        help='Stop when the test loss stops decreasing',
    )
    args = parser.parse_args()

    device = chainer.get_device(args.device)
    _common.print_settings(args, device)
    device.use()

    train, test, class_labels = _common.get_datasets(args.dataset, args.test)
    model = _common.make_model(args.model, class_labels, args.unit)
    model.to_device(device)

    optimizer = chainer.optimizers.MomentumSGD(args.learnrate)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(5e-4))

    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    stop_trigger = (args.epoch, 'epoch')
    if args.early_stopping:
        stop_trigger = triggers.EarlyStoppingTrigger(
            monitor='validation/main/loss', verbose=True, max_trigger=stop_trigger
        )

    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, stop_trigger, out=args.out)

    trainer.extend(extensions.Evaluator(test_iter, model, device=device))
    trainer.extend(extensions.ExponentialShift('lr', 0.5), trigger=(25, 'epoch'))
    trainer.extend(extensions.snapshot(filename='snapshot_epoch_{.updater.epoch}'))
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

    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()


if __name__ == '__main__':
    main()
