#!/usr/bin/env python
"""Trains a recurrent language model with truncated backpropagation through time and Trainer."""

import os

import numpy as np
from _common import ParallelSequentialIterator, RNNForLM, get_words, make_parser, print_settings

import chainer
import chainer.links as L
from chainer import training
from chainer.training import extensions


class BPTTUpdater(training.updaters.StandardUpdater):
    """Updates the model once for every ``bprop_len`` words."""

    def __init__(self, train_iter, optimizer, bprop_len, device):
        super().__init__(train_iter, optimizer, device=device)
        self.bprop_len = bprop_len

    def update_core(self):
        optimizer = self.get_optimizer('main')
        model = optimizer.target
        train_iter = self.get_iterator('main')
        loss = 0
        for _ in range(self.bprop_len):
            x, t = self.converter(train_iter.next(), self.device)
            loss += model(x, t)
        model.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()


def compute_perplexity(result):
    """Adds the perplexities, the exponentials of the losses, to a log entry."""
    result['perplexity'] = np.exp(result['main/loss'])
    if 'validation/main/loss' in result:
        result['val_perplexity'] = np.exp(result['validation/main/loss'])


def main():
    parser = make_parser()
    parser.add_argument(
        '--model',
        '-m',
        default='model.npz',
        help='File name of the trained model, in the output directory',
    )
    args = parser.parse_args()

    device = chainer.get_device(args.device)
    device.use()
    train, val, test, vocabulary = get_words(args.test, args.text)
    print_settings(args, device, len(vocabulary))

    train_iter = ParallelSequentialIterator(train, args.batchsize)
    val_iter = ParallelSequentialIterator(val, 1, repeat=False)
    test_iter = ParallelSequentialIterator(test, 1, repeat=False)

    rnn = RNNForLM(len(vocabulary), args.unit)
    model = L.Classifier(rnn)
    model.compute_accuracy = False  # only the perplexity matters
    model.to_device(device)
    optimizer = chainer.optimizers.SGD(lr=1.0)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(args.gradclip))

    # The state of the RNN must not leak between training and evaluation.
    eval_model = model.copy()
    eval_rnn = eval_model.predictor
    evaluator = extensions.Evaluator(
        val_iter, eval_model, device=device, eval_hook=lambda _: eval_rnn.reset_state()
    )

    updater = BPTTUpdater(train_iter, optimizer, args.bproplen, device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    interval = 10 if args.test else 500
    trainer.extend(evaluator)
    trainer.extend(
        extensions.LogReport(postprocess=compute_perplexity, trigger=(interval, 'iteration'))
    )
    trainer.extend(
        extensions.PrintReport(['epoch', 'iteration', 'perplexity', 'val_perplexity']),
        trigger=(interval, 'iteration'),
    )
    trainer.extend(extensions.ProgressBar(update_interval=1 if args.test else 10))
    trainer.extend(extensions.snapshot())
    trainer.extend(extensions.snapshot_object(model, 'model_iter_{.updater.iteration}'))
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)

    trainer.run()

    print('test')
    evaluator = extensions.Evaluator(test_iter, eval_model, device=device)
    eval_rnn.reset_state()
    result = evaluator()
    print('test perplexity: {}'.format(np.exp(float(result['main/loss']))))
    chainer.serializers.save_npz(os.path.join(args.out, args.model), model)


if __name__ == '__main__':
    main()
