#!/usr/bin/env python
"""Writes stories of people walking around, with questions, like the first bAbI task."""

import argparse
import os

import numpy as np

PEOPLE = 'Mary', 'John', 'Daniel', 'Sandra'
PLACES = 'kitchen', 'garden', 'office', 'hallway', 'bathroom'


def write_stories(path, n_stories, random):
    with open(path, 'w', encoding='utf-8') as f:
        for _ in range(n_stories):
            places = {}
            number = 0
            for _ in range(3):
                for _ in range(2):
                    number += 1
                    person = random.choice(PEOPLE)
                    places[person] = random.choice(PLACES)
                    f.write(
                        f"""{number} {person} went to the {places[person]}.
"""
                    )
                number += 1
                person = random.choice(list(places))
                f.write(
                    f"""{number} Where is {person}?	{places[person]}
"""
                )


def main():
    parser = argparse.ArgumentParser(description='Chainer example: data for memory networks')
    parser.add_argument('--out', '-o', default='toy', help='Directory to write to')
    parser.add_argument('--size', '-n', type=int, default=300, help='Number of stories')
    args = parser.parse_args()
    random = np.random.RandomState(0)
    os.makedirs(args.out, exist_ok=True)
    write_stories(os.path.join(args.out, 'train.txt'), args.size, random)
    write_stories(os.path.join(args.out, 'test.txt'), max(1, args.size // 10), random)


if __name__ == '__main__':
    main()
