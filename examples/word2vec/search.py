#!/usr/bin/env python
"""Prints the words with the vectors nearest to that of each input word."""

import argparse
import sys

import numpy as np


def read_model(path):
    """Returns the words and their vectors, normalized to length 1."""
    with open(path, encoding='utf-8') as f:
        n_vocab, n_units = map(int, f.readline().split())
        rows = [f.readline().split() for _ in range(n_vocab)]
    vectors = np.array([row[1:] for row in rows], np.float32).reshape(n_vocab, n_units)
    return [row[0] for row in rows], vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def main():
    parser = argparse.ArgumentParser(description='Chainer example: search for similar words')
    parser.add_argument(
        '--model',
        '-m',
        default='result/word2vec.model',
        help='File written by train_word2vec.py',
    )
    parser.add_argument('--results', '-n', type=int, default=5, help='Number of words to print')
    args = parser.parse_args()

    words, vectors = read_model(args.model)
    index = {word: i for i, word in enumerate(words)}
    for line in sys.stdin:
        query = line.strip()
        if query not in index:
            print(f'"{query}" is not found')
            continue
        similarity = vectors @ vectors[index[query]]
        print(f'query: {query}')
        for i in np.argsort(-similarity)[1 : args.results + 1]:
            print(f'{words[i]}: {similarity[i]}')


if __name__ == '__main__':
    main()
