#!/usr/bin/env python
"""Trains a multi-layer perceptron with a custom training loop, without Trainer."""

import os

from _common import MLP, get_datasets, get_device, make_parser, print_settings, set_seed

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.dataset import concat_examples


def main():
    parser = make_parser()
    parser.add_argument(
        '--resume', '-r', type=str, help='Folder of model and optimizer files to continue from'
    )
    args = parser.parse_args()

    device = get_device(args.device)
    print_settings(args, [device])
    set_seed(args.seed)

    model = L.Classifier(MLP(args.unit, 10))
    model.to_device(device)
    device.use()
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    if args.resume is not None:
        chainer.serializers.load_npz(os.path.join(args.resume, 'mlp.model'), model)
        chainer.serializers.load_npz(os.path.join(args.resume, 'mlp.state'), optimizer)

    train, test = get_datasets(args.dataset)
    test_count = len(test)
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    train_count = sum_accuracy = sum_loss = 0
    while train_iter.epoch < args.epoch:
        batch = train_iter.next()
        x, t = concat_examples(batch, device)
        optimizer.update(model, x, t)
        train_count += len(t)
        sum_loss += float(model.loss.array) * len(t)
        sum_accuracy += float(model.accuracy.array) * len(t)

        if train_iter.is_new_epoch:
            print(f'epoch: {train_iter.epoch}')
            print(
                f'train mean loss: {sum_loss / train_count}, accuracy: {sum_accuracy / train_count}'
            )
            train_count = sum_accuracy = sum_loss = 0
            # Evaluation disables dropout and similar behaviour, and needs no graphs.
            test_iter.reset()
            with (
                chainer.using_config('train', False),
                chainer.using_config('enable_backprop', False),
            ):
                for batch in test_iter:
                    x, t = concat_examples(batch, device)
                    y = model.predictor(x)
                    sum_loss += float(F.softmax_cross_entropy(y, t).array) * len(t)
                    sum_accuracy += float(F.accuracy(y, t).array) * len(t)
            print(
                f'test mean  loss: {sum_loss / test_count}, accuracy: {sum_accuracy / test_count}'
            )
            sum_accuracy = sum_loss = 0

    os.makedirs(args.out, exist_ok=True)
    print('save the model')
    chainer.serializers.save_npz(os.path.join(args.out, 'mlp.model'), model)
    print('save the optimizer')
    chainer.serializers.save_npz(os.path.join(args.out, 'mlp.state'), optimizer)


if __name__ == '__main__':
    main()
