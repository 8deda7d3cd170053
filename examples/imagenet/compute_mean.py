#!/usr/bin/env python
"""Computes the mean image of a list of image files."""

import argparse

import numpy as np

import chainer


def main():
    parser = argparse.ArgumentParser(description='Compute images mean array')
    parser.add_argument('dataset', help='Path to training image-label list file')
    parser.add_argument('--root', '-R', default='.', help='Root directory path of image files')
    parser.add_argument('--output', '-o', default='mean.npy', help='path to output mean array')
    args = parser.parse_args()

    dataset = chainer.datasets.LabeledImageDataset(args.dataset, args.root)
    total = 0
    for image, _ in dataset:
        total = total + image.astype(np.float64)
    np.save(args.output, (total / len(dataset)).astype(np.float32))
    print(f'mean of {len(dataset)} images: {args.output}')


if __name__ == '__main__':
    main()
