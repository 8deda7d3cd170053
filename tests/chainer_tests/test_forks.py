"""Locks that other threads hold during a fork."""

import threading

import numpy
import pytest
from helpers import forks

import chainer
from chainer import iterators
from chainer._core.processes.forks import ProcessLock
from chainer._core.reports import fallback_report


def _hold(lock):
    """Returns a thread that holds a lock, and the event that ends it."""
    held = threading.Event()
    done = threading.Event()

    def hold():
        with lock:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    return thread, done


def _take(lock):
    with lock:
        return True


def _report():
    with chainer.FallbackReport() as report:
        return report.summary()


@pytest.mark.parametrize(
    'lock,use,expected',
    [
        pytest.param(ProcessLock(), _take, True, id='lock'),
        pytest.param(fallback_report._lock, lambda lock: _report(), {}, id='FallbackReport'),
        pytest.param(
            numpy.random.get_bit_generator().lock,
            lambda lock: numpy.random.RandomState.randint(numpy.random.mtrand._rand, 1),
            0,
            id='numpy.random',
        ),
    ],
)
def test_locks_are_free_in_forked_process(lock, use, expected):
    thread, done = _hold(lock)
    try:
        assert forks.in_child(use, lock) == expected
    finally:
        done.set()
        thread.join()
    assert use(lock) == expected


def test_lock_excludes_threads():
    lock = ProcessLock()
    thread, done = _hold(lock)
    try:
        assert not lock._lock.acquire(timeout=0.05)
    finally:
        done.set()
        thread.join()
    assert lock._lock.acquire(timeout=60)


class _Noise:
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return numpy.random.rand()


def test_workers_while_a_thread_draws():
    thread, done = _hold(numpy.random.get_bit_generator().lock)
    try:
        # What the main thread draws would wait, too.
        it = iterators.MultiprocessIterator(_Noise(), 2, n_processes=2, shuffle=False)
        it._worker_seed = 1
        with it:
            assert len({*it.next(), *it.next()}) == 4
    finally:
        done.set()
        thread.join()
