"""Kills workers of iterators at random moments.

``python -m tests.helpers.worker_stress --seconds 600 --seed 0`` runs it for longer than the tests.
"""

import argparse
import collections
import contextlib
import faulthandler
import multiprocessing
import os
import pathlib
import random
import signal
import tempfile
import threading
import time

import numpy

import chainerx
from chainer import datasets, iterators
from tests.helpers import forks

METHODS = ('fork', 'forkserver', 'spawn')
_LIMIT = 30  # seconds that a call may take; nothing but a hang takes as long


class Arrays:
    """Examples of different sizes, so that shared memory grows."""

    def __init__(self, folder):
        self.n = 40

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i % 7 == 0:
            time.sleep(0.002)
        return i, numpy.full(i * i * (i % 5), i, 'f')

    def check(self, example):
        i, x = example
        assert x.shape == (i * i * (i % 5),) and (x == i).all(), (i, x)
        return i


class Lines(Arrays):
    """Lines of a file."""

    def __init__(self, folder):
        super().__init__(folder)
        path = folder / 'lines'
        path.write_text(''.join(f'{i} {"y" * i * i}\n' for i in range(self.n)))
        self.lines = datasets.TextDataset(str(path))

    def __getitem__(self, i):
        return self.lines[i]

    def check(self, line):
        i = int(line.split()[0])
        assert line == f'{i} {"y" * i * i}\n', line
        return i


class Pickles(Arrays):
    """Pickles of a file."""

    def __init__(self, folder):
        super().__init__(folder)
        path = str(folder / 'pickles')
        with datasets.open_pickle_dataset_writer(path) as writer:
            for i in range(self.n):
                writer.write((i, numpy.full(i * i * (i % 5), i, 'f')))
        self.pickles = datasets.open_pickle_dataset(path)

    def __getitem__(self, i):
        return self.pickles[i]


class Products(Arrays):
    """Arrays that ChainerX computes, with its threads."""

    def __init__(self, folder):
        super().__init__(folder)
        self.x = chainerx.full((100, 100), 0.5, 'f')

    def __getitem__(self, i):
        return i, chainerx.dot(self.x, self.x) * i + chainerx.zeros((2000, 100), 'f')[:100]

    def check(self, example):
        i, x = example
        assert isinstance(x, chainerx.ndarray)
        numpy.testing.assert_allclose(chainerx.to_numpy(x), 25 * i)
        return i


DATASETS = (
    (Arrays, Lines, Pickles, Products) if chainerx.is_available() else (Arrays, Lines, Pickles)
)


class _Killer:
    """Thread that kills workers of an iterator; the context manager."""

    def __init__(self, it, rng, pause, n_kills):
        self._it = it
        self._rng = rng
        self._pause = pause
        self._n_kills = n_kills
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.started = set()
        self.n_killed = 0

    def _run(self):
        while self.n_killed < self._n_kills and not self._stopped.wait(
            self._rng.random() * self._pause
        ):
            pool = self._it._pool
            workers = list(pool._workers) if pool is not None else []
            self.started.update(_start_time(worker.process.pid) for worker in workers)
            if not workers:
                continue
            if self._rng.random() < 0.8:
                workers = [self._rng.choice(workers)]
            for worker in workers:
                # A process that ended long ago is reaped; its number may be another's.
                if worker.process.is_alive():
                    with contextlib.suppress(ProcessLookupError):
                        if self._rng.random() < 0.2:
                            os.kill(worker.process.pid, signal.SIGSTOP)
                        os.kill(worker.process.pid, signal.SIGKILL)
                        self.n_killed += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        self._thread.join()


def _timed(func):
    start = time.monotonic()
    try:
        return func()
    finally:
        taken = time.monotonic() - start
        assert taken < _LIMIT, f'{func} took {taken} seconds'


def kill_workers(dataset, rng, n_batches, n_kills):
    """Takes at least so many batches while workers are killed.

    Each call returns the right batch or raises the documented error, and the same iterator goes
    on; nothing stays behind. Returns how often what happened.
    """
    counts = collections.Counter()
    batch_size = rng.choice([1, 3, 8, 40])
    it = iterators.MultiprocessIterator(
        dataset,
        batch_size,
        shuffle=rng.random() < 0.5,
        n_processes=rng.randint(1, 4),
        n_prefetch=rng.randint(1, 4),
        shared_mem=rng.choice([None, None, 0, 10000]),
        maxtasksperchild=rng.choice([None, None, 3]),
        dataset_timeout=_LIMIT,
    )
    seen = collections.Counter()
    start = time.monotonic()
    it.next()
    it.reset()
    pause = (time.monotonic() - start) * rng.choice([0.2, 1, 3])
    with _Killer(it, rng, pause, n_kills) as killer:
        while counts['batches'] < n_batches or killer.n_killed < n_kills:
            try:
                batch = _timed(it.next)
            except RuntimeError as e:
                assert 'worker process' in str(e), e
                counts['errors'] += 1
                continue
            assert len(batch) == batch_size
            seen.update(map(dataset.check, batch))
            counts['batches'] += 1
    # Errors repeat and drop no batch: epochs are complete.
    assert max(seen.values()) - min(seen[i] for i in range(len(dataset))) <= 1, seen
    _timed(it.finalize)
    counts['kills'] = killer.n_killed
    for pid, started in killer.started - {None}:
        assert _start_time(pid) != (pid, started), f'worker {pid} stays behind'
    assert not multiprocessing.active_children()
    return counts


def _start_time(pid):
    """Returns what no other process has, ``None`` if there is no such process."""
    try:
        with open(f'/proc/{pid}/stat') as f:
            fields = f.read().split(')')[1].split()
    except OSError:
        return None
    return None if fields[0] in 'ZX' else (pid, fields[19])


def stress(method, seed, seconds=0, n_batches=20, n_kills=40, makes=DATASETS):
    """Runs :func:`kill_workers` with each dataset at least once, and until the time is over."""
    rng = random.Random(seed)
    counts = collections.Counter()
    start = time.monotonic()
    previous = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(method, force=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            while True:
                for make in makes:
                    dataset = make(pathlib.Path(folder))
                    [dataset.check(dataset[i]) for i in range(len(dataset))]
                    # Other threads read meanwhile.
                    with forks.repeating(
                        lambda dataset=dataset: (dataset.check(dataset[5]), time.sleep(0.001)),
                        n_threads=rng.randint(0, 2),
                    ):
                        counts += kill_workers(dataset, rng, n_batches, n_kills)
                    counts['runs'] += 1
                    for name in 'lines', 'pickles':
                        if hasattr(dataset, name):
                            getattr(dataset, name).close()
                if time.monotonic() - start >= seconds:
                    return counts
    finally:
        multiprocessing.set_start_method(previous, force=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--methods', nargs='*', choices=METHODS, default=METHODS)
    args = parser.parse_args()
    for method in args.methods:
        faulthandler.dump_traceback_later(args.seconds + 20 * _LIMIT, exit=True)
        print(method, dict(stress(method, args.seed, args.seconds / len(args.methods))), flush=True)


if __name__ == '__main__':
    main()
