#!/usr/bin/env python
"""Trains two LSTMs to translate sentences, each process on its part of the sentences."""

import contextlib
import os
import sys

import chainer
import chainermn
from chainer import training

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path.insert(0, os.path.join(sys.path[0], '../seq2seq'))

import _processes
import seq2seq  # that for one process


class MultiNodeBleu(seq2seq.CalculateBleu):
    """Reports the BLEU score of the translations of all processes."""

    def __init__(self, comm, *args):
        super().__init__(*args)
        self.comm = comm

    def translate(self):
        parts = self.comm.allgather_obj(super().translate())
        return [sum(sentences, []) for sentences in zip(*parts)]


def part_of(pairs, comm, **options):
    """Part of a dataset for this process; all have read the same files."""
    return chainer.datasets.SubDataset(pairs, *chainermn.scatter_index(len(pairs), comm, **options))


def train(args, files):
    comm, device = _processes.start(args)
    ids = [seq2seq.load_vocabulary(path) for path in (args.SOURCE_VOCAB, args.TARGET_VOCAB)]
    pairs = seq2seq.load_pairs(args, files, *ids, args.SOURCE, args.TARGET)

    model = seq2seq.Seq2seq(args.layer, *map(len, ids), args.unit)
    model.to_device(device)
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm).setup(model)
    updater = seq2seq.make_updater(args, part_of(pairs, comm), optimizer, device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    if args.validation_source and args.validation_target:
        test = seq2seq.load_pairs(args, files, *ids, args.validation_source, args.validation_target)
        trainer.extend(
            MultiNodeBleu(comm, model, part_of(test, comm, force_equal_length=False), device),
            trigger=(args.validation_interval, 'iteration'),
        )
    if comm.rank == 0:
        seq2seq.add_output(args, trainer)
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()
    if args.save and comm.rank == 0:
        chainer.serializers.save_npz(args.save, model)


def main():
    args = _processes.parse_args(seq2seq.make_parser())
    with contextlib.ExitStack() as files:
        train(args, files)


if __name__ == '__main__':
    main()
