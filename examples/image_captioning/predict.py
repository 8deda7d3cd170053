#!/usr/bin/env python
"""Prints captions of images by a trained network."""

import argparse
import json

import data
from model import ImageCaptionModel

import chainer


def main():
    parser = argparse.ArgumentParser(description='Chainer example: image captioning')
    parser.add_argument('--img', required=True, nargs='+', help='Image files')
    parser.add_argument('--model', required=True, help='File of the trained model')
    parser.add_argument(
        '--setup',
        default='result/setup.json',
        help='File setup.json in the output directory of the training',
    )
    parser.add_argument(
        '--max-caption-length', type=int, default=30, help='Largest number of words'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0, cuda:0',
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
    with open(args.setup, encoding='utf-8') as f:
        setup = json.load(f)
    words = {i: word for word, i in setup['vocab'].items()}
    model = ImageCaptionModel(len(words), setup['features'], setup['rnn'], n_units=setup['unit'])
    chainer.serializers.load_npz(args.model, model)
    model.to_device(device)

    for path in args.img:
        image = data.read_image(path, model.features.size)
        (caption,) = model.predict(device.send(image[None]), args.max_caption_length)
        print('{}: {}'.format(path, ' '.join(words[i] for i in caption)))


if __name__ == '__main__':
    main()
