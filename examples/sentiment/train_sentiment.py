#!/usr/bin/env python
"""Trains a recursive network that follows the tree of each sentence."""

import os
import random

import numpy as np
from _common import RecursiveNet, make_parser
from trees import get_datasets, words_of

import chainer
import chainer.functions as F


def traverse(model, tree, vocab, labels, outputs):
    """Returns the vector of a tree and collects the labels and outputs of all its nodes."""
    if len(tree) == 2:
        v = model.leaf(model.device.send(np.array([vocab[tree[1]]], np.int32)))
    else:
        v = model.node(*[traverse(model, child, vocab, labels, outputs) for child in tree[1:]])
    labels.append(tree[0])
    outputs.append(model.label(v))
    return v


def forward(model, trees, vocab):
    """Returns the loss and the numbers of correct labels of all nodes and of the roots."""
    labels, outputs, roots = [], [], []
    for tree in trees:
        traverse(model, tree, vocab, labels, outputs)
        roots.append(len(labels) - 1)  # the root comes last
    y = F.concat(outputs, axis=0)
    t = model.device.send(np.array(labels, np.int32))
    loss = F.softmax_cross_entropy(y, t)
    right = chainer.get_device('@numpy').send(y.array).argmax(axis=1) == labels
    return loss, right, right[roots]


def evaluate(model, trees, vocab):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        _, right, right_roots = forward(model, trees, vocab)
    print(f' Node accuracy: {100 * right.mean():.2f} %')
    print(f' Root accuracy: {100 * right_roots.mean():.2f} %')


def main():
    args = make_parser().parse_args()
    device = chainer.get_device(args.device)
    device.use()
    train, develop, test = get_datasets(args.test)
    vocab = {}
    for tree in train + develop + test:
        for word in words_of(tree):
            vocab.setdefault(word, len(vocab))
    print(f'Device: {device}')
    print(f'# of training trees: {len(train)}, vocabulary: {len(vocab)}')

    model = RecursiveNet(len(vocab), args.unit, args.label)
    model.to_device(device)
    optimizer = chainer.optimizers.AdaGrad(lr=0.1)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.0001))

    for epoch in range(1, args.epoch + 1):
        random.shuffle(train)
        sum_loss = 0
        for i in range(0, len(train), args.batchsize):
            loss, _, _ = forward(model, train[i : i + args.batchsize], vocab)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            sum_loss += float(loss.array) * len(train[i : i + args.batchsize])
        print(f'epoch: {epoch} loss: {sum_loss / len(train):.4f}')
        if epoch % args.epocheval == 0:
            print('Train data evaluation:')
            evaluate(model, train, vocab)
            print('Develop data evaluation:')
            evaluate(model, develop, vocab)
    print('Test evaluation')
    evaluate(model, test, vocab)
    os.makedirs(args.out, exist_ok=True)
    chainer.serializers.save_npz(os.path.join(args.out, 'sentiment.model'), model)


if __name__ == '__main__':
    main()
