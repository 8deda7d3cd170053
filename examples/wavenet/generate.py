#!/usr/bin/env python
"""Generates sound with WaveNet from the spectrogram of a sound file."""

import argparse

import net
import numpy as np
import sound

import chainer


def main():
    parser = argparse.ArgumentParser(description='Chainer example: WaveNet')
    parser.add_argument('--input', '-i', required=True, help='Sound file (.wav)')
    parser.add_argument('--output', '-o', default='result.wav', help='Sound file to write')
    parser.add_argument('--model', '-m', required=True, help='File of the trained model')
    parser.add_argument(
        '--length',
        '-l',
        type=int,
        help='Number of samples to generate (default: as many as in the input)',
    )
    parser.add_argument('--seed', type=int, default=0, help='Random seed')
    net.add_arguments(parser)
    args = parser.parse_args()

    device = chainer.get_device(args.device)
    device.use()
    model = net.make_model(args)
    chainer.serializers.load_npz(args.model, model)
    model.to_device(device)

    condition = sound.spectrogram(sound.read(args.input)[: args.length])
    samples = model.generate(device.send(condition[None]), np.random.RandomState(args.seed))
    sound.write(args.output, sound.MuLaw(args.a_channels).decode(samples))
    print(f'{len(samples)} samples: {args.output}')


if __name__ == '__main__':
    main()
