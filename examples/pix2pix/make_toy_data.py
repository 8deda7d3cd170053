#!/usr/bin/env python
"""Draws simple facades in the format of the facade dataset."""

import argparse
import os

import numpy as np
from PIL import Image

WALL, WINDOW, DOOR, SKY = 2, 3, 6, 1
COLOURS = {SKY: (150, 190, 240), WALL: (190, 120, 90), WINDOW: (60, 70, 90), DOOR: (90, 50, 20)}


def draw(random, size):
    labels = np.full((size, size), SKY, np.uint8)
    top = random.randint(size // 8, size // 3)
    labels[top:, size // 8 : -size // 8] = WALL
    step = size // random.randint(4, 7)
    for y in range(top + step // 4, size - step, step):
        for x in range(size // 8 + step // 4, size - size // 8 - step // 2, step):
            labels[y : y + step // 2, x : x + step // 2] = WINDOW
    door = random.randint(size // 4, size * 3 // 4)
    labels[-size // 5 :, door : door + size // 10] = DOOR
    return labels


def main():
    parser = argparse.ArgumentParser(description='Chainer example: data for pix2pix')
    parser.add_argument('--out', '-o', default='facade/base', help='Directory to write to')
    parser.add_argument('--number', '-n', type=int, default=320, help='Number of images')
    parser.add_argument('--size', type=int, default=64, help='Size of the images')
    args = parser.parse_args()

    random = np.random.RandomState(0)
    os.makedirs(args.out, exist_ok=True)
    for i in range(args.number):
        labels = draw(random, args.size)
        picture = np.zeros((*labels.shape, 3), np.uint8)
        for label, colour in COLOURS.items():
            picture[labels == label] = colour
        path = os.path.join(args.out, f'toy{i:04}')
        Image.fromarray(labels).save(path + '.png')
        Image.fromarray(picture).save(path + '.jpg')


if __name__ == '__main__':
    main()
