#!/usr/bin/env python
"""Draws coloured shapes with captions, in files in the format of MSCOCO."""

import argparse
import json
import os

import numpy as np
from PIL import Image, ImageDraw

COLOURS = 'red', 'green', 'blue', 'white'
SHAPES = 'circle', 'square'


def draw(random, path):
    """Draws an image and returns the caption."""
    colour, shape = random.choice(COLOURS), random.choice(SHAPES)
    image = Image.new('RGB', (32, 32))
    x, y = (int(v) for v in random.randint(2, 14, 2))
    canvas = ImageDraw.Draw(image)
    (canvas.ellipse if shape == 'circle' else canvas.rectangle)(
        (x, y, x + 15, y + 15), fill=str(colour)
    )
    image.save(path)
    return f'A {colour} {shape} on black.'


def main():
    parser = argparse.ArgumentParser(description='Chainer example: data for image captioning')
    parser.add_argument('--out', '-o', default='mscoco', help='Directory to write to')
    parser.add_argument('--number', '-n', type=int, default=400, help='Number of images')
    args = parser.parse_args()

    random = np.random.RandomState(0)
    os.makedirs(os.path.join(args.out, 'annotations'), exist_ok=True)
    for part, n in ('train2014', args.number), ('val2014', max(1, args.number // 10)):
        os.makedirs(os.path.join(args.out, part), exist_ok=True)
        images = [{'id': i, 'file_name': f'{i}.png'} for i in range(n)]
        annotations = [
            {
                'image_id': image['id'],
                'caption': draw(random, os.path.join(args.out, part, image['file_name'])),
            }
            for image in images
        ]
        path = os.path.join(args.out, 'annotations', f'captions_{part}.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'images': images, 'annotations': annotations}, f)


if __name__ == '__main__':
    main()
