#!/usr/bin/env python
"""Writes sentences of a toy language pair: number words and reversed digits."""

import argparse
import os

import numpy as np

WORDS = 'zero one two three four five six seven eight nine'.split()


def main():
    parser = argparse.ArgumentParser(description='Chainer example: data for seq2seq')
    parser.add_argument('--out', '-o', default='toy', help='Directory to write to')
    parser.add_argument('--size', '-n', type=int, default=2000, help='Number of sentences')
    parser.add_argument(
        '--length', '-l', type=int, default=5, help='Maximum number of words of a sentence'
    )
    args = parser.parse_args()

    random = np.random.RandomState(0)
    os.makedirs(args.out, exist_ok=True)
    for part, size in ('train', args.size), ('validation', max(1, args.size // 20)):
        numbers = [random.randint(0, 10, random.randint(1, args.length + 1)) for _ in range(size)]
        write(args.out, part + '_source.txt', [' '.join(WORDS[i] for i in n) for n in numbers])
        write(args.out, part + '_target.txt', [' '.join(map(str, n[::-1])) for n in numbers])
    write(args.out, 'source_vocab.txt', WORDS)
    write(args.out, 'target_vocab.txt', map(str, range(10)))


def write(folder, name, lines):
    with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
        f.writelines(line + '\n' for line in lines)


if __name__ == '__main__':
    main()
