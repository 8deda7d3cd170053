#!/usr/bin/env python
"""Trains a recurrent language model with truncated backpropagation and a custom loop."""

import os

import numpy as np
from _common import ParallelSequentialIterator, RNNForLM, get_words, make_parser, print_settings

import chainer
import chainer.links as L
from chainer.dataset import concat_examples


def evaluate(model, words, device):
    """Returns the perplexity of a model on a text."""
    model = model.copy()  # keep the state of the training RNN
    model.predictor.reset_state()
    losses = []
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        for batch in ParallelSequentialIterator(words, 1, repeat=False):
            losses.append(float(model(*concat_examples(batch, device)).array))
    return np.exp(np.mean(losses))


def main():
    args = make_parser().parse_args()

    device = chainer.get_device(args.device)
    device.use()
    train, val, test, vocabulary = get_words(args.test, args.text)
    print_settings(args, device, len(vocabulary))

    model = L.Classifier(RNNForLM(len(vocabulary), args.unit))
    model.compute_accuracy = False
    if args.resume:
        chainer.serializers.load_npz(args.resume, model)
    model.to_device(device)
    optimizer = chainer.optimizers.SGD(lr=1.0)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(args.gradclip))

    train_iter = ParallelSequentialIterator(train, args.batchsize)
    sum_loss = count = 0
    while train_iter.epoch < args.epoch:
        epoch = train_iter.epoch
        loss = 0
        for _ in range(args.bproplen):
            loss += model(*concat_examples(train_iter.next(), device))
        model.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()
        sum_loss += float(loss.array)
        count += args.bproplen

        if train_iter.epoch > epoch:
            print(f'epoch: {train_iter.epoch}')
            print(f'training perplexity: {np.exp(sum_loss / count)}')
            print(f'validation perplexity: {evaluate(model, val, device)}')
            sum_loss = count = 0

    print(f'test perplexity: {evaluate(model, test, device)}')
    os.makedirs(args.out, exist_ok=True)
    chainer.serializers.save_npz(os.path.join(args.out, 'rnnlm.model'), model)
    chainer.serializers.save_npz(os.path.join(args.out, 'rnnlm.state'), optimizer)


if __name__ == '__main__':
    main()
