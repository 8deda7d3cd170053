#!/usr/bin/env python
"""Writes short melodies as sound files."""

import argparse
import os

import numpy as np
import sound


def main():
    parser = argparse.ArgumentParser(description='Chainer example: data for WaveNet')
    parser.add_argument('--out', '-o', default='toy', help='Directory to write to')
    parser.add_argument('--number', '-n', type=int, default=40, help='Number of files')
    parser.add_argument('--seconds', '-s', type=float, default=1.0, help='Length of each')
    args = parser.parse_args()

    random = np.random.RandomState(0)
    os.makedirs(args.out, exist_ok=True)
    length = int(args.seconds * sound.RATE)
    for i in range(args.number):
        notes = 220 * 2 ** (random.choice([0, 2, 4, 7, 9, 12], 8) / 12)
        frequency = np.repeat(notes, -(-length // 8))[:length]
        phase = np.cumsum(2 * np.pi * frequency / sound.RATE)
        x = 0.4 * np.sin(phase) + 0.2 * np.sin(2 * phase) + 0.1 * np.sin(3 * phase)
        sound.write(os.path.join(args.out, f'melody{i:03}.wav'), x)


if __name__ == '__main__':
    main()
