#!/usr/bin/env python
"""A language model of characters in 8 and 4 bits: what it loses of the perplexity."""

import argparse

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import quantization


class CharacterModel(chainer.Chain):
    """Two LSTM layers, which predict the next character."""

    def __init__(self, n_characters, n_units):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_characters, n_units)
            self.lstm1 = L.LSTM(n_units, n_units)
            self.lstm2 = L.LSTM(n_units, n_units)
            self.out = L.Linear(n_units, n_characters)

    def reset_state(self):
        self.lstm1.reset_state()
        self.lstm2.reset_state()

    def forward(self, xs):
        """Scores of the characters after those of a list, which continue from call to call."""
        return F.concat([self.out(self.lstm2(self.lstm1(self.embed(x)))) for x in xs], axis=0)


def streams(ids, n_streams, device):
    """Parts of a text side by side, and the next characters: one row for each step."""
    length = (len(ids) - 1) // n_streams
    parts = [ids[i : i + length * n_streams].reshape(n_streams, length).T for i in (0, 1)]
    return [device.send(np.ascontiguousarray(part)) for part in parts]


def windows(xs, ts, length):
    return [(xs[i : i + length], ts[i : i + length]) for i in range(0, len(xs), length)]


def train(model, xs, ts, epoch, length=35):
    optimizer = chainer.optimizers.Adam(0.004).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5))
    for _ in range(epoch):
        model.reset_state()
        for x, t in windows(xs, ts, length):
            loss = F.softmax_cross_entropy(model(x), t.reshape(-1))
            model.cleargrads()
            loss.backward()
            loss.unchain_backward()
            optimizer.update()


def perplexity(model, xs, ts):
    model.reset_state()
    total = 0
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        for x, t in windows(xs, ts, 35):
            total += float(F.softmax_cross_entropy(model(x), t.reshape(-1)).array) * len(x)
    return np.exp(total / len(xs))


def main():
    parser = argparse.ArgumentParser(description='Chainer example: quantization of text models')
    parser.add_argument('--batchsize', '-b', type=int, default=32)
    parser.add_argument('--epoch', '-e', type=int, default=5)
    parser.add_argument('--unit', '-u', type=int, default=96, help='Number of LSTM units')
    parser.add_argument(
        '--text', '-t', default=argparse.__file__, help='Text file; a module of Python if not given'
    )
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    args = parser.parse_args()
    device = chainer.get_device(args.device)
    device.use()
    np.random.seed(args.seed)

    with open(args.text, encoding='utf-8') as f:
        text = f.read()
    numbers = {character: i for i, character in enumerate(dict.fromkeys(text))}
    ids = np.array([numbers[character] for character in text], np.int32)
    n_train = len(ids) * 9 // 10
    xs, ts = streams(ids[:n_train], args.batchsize, device)
    held_out = streams(ids[n_train:], args.batchsize, device)

    model = CharacterModel(len(numbers), args.unit).to_device(device)
    train(model, xs, ts, args.epoch)
    model.reset_state()
    ranges = quantization.calibrate(model, [xs[:200]])
    models = {
        'float32': model,
        'int8': quantization.quantize(model, ranges),
        'int8 weights': quantization.quantize(model),
        'int4 weights': quantization.quantize(model, bits=4),
    }
    first = None
    for name, each in models.items():
        value = perplexity(each, *held_out)
        first = first or value
        print(f'{name:12} perplexity {value:8.4f} ({100 * (value / first - 1):+.2f} %)')


if __name__ == '__main__':
    main()
