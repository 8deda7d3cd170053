"""Iterators in forked processes, random numbers of workers, and the end of workers."""

import os
import signal
import threading
import time

import numpy
import pytest
from helpers import forks
from helpers.programs import run_python
from helpers.threads import repeating

import chainerx
from chainer import iterators


def _thread(dataset, batch_size, **kwargs):
    return iterators.MultithreadIterator(dataset, batch_size, n_threads=2, **kwargs)


def _process(dataset, batch_size, **kwargs):
    return iterators.MultiprocessIterator(
        dataset, batch_size, n_processes=2, n_prefetch=2, **kwargs
    )


@pytest.fixture(params=[_thread, _process])
def make(request):
    return request.param


def _take(it, n):
    # A daemon has no children, and what a test starts ends as one.
    return [it.next() for _ in range(n)]


def test_forked_process_goes_on_with_a_pool_of_its_own(make):
    with make(list(range(12)), 3, shuffle=False) as it:
        assert _take(it, 2) == [[0, 1, 2], [3, 4, 5]]
        for _ in range(2):
            child = forks.in_child(lambda: (_take(it, 4), it.epoch, it.finalize()))
            assert child == ([[6, 7, 8], [9, 10, 11], [0, 1, 2], [3, 4, 5]], 1, None)
        # The batches that the parent has requested are still its own.
        assert _take(it, 4) == [[6, 7, 8], [9, 10, 11], [0, 1, 2], [3, 4, 5]]


def test_forked_process_can_reset_and_finalize(make):
    with make(list(range(12)), 3, shuffle=False) as it:
        assert _take(it, 2) == [[0, 1, 2], [3, 4, 5]]

        def use():
            it.reset()
            batches = _take(it, 1)
            it.finalize()
            return batches

        assert forks.in_child(use) == [[0, 1, 2]]
        assert forks.in_child(it.finalize) is None
        assert _take(it, 2) == [[6, 7, 8], [9, 10, 11]]


def test_fork_while_a_thread_iterates(make):
    with make(list(range(12)), 3, shuffle=False) as it:
        with repeating(it.next, n_threads=1):
            for _ in range(5):
                (batch,) = forks.in_child(lambda: (_take(it, 1), it.finalize())[0])
                assert batch in ([0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11])


_IMPORTS = """
import sys
from chainer import iterators

class Finder:
    def find_spec(self, name, path=None, target=None):
        print('imports', name)

iterator = {}
sys.meta_path.insert(0, Finder())
for _ in range(5):
    iterator.next()
iterator.finalize()
"""


@pytest.mark.parametrize(
    'iterator',
    [
        'iterators.MultithreadIterator([1, 2, 3], 2, n_threads=2)',
        'iterators.MultiprocessIterator([1, 2, 3], 2, n_processes=2)',
    ],
)
def test_iterating_imports_nothing(iterator):
    """A process forked during an import in another thread waits for it for ever."""
    assert run_python(_IMPORTS.format(iterator)).stdout == ''


@pytest.mark.chainerx
class TestChainerx:
    class Noise:
        def __len__(self):
            return 40

        def __getitem__(self, i):
            return chainerx.to_numpy(chainerx.random.uniform(size=3)).tolist()

    @pytest.fixture(autouse=True)
    def unseed(self):
        yield
        chainerx.random.seed()

    def run(self):
        numpy.random.seed(0)
        chainerx.random.seed(1)
        expected = chainerx.to_numpy(chainerx.random.uniform(size=3)).tolist()
        chainerx.random.seed(1)
        with iterators.MultiprocessIterator(self.Noise(), 8, n_processes=4) as it:
            draws = [tuple(example) for _ in range(5) for example in it.next()]
        # The draws of the parent are as without workers.
        assert chainerx.to_numpy(chainerx.random.uniform(size=3)).tolist() == expected
        return draws

    def test_random_numbers_of_workers_differ_and_repeat(self):
        draws = self.run()
        assert len(set(draws)) == len(draws)
        assert self.run() == draws

    class Products:
        """Examples that ChainerX computes on all threads."""

        def __init__(self):
            self.x = chainerx.array(numpy.random.RandomState(0).rand(300, 300).astype('f'))
            self.y = chainerx.to_numpy(chainerx.dot(self.x, self.x))

        def __len__(self):
            return 8

        def __getitem__(self, i):
            y = chainerx.dot(self.x, self.x)
            z = (y.reshape((-1,)) * (i + 1)).sum()
            return i, chainerx.to_numpy(y), float(z), y

    def check(self, dataset, example):
        i, y, z, array = example
        numpy.testing.assert_allclose(y, dataset.y, rtol=1e-5)
        assert z == pytest.approx(dataset.y.sum() * (i + 1), rel=1e-4)
        assert isinstance(array, chainerx.ndarray)
        numpy.testing.assert_array_equal(chainerx.to_numpy(array), y)
        return True

    def test_fork_while_threads_compute(self):
        dataset = self.Products()
        self.check(dataset, dataset[0])  # it may import modules, see above
        with repeating(lambda: self.check(dataset, dataset[1])):
            for _ in range(5):
                assert forks.in_child(lambda: self.check(dataset, dataset[2]))
            with iterators.MultiprocessIterator(dataset, 2, n_processes=2) as it:
                for _ in range(4):
                    for example in it.next():
                        self.check(dataset, example)


def _runs(pid):
    try:
        with open(f'/proc/{pid}/stat') as f:
            return f.read().split(')')[1].split()[0] != 'Z'
    except OSError:
        return False


