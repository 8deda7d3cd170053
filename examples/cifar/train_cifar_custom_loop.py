#!/usr/bin/env python
"""Trains a convolutional network on small colour images with a custom training loop."""

import os

import _common

import chainer
from chainer.dataset import concat_examples


def main():
    parser = _common.make_parser()
    parser.add_argument(
        '--resume', '-r', help='Folder of model and optimizer files to continue from'
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
    if args.resume:
        chainer.serializers.load_npz(os.path.join(args.resume, 'cifar.model'), model)
        chainer.serializers.load_npz(os.path.join(args.resume, 'cifar.state'), optimizer)

    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    summary = chainer.DictSummary()
    while train_iter.epoch < args.epoch:
        batch = train_iter.next()
        optimizer.update(model, *concat_examples(batch, device))
        summary.add(results(model, batch))
        if not train_iter.is_new_epoch:
            continue

        print(f'epoch: {train_iter.epoch}')
        print_means('train', summary)
        summary = chainer.DictSummary()

        test_summary = chainer.DictSummary()
        test_iter.reset()
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            for batch in test_iter:
                model(*concat_examples(batch, device))
                test_summary.add(results(model, batch))
        print_means('test', test_summary)

        if train_iter.epoch % 25 == 0:
            optimizer.lr *= 0.5
            print(f'Reducing learning rate to: {optimizer.lr}')

    os.makedirs(args.out, exist_ok=True)
    chainer.serializers.save_npz(os.path.join(args.out, 'cifar.model'), model)
    chainer.serializers.save_npz(os.path.join(args.out, 'cifar.state'), optimizer)


def results(model, batch):
    """Returns the loss and the accuracy of the last call, each with the batch size as weight."""
    return {
        name: (float(value.array), len(batch))
        for name, value in (('loss', model.loss), ('accuracy', model.accuracy))
    }


def print_means(name, summary):
    means = summary.compute_mean()
    print(
        '{} mean loss: {:.6f}, accuracy: {:.6f}'.format(
            name, float(means['loss']), float(means['accuracy'])
        )
    )


if __name__ == '__main__':
    main()
