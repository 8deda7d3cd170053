"""Trains on handwritten digits in Python, and leaves the second half of the training to C++."""

import argparse
from pathlib import Path

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

BATCH_SIZE = 64


def read_batches():
    """Returns the batches of an epoch in NumPy arrays."""
    train, _ = chainer.datasets.get_digits()
    count = len(train) // BATCH_SIZE
    images, labels = (np.stack(part) for part in zip(*train[: count * BATCH_SIZE]))
    images = images.reshape(-1, 64).astype('f')
    return list(zip(np.split(images, count), np.split(labels.astype('i'), count)))


def make_step():
    """Returns a model, and the compiled step of its training."""
    np.random.seed(0)
    model = chainer.Sequential(L.Linear(64, 64), F.relu, L.Linear(64, 10))
    model.to_device('native:0')
    optimizer = chainer.optimizers.Adam(0.003).setup(model)

    @chainer.compile
    def step(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return model, step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '-o', '--out', type=Path, default=Path('result'), help='folder of the files'
    )
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    batches = read_batches()
    half = len(batches) // 2
    model, step = make_step()
    for batch in batches[:half]:
        step(*model.device.send(batch))
    step.save(args.out / 'step.plan')
    with open(args.out / 'batches.bin', 'wb') as file:
        for images, labels in batches[half:]:
            file.write(images.tobytes() + labels.tobytes())

    # What C++ prints, too. It saves the same parameters, to the last bit.
    for batch in batches[half:]:
        loss = step(*model.device.send(batch))
        print(f'{float(loss.array):.9g}')
    chainer.serializers.save_npz(args.out / 'trained.npz', model)


if __name__ == '__main__':
    main()