_KILLED = """
import os, signal, time
import numpy
from chainer import iterators

class Stuck:
    def __len__(self):
        return 4

    def __getitem__(self, i):
        if i == 3:
            time.sleep(1000)
        return numpy.full(100, i)

it = iterators.MultiprocessIterator(Stuck(), 1, shuffle=False, n_processes=2)
it.next()
if os.fork() == 0:  # a process that lives on
    print(os.getpid(), flush=True)
    os.close(1)
    os.close(2)
    time.sleep(1000)
it.next()
time.sleep(0.5)
for worker in it._pool._workers:
    with open(f'/proc/{worker.process.pid}/maps') as f:
        # Names of shared memory could stay behind.
        assert '/dev/shm/' not in f.read()
print(*[worker.process.pid for worker in it._pool._workers], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_with_a_killed_process():
    """Also if they are reading an example, or another forked process goes on."""
    result = run_python(_KILLED, status=-signal.SIGKILL, options=['-W', 'ignore'])
    other, *pids = map(int, result.stdout.split())
    try:
        assert len(pids) == 2
        deadline = time.monotonic() + 10
        while any(map(_runs, pids)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(_runs, pids))
        assert _runs(other)
    finally:
        os.kill(other, signal.SIGKILL)


def test_fork_while_a_connection_closes():
    """Its file is closed already; the child leaves all the rest to the parent none the less."""

    class Closing:
        def close(self):
            raise OSError('closed already')

    with iterators.MultiprocessIterator(list(range(6)), 2, shuffle=False, n_processes=1) as it:
        assert _take(it, 1) == [[0, 1]]
        it._pool._starting = Closing(), None, threading.get_ident()
        try:
            assert forks.in_child(lambda: (_take(it, 2), it.finalize())[0]) == [[2, 3], [4, 5]]
        finally:
            it._pool._starting = None


# A fork in the moment in which the receiving thread gets the memory of a worker.
_FORK_WHILE_RECEIVING = """
import os
import numpy
from chainer import iterators
import socket

receive = socket.recv_fds

def fork_and_receive(*args):
    pid = os.fork()
    if pid == 0:
        paths = [f'/proc/self/fd/{name}' for name in os.listdir('/proc/self/fd')]
        links = [os.readlink(path) for path in paths if os.path.islink(path)]
        print([link for link in links if link.startswith('socket:')], flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    return receive(*args)

socket.recv_fds = fork_and_receive
dataset = [numpy.zeros(1000)] * 4
with iterators.MultiprocessIterator(dataset, 1, shuffle=False, n_processes=1) as it:
    it.next()
"""


def test_fork_while_memory_arrives():
    """The child keeps no connection: a worker sees only that of the parent end."""
    result = run_python(_FORK_WHILE_RECEIVING, options=['-W', 'ignore'])
    assert set(result.stdout.splitlines()) == {'[]'}


def test_error_of_the_receiving_thread(monkeypatch):
    """Whatever goes wrong there, nobody waits for ever."""
    with iterators.MultiprocessIterator([1, 2], 1, shuffle=False, n_processes=1) as it:
        it.next()
        monkeypatch.setattr(it._pool, '_receive_from', lambda worker: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            _take(it, 10)
        assert it.next() in ([1], [2])
    assert threading.active_count() < 10


def test_start_of_a_successor_fails(monkeypatch):
    """No batch is lost, and the iterator goes on."""
    with iterators.MultiprocessIterator(
        list(range(12)), 2, shuffle=False, n_processes=1, maxtasksperchild=2
    ) as it:
        batches = _take(it, 1)

        def fail():
            raise BlockingIOError('no more processes')

        monkeypatch.setattr(it._pool, '_start_worker', fail)
        with pytest.raises(BlockingIOError, match='no more'):
            for _ in range(6):
                batches += _take(it, 1)
        batches += _take(it, 6 - len(batches))
    assert batches == [[2 * i, 2 * i + 1] for i in range(6)]


@pytest.mark.parametrize('error', [OSError, EOFError, ValueError])
def test_examples_that_cannot_be_unpickled(error):
    with iterators.MultiprocessIterator([_Fails(error)], 1, n_processes=1) as it:
        with pytest.raises(error, match='no such example'):
            it.next()
        pool = it._pool
        with pytest.raises(error, match='no such example'):
            it.next()
        assert it._pool is pool  # nothing is wrong with the processes


class _Fails:
    def __init__(self, error):
        self.error = error

    def __reduce__(self):
        return _fail, (self.error,)


def _fail(error):
    raise error('no such example')


def test_retired_workers_close_in_the_thread_that_reads():
    with iterators.MultiprocessIterator(
        list(range(12)), 1, shuffle=False, n_processes=2, maxtasksperchild=1
    ) as it:
        batches = _take(it, 1)
        pool = it._pool
        closed_by = set()
        conns = []

        def watch(worker):
            close = worker.conn.close

            def record():
                closed_by.add(threading.current_thread())
                close()

            worker.conn.close = record
            conns.append(worker.conn)

        for worker in pool._workers:
            watch(worker)
        batches += _take(it, 11)
        deadline = time.monotonic() + 20
        while not all(conn.closed for conn in conns) and time.monotonic() < deadline:
            batches += _take(it, 1)
        assert closed_by == {pool._thread}
    assert batches == [[i % 12] for i in range(len(batches))]
