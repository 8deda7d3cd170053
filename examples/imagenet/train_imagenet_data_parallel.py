#!/usr/bin/env python
"""Trains a large convolutional network on several devices, which share each mini-batch."""

import _common

import chainer
from chainer import training
from chainer.training import extensions


def main():
    parser = _common.make_parser()
    parser.add_argument(
        '--devices',
        '-d',
        nargs='*',
        default=['0', '1', '2', '3'],
        help='Devices, e.g. 0 1 (GPU numbers), native:0 native:1, @numpy @numpy',
    )
    group = parser.add_argument_group('deprecated arguments')
    group.add_argument('--gpus', '-g', dest='devices', type=int, nargs='*', help='GPU numbers')
    args = parser.parse_args()

    chainer.config.dtype = _common.DTYPES[args.dtype]
    devices = [chainer.get_device(spec) for spec in args.devices]
    devices[0].use()
    print('Devices: {}'.format(', '.join(map(str, devices))))
    print(f'# Minibatch-size: {args.batchsize}')
    print(f'# epoch: {args.epoch}')
    print('')

    model = _common.make_model(args)
    # The updater sums the gradients of all devices.
    optimizer = chainer.optimizers.MomentumSGD(lr=args.learnrate / len(devices), momentum=0.9)
    optimizer.setup(model)
    datasets = _common.make_datasets(args, args.insize or model.insize)
    train_iter, val_iter = _common.make_iterators(args, *datasets)
    names = ['main'] + [f'device{i}' for i in range(1, len(devices))]
    updater = training.updaters.ParallelUpdater(
        train_iter, optimizer, devices=dict(zip(names, devices))
    )
    evaluator = extensions.Evaluator(val_iter, model, device=devices[0])
    _common.make_trainer(args, updater, model, evaluator).run()


if __name__ == '__main__':
    main()
