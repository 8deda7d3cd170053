"""Times the overhead around the computation in training: ``python benchmarks/training_loop.py``.

It prints three tables: the overhead of the trainer over a bare loop, the throughput of the
iterators (and of PyTorch's loader, if installed), and the time of snapshots. Variants take turns.
"""

import argparse
import contextlib
import importlib.util
import io
import os
import sys
import tempfile
import time
from typing import Any

from run import THREAD_VARIABLES


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--rounds', type=int, default=7, help='number of turns per variant')
    parser.add_argument('--iterations', type=int, default=2000, help='iterations of a loop')
    parser.add_argument('--images', type=int, default=2000, help='images for an iterator')
    parser.add_argument('--parameters', type=int, default=10_000_000, help='size of a snapshot')
    args = parser.parse_args()
    for name in THREAD_VARIABLES:  # read when the libraries are imported
        os.environ[name] = '1'

    import harness

    harness.print_machine(1)
    print_loops(args.iterations, args.rounds)
    print_iterators(args.images, args.rounds)
    print_snapshots(args.parameters, args.rounds)


def measure(ways, rounds):
    """Calls the functions, which return seconds, in turn; returns the median for each."""
    import statistics

    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(way())
    return {name: statistics.median(values) for name, values in times.items()}


# -- overhead of the trainer


def print_loops(n_iterations, rounds):
    import harness
    import numpy

    import chainer
    import chainer.links as L
    from chainer import iterators, optimizers, training
    from chainer.training import extensions

    rng = numpy.random.default_rng(0)
    data = [(x, numpy.int32(0)) for x in rng.random((1000, 64), 'f')]
    never = 10**9, 'iteration'

    def parts():
        model = L.Classifier(L.Linear(64, 10))
        return iterators.SerialIterator(data, 1), optimizers.SGD().setup(model), model

    class Idle(training.StandardUpdater):
        def update_core(self):
            self._iterators['main'].next()

    def bare_idle():
        iterator, _, _ = parts()
        start = time.process_time()
        for _ in range(n_iterations):
            iterator.next()
        return (time.process_time() - start) / n_iterations

    def bare_step():
        iterator, optimizer, model = parts()
        start = time.process_time()
        for _ in range(n_iterations):
            optimizer.update(model, *chainer.dataset.concat_examples(iterator.next()))
        return (time.process_time() - start) / n_iterations

    def trainer(updater, extended):
        def run():
            iterator, optimizer, model = parts()
            with tempfile.TemporaryDirectory() as out:
                trainer = training.Trainer(
                    updater(iterator, optimizer), (n_iterations, 'iteration'), out
                )
                if extended:
                    test = iterators.SerialIterator(data, 100, repeat=False)
                    trainer.extend(extensions.Evaluator(test, model), trigger=never)
                    trainer.extend(extensions.LogReport(trigger=never))
                    trainer.extend(extensions.observe_lr(), trigger=(1, 'iteration'))
                    trainer.extend(extensions.PrintReport(['main/loss']), trigger=never)
                    trainer.extend(extensions.ExponentialShift('lr', 0.9), trigger=never)
                    trainer.extend(extensions.snapshot(), trigger=never)
                start = time.process_time()
                trainer.run()
                return (time.process_time() - start) / n_iterations

        return run

    rows = []
    for title, bare, updater in (
        ('batch of one example, no computation', bare_idle, Idle),
        ('linear classifier, batch of one example', bare_step, training.StandardUpdater),
    ):
        times = measure(
            {'bare': bare, 'plain': trainer(updater, False), 'extended': trainer(updater, True)},
            rounds,
        )
        rows.append(
            [title, harness.format_time(times['bare'])]
            + [
                '{} (+{:.2f} us)'.format(
                    harness.format_time(times[way]), 1e6 * (times[way] - times['bare'])
                )
                for way in ('plain', 'extended')
            ]
        )
    harness.print_table(['one iteration', 'bare loop', 'Trainer', 'Trainer, 6 extensions'], rows)
    print(
        '\n(Extensions: evaluator, log, learning rate, printed table, shift, snapshot; only '
        'log and\nlearning rate work in each iteration. Bare loops fetch, convert and '
        'update only.)'
    )


# -- iterators


class Images:
    """Images of 32 by 32 pixels with random crops and flips, which take some time."""

    def __init__(self, size):
        import numpy

        self._images = numpy.random.default_rng(0).integers(
            0, 256, (256, 3, 40, 40), dtype=numpy.uint8
        )
        self._size = size

    def __len__(self):
        return self._size

    def __getitem__(self, i):
        import numpy

        y, x, flip = numpy.random.randint(0, 8), numpy.random.randint(0, 8), i % 2
        image = self._images[i % 256, :, y : y + 32, x : x + 32].astype(numpy.float32)
        image = image[:, :, ::-1] if flip else image
        return (image - image.mean()) / image.std(), i % 10


