#!/usr/bin/env python
"""Trains a large convolutional network on lists of image files and labels."""

import _common

import chainer
from chainer import training
from chainer.training import extensions


def main():
    parser = _common.make_parser()
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    group = parser.add_argument_group('deprecated arguments')
    group.add_argument(
        '--gpu',
        '-g',
        dest='device',
        type=int,
        nargs='?',
        const=0,
        help='GPU number (negative value indicates CPU)',
    )
    args = parser.parse_args()

    chainer.config.dtype = _common.DTYPES[args.dtype]
    device = chainer.get_device(args.device)
    device.use()
    print(f'Device: {device}')
    print(f'Dtype: {chainer.config.dtype}')
    print(f'# Minibatch-size: {args.batchsize}')
    print(f'# epoch: {args.epoch}')
    print('')

    model = _common.make_model(args)
    model.to_device(device)
    optimizer = chainer.optimizers.MomentumSGD(lr=args.learnrate, momentum=0.9)
    optimizer.setup(model)
    datasets = _common.make_datasets(args, args.insize or model.insize)
    train_iter, val_iter = _common.make_iterators(args, *datasets)
    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    evaluator = extensions.Evaluator(val_iter, model, device=device)
    _common.make_trainer(args, updater, model, evaluator).run()


if __name__ == '__main__':
    main()
