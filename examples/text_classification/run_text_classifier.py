#!/usr/bin/env python
"""Classifies each line of the standard input with a trained model."""

import argparse
import json
import sys

import nets
import text_datasets

import chainer


def main():
    parser = argparse.ArgumentParser(description='Chainer example: text classification')
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument(
        '--model-setup',
        required=True,
        help='File args.json in the output directory of the training',
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

    device = chainer.get_device(args.device)
    device.use()
    with open(args.model_setup, encoding='utf-8') as f:
        setup = json.load(f)
    with open(setup['vocab_path'], encoding='utf-8') as f:
        vocab = json.load(f)
    model = nets.make_model(setup, len(vocab))
    chainer.serializers.load_npz(setup['model_path'], model)
    model.to_device(device)

    for line in sys.stdin:
        x = text_datasets.transform(line, vocab, setup['char_based'])
        p = model.predict([device.send(x)])[0]
        answer = int(p.argmax())
        print(f'{answer}\t{float(p[answer]):.4f}\t{line.strip()}')


if __name__ == '__main__':
    main()
