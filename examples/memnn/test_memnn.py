#!/usr/bin/env python
"""Prints stories, questions, and the answers of a trained memory network."""

import argparse
import collections
import json
import os

import babi
import memnn

import chainer


def main():
    parser = argparse.ArgumentParser(description='Chainer example: end-to-end memory networks')
    parser.add_argument('MODEL', help='Directory of the model saved by train_memnn.py')
    parser.add_argument('DATA', help='Path to test data in bAbI dataset')
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

    device = chainer.get_device(args.device)
    device.use()
    with open(os.path.join(args.MODEL, 'setup.json'), encoding='utf-8') as f:
        setup = json.load(f)
    words = {i: word for word, i in setup['vocab'].items()}
    network = memnn.MemNN(
        setup['unit'], len(words), setup['max_memory'], setup['hop'], setup['sentence_repr']
    )
    chainer.serializers.load_npz(os.path.join(args.MODEL, 'model.npz'), network)
    network.to_device(device)

    vocab = collections.defaultdict(int, setup['vocab'])  # 0 for unknown words
    stories = babi.read_stories(vocab, args.DATA)
    examples = babi.make_arrays(stories, setup['max_memory'], setup['sentence_length'])
    n_correct = 0
    for memory, question, answer in examples:
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            y = network(device.send(memory[None]), device.send(question[None]))
        prediction = int(y.array.argmax())
        n_correct += prediction == answer
        for sentence in memory[::-1]:
            if sentence.any():
                print(' '.join(words[i] for i in sentence.tolist() if i))
        print(
            '{}? {} (correct: {})\n'.format(
                ' '.join(words[i] for i in question.tolist() if i),
                words[prediction],
                words[int(answer)],
            )
        )
    print(f'accuracy: {n_correct / len(examples):.4f}')


if __name__ == '__main__':
    main()