def print_iterators(n_images, rounds, batch_size=100):
    import harness

    import chainer
    from chainer import iterators

    dataset = Images(n_images)
    batches = n_images // batch_size

    def ours(make):
        def run():
            iterator = make()
            iterator.next()  # starts the workers
            start = time.perf_counter()
            for _ in range(batches):
                chainer.dataset.concat_examples(iterator.next())
            seconds = time.perf_counter() - start
            iterator.finalize()
            return seconds

        return run

    def torchs(n_workers):
        def run():
            import torch

            twice: Any = [dataset, dataset]
            loader: Any = torch.utils.data.DataLoader(
                torch.utils.data.ConcatDataset(twice),
                batch_size,
                shuffle=True,
                num_workers=n_workers,
            )
            iterator = iter(loader)
            next(iterator)
            start = time.perf_counter()
            for _ in range(batches):
                next(iterator)
            return time.perf_counter() - start

        return run

    ways = {'`SerialIterator`': ours(lambda: iterators.SerialIterator(dataset, batch_size))}
    for n in 1, 2:
        for name, keyword in (
            ('MultithreadIterator', 'n_threads'),
            ('MultiprocessIterator', 'n_processes'),
        ):
            make = getattr(iterators, name)
            ways['`{}`, {} worker{}'.format(name, n, 's' * (n > 1))] = ours(
                lambda make=make, keyword=keyword, n=n: make(dataset, batch_size, **{keyword: n})
            )
    if importlib.util.find_spec('torch') is not None:
        for n in 0, 1, 2:
            ways["PyTorch's `DataLoader`, {} worker{}".format(n, 's' * (n != 1))] = torchs(n)
    times = measure(ways, rounds)
    harness.print_table(
        [f'batches of {batch_size}, cropped images of 3x32x32', 'images per second'],
        [[name, f'{batches * batch_size / seconds:.0f}'] for name, seconds in times.items()],
    )


# -- snapshots


def print_snapshots(n_parameters, rounds):
    import harness
    import numpy

    import chainer
    from chainer import optimizers, serializers, training
    from chainer.training import extensions
    from chainer.training.extensions import snapshot_writers

    width = 1000
    links = [chainer.links.Linear(width, width) for _ in range(max(n_parameters // width**2, 1))]
    model = chainer.ChainList(*links)
    optimizer = optimizers.MomentumSGD().setup(model)
    for param in model.params():
        param.grad = numpy.zeros_like(param.array)
    optimizer.update()
    updater = training.StandardUpdater(
        chainer.iterators.SerialIterator(numpy.arange(1000), 10), optimizer
    )

    def snapshot(writer, kwargs):
        """Times the call, which blocks training, and the end of the writing."""

        def run():
            with tempfile.TemporaryDirectory() as out:
                trainer = training.Trainer(updater, out=out)
                trainer._start_at = time.perf_counter()
                extension = extensions.snapshot(writer=writer(**kwargs))
                start = time.perf_counter()
                extension(trainer)
                called = time.perf_counter() - start
                extension.finalize()
                return called, time.perf_counter() - start

        return run

    rows = []
    for writer, kwargs, note in (
        (snapshot_writers.SimpleWriter, {}, ''),
        (snapshot_writers.SimpleWriter, {'compression': False}, ', not compressed'),
        (snapshot_writers.ThreadWriter, {}, ''),
        (snapshot_writers.ProcessWriter, {}, ''),
    ):
        run = snapshot(writer, kwargs)
        results = [run() for _ in range(min(rounds, 3))]
        rows.append(
            [f'`{writer.__name__}`{note}']
            + [harness.format_time(sorted(values)[len(values) // 2]) for values in zip(*results)]
        )
    n = sum(param.size for param in model.params())
    harness.print_table(
        [
            f'snapshot of {n / 1000000.0:.1f} million parameters with momentum',
            'training waits',
            'on the disk after',
        ],
        rows,
    )

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'x')
        rows = []
        for compression in True, False:
            serializers.save_npz(path, updater, compression)
            start = time.perf_counter()
            with contextlib.redirect_stdout(io.StringIO()):
                serializers.load_npz(path, updater)
            rows.append(
                [
                    'compressed' if compression else 'not compressed',
                    f'{os.path.getsize(path) / 2**20:.0f} MiB',
                    harness.format_time(time.perf_counter() - start),
                ]
            )
    harness.print_table(['its file', 'size', 'loading and checking'], rows)


if __name__ == '__main__':
    sys.exit(main())
