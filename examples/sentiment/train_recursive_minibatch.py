#!/usr/bin/env python
"""Trains a recursive network on many trees at once.

It computes all nodes of the same height in a batch together, to make few calls with large arrays
instead of many with small ones.
"""

import numpy as np
from _common import RecursiveNet, make_parser
from trees import get_datasets, words_of

import chainer
import chainer.functions as F
from chainer import training
from chainer.training import extensions


def linearize(tree, vocab):
    """Lists the nodes of a tree, children before parents, as an array ``(nodes, 5)``.

    Columns are label, word, positions of the left and the right child, height; -1 for none.
    """
    rows = []

    def visit(tree):
        if len(tree) == 2:
            rows.append([tree[0], vocab[tree[1]], -1, -1, 0])
        else:
            left, right = visit(tree[1]), visit(tree[2])
            height = 1 + max(rows[left][4], rows[right][4])
            rows.append([tree[0], -1, left, right, height])
        return len(rows) - 1

    visit(tree)
    return np.array(rows, np.int32)


def convert(batch, device):
    """Joins the trees of a batch into one table, sorted by height."""
    offsets = np.cumsum([0] + [len(rows) for rows in batch[:-1]])
    tables = [rows.copy() for rows in batch]
    for offset, rows in zip(offsets, tables):
        rows[:, 2:4][rows[:, 2:4] >= 0] += offset
    is_root = np.zeros(sum(map(len, tables)), bool)
    is_root[np.cumsum([len(rows) for rows in tables]) - 1] = True
    table = np.concatenate(tables)
    order = np.argsort(table[:, 4], kind='stable')
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    table, is_root = table[order], is_root[order]
    table[:, 2:4] = np.where(table[:, 2:4] >= 0, position[table[:, 2:4]], -1)
    return table, is_root


class RecursiveClassifier(chainer.Chain):
    """Computes the loss of all nodes from the table of a batch."""

    def __init__(self, net):
        super().__init__()
        with self.init_scope():
            self.net = net

    def forward(self, table, is_root):
        send = self.device.send
        height = table[:, 4]
        vectors = self.net.leaf(send(table[height == 0, 1]))
        for level in range(1, height.max() + 1):
            children = table[height == level, 2:4]
            new = self.net.node(
                F.embed_id(send(children[:, 0]), vectors), F.embed_id(send(children[:, 1]), vectors)
            )
            vectors = F.concat([vectors, new], axis=0)
        y = self.net.label(vectors)
        t = send(table[:, 0])
        loss = F.softmax_cross_entropy(y, t)
        roots = send(np.where(is_root, table[:, 0], -1).astype(np.int32))
        chainer.report(
            {
                'loss': loss,
                'accuracy': F.accuracy(y, t),
                'root_accuracy': F.accuracy(y, roots, ignore_label=-1),
            },
            self,
        )
        return loss


def main():
    args = make_parser(epoch=100).parse_args()
    device = chainer.get_device(args.device)
    device.use()
    parts = get_datasets(args.test)
    vocab = {}
    for part in parts:
        for tree in part:
            for word in words_of(tree):
                vocab.setdefault(word, len(vocab))
    train, develop, _ = [[linearize(tree, vocab) for tree in part] for part in parts]
    print(f'Device: {device}')
    print(f'# of training trees: {len(train)}, vocabulary: {len(vocab)}')

    model = RecursiveClassifier(RecursiveNet(len(vocab), args.unit, args.label))
    model.to_device(device)
    optimizer = chainer.optimizers.AdaGrad(lr=0.1)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.0001))

    train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
    test_iter = chainer.iterators.SerialIterator(
        develop, args.batchsize, repeat=False, shuffle=False
    )
    # The tables stay on the CPU because they control the computation.
    converter = chainer.dataset.converter()(convert)
    updater = training.updaters.StandardUpdater(
        train_iter, optimizer, converter=converter, device=device
    )
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    trainer.extend(
        extensions.Evaluator(test_iter, model, converter=converter, device=device),
        trigger=(args.epocheval, 'epoch'),
    )
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.snapshot_object(model.net, 'sentiment.model'), trigger=(args.epoch, 'epoch')
    )
    trainer.extend(
        extensions.PrintReport(
            [
                'epoch',
                'main/loss',
                'validation/main/loss',
                'main/accuracy',
                'validation/main/accuracy',
                'validation/main/root_accuracy',
                'elapsed_time',
            ]
        )
    )
    trainer.run()


if __name__ == '__main__':
    main()
