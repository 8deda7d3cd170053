import gc
import multiprocessing
import os
import random
import signal
import threading
import time
import warnings

import numpy
import pytest

from chainer import iterators, serializers


class Images:
    """Dataset of arrays of different sizes."""

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return {
            'x': numpy.full((i + 1, 100), i, 'f'),
            'y': (numpy.array(i), str(i)),
            'empty': numpy.zeros((0, 3)),
        }


class Noise:
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return i, numpy.random.rand(), random.random(), os.getpid()


class Stuck:
    """Dataset whose second example takes for ever."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        if i == 1:
            time.sleep(1000)
        return i


class Slow(Stuck):
    def __getitem__(self, i):
        time.sleep(0.3)
        return i


class Unpicklable:
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return threading.Lock()


class LocalError(Exception):
    def __init__(self, a, b):  # cannot be unpickled from its args
        super().__init__(a)


class Failing:
    def __len__(self):
        return 4

    def __getitem__(self, i):
        raise LocalError('message', 2)


class FailsToUnpickle(Failing):
    def __getitem__(self, i):
        return self

    def __reduce__(self):
        return int, ('no number',)


@pytest.fixture(params=['fork', 'spawn', 'forkserver'])
def start_method(request, monkeypatch):
    monkeypatch.setattr(multiprocessing, 'get_start_method', lambda allow_none=False: request.param)
    return request.param


def check_images(batch, indices):
    assert [example['y'][1] for example in batch] == [str(i) for i in indices]
    for example, i in zip(batch, indices):
        numpy.testing.assert_array_equal(example['x'], numpy.full((i + 1, 100), i, 'f'))
        assert example['empty'].shape == (0, 3)
        example['x'][...] = -1  # a copy of our own


@pytest.mark.slow
def test_start_methods(start_method):
    with iterators.MultiprocessIterator(
        Images(), 5, shuffle=False, n_processes=2, n_prefetch=2
    ) as it:
        for k in range(6):
            check_images(it.next(), [(5 * k + j) % 12 for j in range(5)])


@pytest.mark.parametrize('shared_mem', [None, 0, 1000, 10000])
def test_shared_memory(shared_mem):
    with iterators.MultiprocessIterator(
        Images(), 5, shuffle=False, n_processes=2, shared_mem=shared_mem
    ) as it:
        kept = []
        for k in range(6):
            batch = it.next()
            kept.append((batch[0]['x'], batch[0]['x'].copy()))
            check_images(batch, [(5 * k + j) % 12 for j in range(5)])
        # The arrays do not share the memory that later batches are written to.
        for array, _ in kept:
            assert (array == -1).all()


def test_many_chunks():
    with iterators.MultiprocessIterator(range(5000), 4500, shuffle=False, n_processes=2) as it:
        assert it.next() == list(range(4500))
        assert it.next() == list(range(4500, 5000)) + list(range(4000))


def test_attributes():
    it = iterators.MultiprocessIterator([1, 2], 1, shuffle=False, n_processes=3, n_prefetch=0)
    assert (it.shuffle, it.n_processes, it.n_prefetch, it.repeat) == (False, 3, 1, True)
    it.repeat = False
    with it:
        assert list(it) == [[1], [2]]


def test_random_numbers_of_workers():
    def run(n):
        numpy.random.seed(0)
        with iterators.MultiprocessIterator(Noise(), 6, n_processes=2) as it:
            batches = [it.next() for _ in range(n)]
            return batches, it.next(), serializers.npz.serialize(it)

    first, *_ = run(4)
    second, *_ = run(4)
    strip = [[example[:3] for example in batch] for batch in first]
    assert strip == [[example[:3] for example in batch] for batch in second]
    values = [example[1] for batch in first for example in batch]
    assert len(set(values)) == len(values)
    assert len({example[3] for batch in first for example in batch}) == 2
    assert os.getpid() not in {example[3] for batch in first for example in batch}


def test_random_numbers_are_resumed():
    numpy.random.seed(0)
    with iterators.MultiprocessIterator(Noise(), 6, n_processes=2) as it:
        it.next()
        target = serializers.npz.serialize(it)
        state = numpy.random.get_state()
        expected = [example[:3] for example in it.next()]
    numpy.random.seed(1)
    with iterators.MultiprocessIterator(Noise(), 6, n_processes=2) as it:
        it.next()
        it.serialize(serializers.NpzDeserializer(target))
        numpy.random.set_state(state)
        assert [example[:3] for example in it.next()] == expected


def test_maxtasksperchild():
    with iterators.MultiprocessIterator(Noise(), 6, n_processes=2, maxtasksperchild=2) as it:
        batches = [it.next() for _ in range(8)]
    assert len({example[3] for batch in batches for example in batch}) > 4


@pytest.mark.parametrize('sig', [signal.SIGKILL, signal.SIGTERM])
def test_killed_worker(sig):
    with iterators.MultiprocessIterator(Images(), 4, shuffle=False, n_processes=2) as it:
        check_images(it.next(), range(4))
        time.sleep(0.1)
        os.kill(it._pool._workers[0].process.pid, sig)
        position = it.current_position
        with pytest.raises(RuntimeError, match=f'died unexpectedly, exit code -{sig}'):
            for _ in range(10):
                it.next()
                position = it.current_position
        assert it.current_position == position
        # New processes take over.
        check_images(it.next(), [(position + j) % 12 for j in range(4)])


def test_killed_idle_worker():
    with iterators.MultiprocessIterator(Images(), 4, shuffle=False, n_processes=2) as it:
        check_images(it.next(), range(4))
        time.sleep(0.3)  # the next batch is complete
        os.kill(it._pool._workers[0].process.pid, signal.SIGKILL)
        time.sleep(0.3)
        with pytest.raises(RuntimeError, match='died unexpectedly'):
            it.next()
        check_images(it.next(), range(4, 8))


@pytest.mark.parametrize('sig', [None, signal.SIGSTOP])
def test_finalize_is_bounded(sig):
    it = iterators.MultiprocessIterator(
        Stuck(), 2, shuffle=False, n_processes=2, dataset_timeout=0.1
    )
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        with pytest.raises(iterators.MultiprocessIterator.TimeoutWarning, match='Stalled'):
            it.next()
    processes = [worker.process for worker in it._pool._workers]
    if sig is not None:
        for process in processes:
            os.kill(process.pid, sig)
    start = time.monotonic()
    it.finalize()
    assert time.monotonic() - start < 5
    assert not any(process.is_alive() for process in processes)
    it.finalize()
    with pytest.raises(NotImplementedError):
        it.reset()
    with pytest.raises(RuntimeError, match='finalized'):
        it.next()


def test_timeout_warning_only_warns():
    with iterators.MultiprocessIterator(
        Slow(), 1, shuffle=False, n_processes=1, dataset_timeout=0.1
    ) as it:
        with pytest.warns(iterators.MultiprocessIterator.TimeoutWarning):
            assert it.next() == [0]


def test_no_timeout():
    with iterators.MultiprocessIterator(
        Slow(), 2, shuffle=False, n_processes=1, dataset_timeout=None
    ) as it:
        assert it.next() == [0, 1]


def test_examples_that_cannot_be_sent():
    with iterators.MultiprocessIterator(Unpicklable(), 2, n_processes=1) as it:
        with pytest.raises(TypeError, match='pickle'):
            it.next()


def test_exceptions_that_cannot_be_sent():
    with iterators.MultiprocessIterator(Failing(), 2, n_processes=1) as it:
        with pytest.raises(RuntimeError, match='worker process') as e:
            it.next()
    assert 'LocalError' in str(e.value.__cause__)


def test_garbage_collection_ends_processes():
    it = iterators.MultiprocessIterator(Images(), 2, n_processes=2)
    it.next()
    processes = [worker.process for worker in it._pool._workers]
    threads = threading.active_count()
    del it
    gc.collect()
    for process in processes:
        process.join(5)
        assert not process.is_alive()
    assert threading.active_count() < threads


def _read(it):
    for _ in range(4):
        it.next()


def _kill(it):
    it.next()
    os.kill(it._pool._workers[0].process.pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match='died unexpectedly'):
        for _ in range(10):
            it.next()


def _kill_and_go_on(it):
    _kill(it)
    it.next()


def _fail(it):
    for _ in range(2):
        with pytest.raises((RuntimeError, ValueError), match='worker process|no number'):
            it.next()


@pytest.mark.parametrize(
    'use, dataset, options',
    [
        (_read, Images, {}),
        (_read, Images, {'maxtasksperchild': 1}),
        (_kill, Images, {}),
        (_kill_and_go_on, Images, {}),
        (_fail, Failing, {}),
        (_fail, FailsToUnpickle, {}),
    ],
)
@pytest.mark.parametrize('finalize', [True, False])
def test_files_are_closed_at_once(use, dataset, options, finalize):
    """No circle of references leaves them to the garbage collector."""

    def run():
        it = iterators.MultiprocessIterator(dataset(), 4, shuffle=False, n_processes=2, **options)
        use(it)
        if finalize:
            it.finalize()
            assert len(os.listdir('/proc/self/fd')) == n_files

    gc.collect()
    gc.disable()
    try:
        n_files = len(os.listdir('/proc/self/fd'))
        run()
        assert len(os.listdir('/proc/self/fd')) == n_files
    finally:
        gc.enable()
