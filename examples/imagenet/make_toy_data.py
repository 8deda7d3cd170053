#!/usr/bin/env python
"""Writes the bundled digits as image files with lists for training."""

import argparse
import os

import numpy as np
from PIL import Image

import chainer


def main():
    parser = argparse.ArgumentParser(description='Chainer example: data for ImageNet')
    parser.add_argument('--out', '-o', default='toy', help='Directory to write to')
    parser.add_argument('--size', type=int, default=256, help='Size of the images')
    parser.add_argument(
        '--number',
        '-n',
        type=int,
        default=300,
        help='Number of training images; validation uses a tenth as many',
    )
    args = parser.parse_args()

    os.makedirs(args.out, exist_ok=True)
    parts = chainer.datasets.get_digits(ndim=2, scale=255, dtype=np.float32)
    for part, dataset, n in zip(('train', 'val'), parts, (args.number, max(1, args.number // 10))):
        with open(os.path.join(args.out, part + '.txt'), 'w') as f:
            for i, (image, label) in enumerate(dataset[:n]):
                name = f'{part}{i:04}.png'
                Image.fromarray(image.astype(np.uint8)).convert('RGB').resize(
                    (args.size, args.size)
                ).save(os.path.join(args.out, name))
                f.write(f'{name} {label}\n')


if __name__ == '__main__':
    main()
