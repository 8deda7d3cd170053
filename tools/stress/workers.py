"""Killed processes of ``MultiprocessIterator``: no hang, no orphan, no wrong data."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import multiprocessing
import os
import pickle
import random
import signal
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import chainer
import chainerx
from tools.stress.guard import Finding

N_EXAMPLES = 60
BATCHES_PER_CASE = 60
STALLED = 30  # seconds after which a batch hangs


def _large_arrays(i: int) -> tuple[Any, int]:
    return np.full((3, 40, 40), i, 'f'), i


def _chainerx_arrays(i: int) -> Any:
    return chainerx.arange(200.0) * i


def _computed_with_chainerx(i: int) -> Any:
    x = chainerx.full((30, 30), i, 'float32').require_grad()
    y = (x.dot(x.T) * 2).sum()
    y.backward()
    return chainerx.to_numpy(x.get_grad())


def _growing(i: int) -> Any:
    return np.arange(i * 50)  # outgrows the shared memory that the first examples need


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


@contextlib.contextmanager
def _reader(dataset: Any) -> Iterator[None]:
    """Reads a dataset in another thread, which holds its locks when processes start."""
    stop = threading.Event()

    def read() -> None:
        i = 0
        while not stop.is_set():
            dataset[i % N_EXAMPLES]
            i += 1

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _kill_one(rng: random.Random) -> bool:
    processes = multiprocessing.active_children()
    if not processes:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(rng.choice(processes).pid, signal.SIGKILL)
    return True


def _same(left: Any, right: Any) -> bool:
    return pickle.dumps(left) == pickle.dumps(right)


def case(rng: random.Random) -> dict[str, int]:
    """Reads a dataset while its processes are killed."""
    method = rng.choice(['fork', 'fork', 'forkserver', 'spawn'])
    multiprocessing.set_start_method(method)
    datasets = _datasets()
    # An open file cannot be pickled, as the other methods need.
    names = sorted(set(datasets) - (set() if method == 'fork' else {'pickles'}))
    name = rng.choice(names)
    batch_size = rng.choice([1, 4, 7])
    options = {
        'n_processes': rng.randint(1, 3),
        'n_prefetch': rng.randint(1, 4),
        'shared_mem': rng.choice([None, None, 1000]),
        'maxtasksperchild': rng.choice([None, None, 3]),
    }
    n_batches = BATCHES_PER_CASE if method == 'fork' else BATCHES_PER_CASE // 4
    kills = sorted(rng.sample(range(n_batches), rng.randint(0, 4 if method == 'fork' else 2)))
    reads = rng.random() < 0.3
    with_reader = ', read by a thread' if reads else ''
    print(f'{method}, {name}{with_reader}, {batch_size}, {options}, {kills}', flush=True)

    dataset = datasets[name]()
    expected = [dataset[i] for i in range(N_EXAMPLES)]
    position = 0
    n_errors = n_kills = 0
    iterator = chainer.iterators.MultiprocessIterator(
        dataset, batch_size, shuffle=False, dataset_timeout=STALLED, **options
    )
    with _reader(dataset) if reads else contextlib.nullcontext():
        for i in range(n_batches):
            if i in kills:
                time.sleep(rng.random() ** 3 * 0.02)
                n_kills += _kill_one(rng)
            while True:
                try:
                    batch = next(iterator)
                    break
                except RuntimeError:
                    n_errors += 1  # a process has died; calling it again retries the batch
                    if n_errors > n_kills:
                        raise
            wanted = [expected[(position + k) % N_EXAMPLES] for k in range(batch_size)]
            if not all(map(_same, batch, wanted)):
                raise Finding(f'batch {i} is {batch} instead of {wanted}')
            position += batch_size
        iterator.finalize()
    if multiprocessing.active_children():
        raise Finding('finalize leaves processes')
    return {f'batches by {method}': n_batches, 'kills': n_kills, 'errors': n_errors}
