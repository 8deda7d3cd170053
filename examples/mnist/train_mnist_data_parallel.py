#!/usr/bin/env python
"""Trains a multi-layer perceptron on two devices, each computing half of every batch.

ParallelUpdater does the same automatically: see train_mnist_data_parallel_updater.py.
"""

import os

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
from chainer.dataset import concat_examples


def main():
    parser = make_parser(out='result_data_parallel', device=False)
    add_devices(parser)
    parser.add_argument(
        '--resume', '-r', type=str, help='Folder of model and optimizer files to continue from'
    )
    args = parser.parse_args()

    devices = get_devices(args)
    print_settings(args, devices)
    set_seed(args.seed)

    train, test = get_datasets(args.dataset)
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    # The first call initializes the parameters, so that all copies start equal.
    main_model = L.Classifier(MLP(args.unit, 10))
    with chainer.using_config('enable_backprop', False):
        main_model(*concat_examples([train[0]]))
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(main_model)
    if args.resume is not None:
        chainer.serializers.load_npz(os.path.join(args.resume, 'mlp.model'), main_model)
        chainer.serializers.load_npz(os.path.join(args.resume, 'mlp.state'), optimizer)
    models = [main_model] + [main_model.copy(mode='copy') for _ in devices[1:]]
    for model, device in zip(models, devices):
        model.to_device(device)

    while train_iter.epoch < args.epoch:
        batch = train_iter.next()
        for i, (model, device) in enumerate(zip(models, devices)):
            part = batch[i :: len(models)]
            with chainer.using_device(device):
                loss = model(*concat_examples(part, device))
                # Weighted, so that the sum is the mean over the whole batch
                loss = loss * (len(part) / len(batch))
                model.cleargrads()
                loss.backward()
        for model in models[1:]:
            main_model.addgrads(model)
        optimizer.update()
        for model in models[1:]:
            model.copyparams(main_model)

        if train_iter.is_new_epoch:
            summary = chainer.DictSummary()
            test_iter.reset()
            with (
                chainer.using_config('train', False),
                chainer.using_config('enable_backprop', False),
            ):
                for batch in test_iter:
                    main_model(*concat_examples(batch, devices[0]))
                    summary.add(
                        {
                            'loss': (main_model.loss, len(batch)),
                            'accuracy': (main_model.accuracy, len(batch)),
                        }
                    )
            result = summary.compute_mean()
            print(
                'epoch: {}, test loss: {:.6f}, accuracy: {:.6f}'.format(
                    train_iter.epoch, float(result['loss']), float(result['accuracy'])
                )
            )

    os.makedirs(args.out, exist_ok=True)
    chainer.serializers.save_npz(os.path.join(args.out, 'mlp.model'), main_model)
    chainer.serializers.save_npz(os.path.join(args.out, 'mlp.state'), optimizer)


if __name__ == '__main__':
    main()
