#!/usr/bin/env python
"""Trains a variational autoencoder on handwritten digits and generates new ones."""

import argparse
import os

import net
import numpy as np

import chainer
from chainer import training
from chainer.training import extensions


def get_datasets(name, binary):
    if name == 'digits':
        train, test = chainer.datasets.get_digits(withlabel=False)
    else:
        train, test = chainer.datasets.get_mnist(withlabel=False)
    if binary:
        train, test = [(data >= 0.5).astype(np.float32) for data in (train, test)]
    return train, test


def save_images(path, images):
    """Saves flattened images as one picture with ten images per row."""
    from PIL import Image

    size = int(images.shape[1] ** 0.5)
    images = images.reshape(-1, 10, size, size).transpose(0, 2, 1, 3).reshape(-1, 10 * size)
    Image.fromarray((images.clip(0, 1) * 255).astype(np.uint8)).save(path)


def draw(encoder, decoder, prior, images, device, out):
    """Saves images with their reconstructions, and decoded samples of the prior."""
    send_back = chainer.get_device('@numpy').send
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        z = encoder(device.send(images)).distribution.loc
        reconstructed = decoder.mean_image(z)
        sampled = decoder.mean_image(prior().sample(20))
    save_images(os.path.join(out, 'test.png'), images)
    save_images(os.path.join(out, 'test_reconstructed.png'), send_back(reconstructed))
    save_images(os.path.join(out, 'sampled.png'), send_back(sampled))


def main():
    parser = argparse.ArgumentParser(description='Chainer example: VAE')
    parser.add_argument('--initmodel', '-m', help='Initialize the model from a file')
    parser.add_argument('--resume', '-r', help='Resume the training from a snapshot')
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument('--out', '-o', default='results', help='Directory to output the result')
    parser.add_argument(
        '--epoch', '-e', default=100, type=int, help='Number of sweeps over the dataset to train'
    )
    parser.add_argument(
        '--dim-z', '-z', default=20, type=int, help='Dimension of the encoded vector'
    )
    parser.add_argument('--dim-h', default=500, type=int, help='Dimension of the hidden layers')
    parser.add_argument(
        '--beta', default=1.0, type=float, help='Weight of the Kullback-Leibler divergence'
    )
    parser.add_argument(
        '--k', '-k', default=1, type=int, help='Number of samples that estimate the loss'
    )
    parser.add_argument(
        '--binary', action='store_true', help='Convert the images to black and white'
    )
    parser.add_argument(
        '--batch-size', '-b', type=int, default=100, help='Number of images in each mini-batch'
    )
    parser.add_argument(
        '--dataset',
        choices=('digits', 'mnist'),
        default='digits',
        help='Dataset: digits is bundled, mnist is downloaded',
    )
    parser.add_argument('--test', action='store_true', help='Use tiny datasets for quick tests')
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
    print(f'Device: {device}')
    print(f'# dim z: {args.dim_z}')
    print(f'# Minibatch-size: {args.batch_size}')
    print(f'# epoch: {args.epoch}')
    print('')

    train, test = get_datasets(args.dataset, args.binary)
    if args.test:
        train, test = train[:200], test[:100]

    n_in = train.shape[1]
    encoder = net.Encoder(n_in, args.dim_z, args.dim_h)
    decoder = net.Decoder(n_in, args.dim_z, args.dim_h, args.binary)
    prior = net.Prior(args.dim_z)
    model = net.AvgELBOLoss(encoder, decoder, prior, beta=args.beta, k=args.k)
    if args.initmodel:
        chainer.serializers.load_npz(args.initmodel, model)
    model.to_device(device)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)

    train_iter = chainer.iterators.SerialIterator(train, args.batch_size)
    test_iter = chainer.iterators.SerialIterator(test, args.batch_size, repeat=False, shuffle=False)
    updater = training.updaters.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (args.epoch, 'epoch'), out=args.out)
    trainer.extend(extensions.Evaluator(test_iter, model, device=device))
    trainer.extend(
        extensions.snapshot_object(model, 'model_epoch_{.updater.epoch}'),
        trigger=(args.epoch, 'epoch'),
    )
    trainer.extend(extensions.snapshot(), trigger=(args.epoch, 'epoch'))
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.PrintReport(
            [
                'epoch',
                'main/loss',
                'validation/main/loss',
                'main/reconstr',
                'validation/main/reconstr',
                'main/kl_penalty',
                'elapsed_time',
            ]
        )
    )
    trainer.extend(extensions.ProgressBar())
    if args.resume:
        chainer.serializers.load_npz(args.resume, trainer)
    trainer.run()

    draw(encoder, decoder, prior, test[:20], device, args.out)


if __name__ == '__main__':
    main()
