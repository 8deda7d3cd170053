#!/usr/bin/env python
"""Trains a model with parts on two devices.

The input goes through two networks, one on each device. The first device combines their results.
F.copy moves variables between devices, and their gradients back.
"""

from _common import add_devices, get_datasets, get_devices, make_parser, print_settings, set_seed

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import training
from chainer.training import extensions


class HalfMLP(chainer.Chain):
    """Three layers on one device."""

    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_units)
            self.l3 = L.Linear(None, n_out)

    def forward(self, x):
        h1 = F.relu(self.l1(x))
        h2 = F.relu(self.l2(h1))
        return self.l3(h2)


class ParallelMLP(chainer.Chain):
    """Two networks on two devices, in two stages."""

    def __init__(self, n_units, n_out, device0, device1):
        super().__init__()
        self.device0 = device0
        self.device1 = device1
        with self.init_scope():
            self.first0 = HalfMLP(n_units // 2, n_units)
            self.first1 = HalfMLP(n_units // 2, n_units)
            self.second0 = HalfMLP(n_units // 2, n_out)
            self.second1 = HalfMLP(n_units // 2, n_out)
        for link, device in (
            (self.first0, device0),
            (self.first1, device1),
            (self.second0, device0),
            (self.second1, device1),
        ):
            link.to_device(device)

    def forward(self, x):
        x1 = F.copy(x, self.device1)
        z0 = self.first0(x)
        z1 = self.first1(x1)
        # Both devices receive the sum of both results.
        h0 = z0 + F.copy(z1, self.device0)
        h1 = z1 + F.copy(z0, self.device1)
        y0 = self.second0(F.relu(h0))
        y1 = self.second1(F.relu(h1))
        return y0 + F.copy(y1, self.device0)


def main():
    parser = make_parser(out='result_model_parallel', device=False)
    add_devices(parser, nargs=2)
    parser.add_argument('--resume', '-r', type=str, help='Resume the training from a snapshot')
    args = parser.parse_args()

    devices = get_devices(args)
    print_settings(args, devices)
    set_seed(args.seed)

    model = L.Classifier(ParallelMLP(args.unit, 10, *devices))
    devices[0].use()
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    train, test = get_datasets(args.dataset)
    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)

    # The model must not move, so pass only the device of the batches.
    updater = training.updaters.StandardUpdater(train_iter, optimizer, input_device=devices[0])
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
