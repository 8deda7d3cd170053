#!/usr/bin/env python
"""Generates text with a language model trained by train_ptb.py."""

import argparse

import numpy as np
from _common import RNNForLM, get_words

import chainer
import chainer.functions as F
import chainer.links as L


def main():
    parser = argparse.ArgumentParser(description='Chainer example: text generation')
    parser.add_argument('--model', '-m', required=True, help='File of the trained model')
    parser.add_argument('--primetext', '-p', default='', help='First words of the text')
    parser.add_argument('--seed', '-s', type=int, default=123, help='Random seed')
    parser.add_argument(
        '--unit', '-u', type=int, default=650, help='Number of LSTM units in each layer'
    )
    parser.add_argument(
        '--sample',
        type=int,
        default=1,
        help='0: the most probable words; 1: words sampled by probability',
    )
    parser.add_argument('--length', type=int, default=20, help='Number of words to write')
    parser.add_argument('--test', action='store_true', help='The model was trained with --test')
    parser.add_argument('--text', help='Text file that the model was trained on')
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    group = parser.add_argument_group('deprecated arguments')
    group.add_argument(
        '--gpu',
        '-g',
        dest='device',
        type=int,
        nargs='?',
        const=0,
        help='GPU number (negative value indicates CPU)',
    )
    args = parser.parse_args()

    random = np.random.RandomState(args.seed)
    device = chainer.get_device(args.device)
    device.use()
    vocabulary = get_words(args.test, args.text)[-1]
    words = {i: word for word, i in vocabulary.items()}

    model = L.Classifier(RNNForLM(len(vocabulary), args.unit))
    chainer.serializers.load_npz(args.model, model)
    model.to_device(device)
    rnn = model.predictor

    prime = args.primetext.split() or ['<eos>']
    unknown = [word for word in prime if word not in vocabulary]
    if unknown:
        parser.error('not in the vocabulary: ' + ' '.join(unknown))
    text = list(prime)
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        for word in prime:
            y = rnn(device.send(np.array([vocabulary[word]], np.int32)))
        for _ in range(args.length):
            p = chainer.get_device('@numpy').send(F.softmax(y).array)[0].astype(np.float64)
            i = random.choice(len(p), p=p / p.sum()) if args.sample else int(p.argmax())
            text.append(words[i])
            y = rnn(device.send(np.array([i], np.int32)))
    print(' '.join(text).replace('<eos>', '\n'))


if __name__ == '__main__':
    main()
