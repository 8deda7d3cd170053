"""Killed processes of ``MultiprocessIterator``: no hang, no orphan, no wrong data."""

from __future__ import annotations

import collections
import contextlib
import importlib.util
import io
import itertools
import multiprocessing
import os
import pickle
import random
import signal
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
from helpers.threads import repeating

import chainer
import chainerx
from tools.stress.guard import Finding

N_EXAMPLES = 60
STALLED = 30  # seconds after which a batch hangs


def _large_arrays(i: int) -> tuple[Any, int]:
    return np.full((3, 40, 40), i, 'f'), i


def _chainerx_arrays(i: int) -> Any:
    return chainerx.arange(200.0) * (i + 1)


def _computed_with_chainerx(i: int) -> Any:
    x = chainerx.full((30, 30), i, 'float32').require_grad()
    y = (x.dot(x.T) * 2).sum()
    y.backward()
    return chainerx.to_numpy(x.get_grad())


def _growing(i: int) -> Any:
    return np.arange(i * 50 + 1) + i  # outgrows the shared memory that the first examples need


def _map(f: Callable[[int], Any]) -> Any:
    return chainer.datasets.TransformDataset(range(N_EXAMPLES), f)


def _lines() -> Any:
    with open('lines.txt', 'w') as file:
        file.writelines(f'line {i} {"x" * (i * 37 % 90)}\n' for i in range(N_EXAMPLES))
    return chainer.datasets.TextDataset('lines.txt')


def _pickles() -> Any:
    with chainer.datasets.open_pickle_dataset_writer('examples.pickle') as writer:
        for i in range(N_EXAMPLES):
            writer.write((i, 'x' * (i * 37 % 90)))
    return chainer.datasets.open_pickle_dataset('examples.pickle')


def _zipped_images() -> Any:
    from PIL import Image

    with zipfile.ZipFile('images.zip', 'w') as archive:
        for i in range(N_EXAMPLES):
            file = io.BytesIO()
            Image.new('RGB', (9, 7), (i, 255 - i, 3)).save(file, 'png')
            archive.writestr(f'{i}.png', file.getvalue())
    return chainer.datasets.ZippedImageDataset('images.zip')


def _datasets() -> dict[str, Callable[[], Any]]:
    datasets: dict[str, Callable[[], Any]] = {
        'numbers': lambda: range(N_EXAMPLES),
        'large arrays': lambda: _map(_large_arrays),
        'growing arrays': lambda: _map(_growing),
        'lines': _lines,
        'pickles': _pickles,
    }
    if chainerx.is_available():
        datasets['ChainerX arrays'] = lambda: _map(_chainerx_arrays)
        datasets['computed with ChainerX'] = lambda: _map(_computed_with_chainerx)
    if importlib.util.find_spec('PIL') is None:
        print('Pillow is not installed: no images', flush=True)
    else:
        datasets['zipped images'] = _zipped_images
    return datasets


class _Killer:
    """Thread that kills workers of an iterator at random moments; a context manager."""

    def __init__(self, iterator: Any, rng: random.Random, pause: float, n_kills: int) -> None:
        self._iterator = iterator
        self._rng = rng
        self._pause = pause
        self._n_kills = n_kills
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.n_killed = 0

    def _run(self) -> None:
        while not self.done and not self._stopped.wait(self._rng.random() * self._pause):
            pool = self._iterator._pool
            workers = list(pool._workers) if pool is not None else []
            if workers and self._rng.random() < 0.8:
                workers = [self._rng.choice(workers)]
            for worker in workers:
                # A process that has ended is reaped; its number may be another's.
                if worker.process.is_alive():
                    with contextlib.suppress(ProcessLookupError):
                        if self._rng.random() < 0.2:
                            os.kill(worker.process.pid, signal.SIGSTOP)
                        os.kill(worker.process.pid, signal.SIGKILL)
                        self.n_killed += 1

    @property
    def done(self) -> bool:
        return self.n_killed >= self._n_kills

    def __enter__(self) -> _Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()


def case(rng: random.Random) -> dict[str, int]:
    """Reads a dataset while its processes are killed.

    Each call returns the right batch or raises the documented error, and the same iterator goes
    on; nothing stays behind.
    """
    method = rng.choice(['fork', 'fork', 'forkserver', 'spawn'])
    multiprocessing.set_start_method(method)
    datasets = _datasets()
    name = rng.choice(sorted(datasets))
    batch_size = rng.choice([1, 4, 7, 60])
    options = {
        'shuffle': rng.random() < 0.5,
        'n_processes': rng.randint(1, 4),
        'n_prefetch': rng.randint(1, 4),
        'shared_mem': rng.choice([None, None, 0, 1000]),
        'maxtasksperchild': rng.choice([None, None, 3]),
    }
    n_batches, n_kills = (40, rng.randint(0, 20)) if method == 'fork' else (15, rng.randint(0, 3))
    speed = rng.choice([0.2, 1, 3])
    n_readers = rng.choice([0, 0, 1, 2])
    print(f'{method}, {name}, {batch_size}, {options}, {n_kills} kills, {n_readers} readers')
    sys.stdout.flush()

    # The examples are told apart by their contents, as an iterator may shuffle them.
    dataset = datasets[name]()
    numbers = {pickle.dumps(dataset[i]): i for i in range(N_EXAMPLES)}
    seen: collections.Counter[int] = collections.Counter()
    counts = collections.Counter({f'batches by {method}': 0, 'kills': 0, 'errors': 0})
    iterator = chainer.iterators.MultiprocessIterator(
        dataset, batch_size, dataset_timeout=STALLED, **options
    )
    start = time.monotonic()
    iterator.next()
    iterator.reset()
    pause = speed * (time.monotonic() - start)
    examples_in_turn = itertools.cycle(range(N_EXAMPLES))
    with (
        # Other threads hold the locks of the dataset when processes start.
        repeating(lambda: dataset[next(examples_in_turn)], n_readers),
        _Killer(iterator, rng, pause, n_kills) as killer,
    ):
        while counts[f'batches by {method}'] < n_batches or not killer.done:
            try:
                batch = next(iterator)
            except RuntimeError as error:  # a process has died; the next call tries again
                if 'worker process' not in str(error):
                    raise
                counts['errors'] += 1
                continue
            counts[f'batches by {method}'] += 1
            examples = [numbers.get(pickle.dumps(example)) for example in batch]
            if len(examples) != batch_size or None in examples:
                raise Finding(f'{batch} is no batch of the dataset')
            first = sum(seen.values())
            wanted = [i % N_EXAMPLES for i in range(first, first + batch_size)]
            if not options['shuffle'] and examples != wanted:
                raise Finding(f'a batch has the examples {examples} instead of {wanted}')
            seen.update(examples)
    iterator.finalize()
    counts['kills'] = killer.n_killed
    if counts['errors'] > counts['kills']:
        raise Finding(f'{counts["errors"]} errors after {counts["kills"]} kills')
    # No error drops or repeats a batch: epochs are complete.
    times = [seen[i] for i in range(N_EXAMPLES)]
    if max(times) - min(times) > 1:
        raise Finding(f'examples came up {times} times')
    if multiprocessing.active_children():
        raise Finding('finalize leaves processes')
    return counts
