#!/usr/bin/env python
"""Splits the sentences of a file into words and writes the most frequent words to a file."""

import argparse
import collections
import re

# Words with inner apostrophes and hyphens, numbers, or single other characters
TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


def main():
    parser = argparse.ArgumentParser(description='Chainer example: preprocessing for seq2seq')
    parser.add_argument('INPUT', help='sentence list')
    parser.add_argument('OUTPUT', help='list of split sentences')
    parser.add_argument('--vocab-file', help='vocabulary file to write')
    parser.add_argument(
        '--vocab-size', type=int, default=40000, help='number of words of the vocabulary'
    )
    args = parser.parse_args()

    counts = collections.Counter()
    with (
        open(args.INPUT, encoding='utf-8') as source,
        open(args.OUTPUT, 'w', encoding='utf-8') as target,
    ):
        for line in source:
            words = TOKEN.findall(line)
            counts.update(words)
            target.write(' '.join(words) + '\n')
    if args.vocab_file:
        with open(args.vocab_file, 'w', encoding='utf-8') as f:
            f.writelines(word + '\n' for word, _ in counts.most_common(args.vocab_size))
    print(f'{len(counts)} different words')


if __name__ == '__main__':
    main()
