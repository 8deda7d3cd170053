"""Worker processes that read examples of a dataset.

Each worker has a separate pipe, so a killed worker leaves no lock that blocks others. A job (a
batch) is split into chunks. A worker has at most two chunks at a time, which keeps it busy and
lets it alternate between two slots of shared memory without further synchronization: the pool
sends a third chunk only after copying the first result out of its slot. Both requests fit into
the buffer of the pipe, so sending never blocks. A thread of the main process receives the results.

Each end of a pipe is open in one process only: forked ones close what they are not meant to have.
So a reader sees the end of the other process, and a worker ends with the main process.
"""

from __future__ import annotations

import collections
import contextlib
import mmap
import multiprocessing
import os
import pickle
import random
import select
import signal
import socket
import threading
import traceback
import warnings
import zlib
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer._core.processes import forks, start_method

with contextlib.suppress(ImportError):  # Windows does not have them
    # Otherwise the first start of a process imports them, see LookaheadIterator.
    from multiprocessing import popen_fork, resource_tracker  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.types import Dataset

_MAX_CHUNK = 1000  # 8 KB of indices; a pipe holds at least 64 KB
_MAX_PENDING = 2


class WorkerDied(RuntimeError):
    """Raised when a worker process ends unexpectedly."""


class _RemoteTraceback(Exception):
    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


class _Job:
    """A batch being fetched."""

    def __init__(self, n_chunks: int) -> None:
        self.results: list[list[Any]] = [[]] * n_chunks
        self.n_left = n_chunks
        self.error: BaseException | None = None
        self.cancelled = False


class _Worker:
    """A worker as seen by the main process."""

    def __init__(self, process: Any, conn: Any) -> None:
        self.process = process
        self.conn = conn
        # (job, chunk number), in the order of sending
        self.pending: collections.deque[tuple[_Job, int]] = collections.deque()
        self.n_sent = 0
        self.memory: mmap.mmap | None = None


class WorkerPool:
    """Pool of processes that fetch examples.

    Args:
        dataset: Dataset, sent to each process.
        n_processes (int): Number of processes.
        shared_mem (int): Bytes of shared memory per example; ``None`` to fit it to the data.
        maxtasksperchild (int): Number of chunks before a process is replaced.

    """

    def __init__(
        self, dataset: Dataset, n_processes: int, shared_mem: int, maxtasksperchild: int
    ) -> None:
        self._args = dataset, shared_mem
        self._n_processes = n_processes
        self._maxtasks = maxtasksperchild
        self._changed = threading.Condition()
        self._queue: collections.deque[tuple[_Job, int, tuple[bytes, int]]] = collections.deque()
        self._workers: list[_Worker] = []
        # The receiving thread may be reading from them, so it closes them.
        self._retired: list[_Worker] = []
        self._starting = None  # the pipe of the worker that a thread starts, and the thread
        self._closed = False
        self._error: BaseException | None = None  # set when a worker died
        self._wake_recv, self._wake_send = multiprocessing.Pipe(duplex=False)
        forks.register(self)
        try:
            for _ in range(n_processes):
                self._start_worker()
        except BaseException:
            self.close()
            raise
        self._thread = threading.Thread(target=self._receive, name='chainer-iterator', daemon=True)
        self._thread.start()

    def _start_worker(self):
        context = start_method.context()
        conn, child_conn = context.Pipe()
        self._starting = conn, child_conn, threading.get_ident()
        process = context.Process(target=_run_worker, args=(child_conn,) + self._args, daemon=True)
        try:
            with warnings.catch_warnings():
                # The child only runs the loop below and takes none of our locks.
                warnings.filterwarnings('ignore', '.*fork', DeprecationWarning)
                process.start()
        except (ConnectionError, EOFError) as e:
            raise WorkerDied('a worker process died before it received the dataset') from e
        finally:
            self._starting = None
            child_conn.close()
        self._workers.append(_Worker(process, conn))

    def _conns(self):
        workers = self._workers + self._retired
        return [self._wake_recv, self._wake_send, *[worker.conn for worker in workers]]

    def _after_fork(self) -> None:
        """Leaves the pool to the parent, in a forked process."""
        conns = self._conns()
        if self._starting is not None:
            conn, child_conn, thread = self._starting
            conns.append(conn)
            if thread != threading.get_ident():  # else the new worker reads it
                conns.append(child_conn)
        for conn in conns:
            with contextlib.suppress(OSError):  # a thread of the parent is closing it
                conn.close()
        self._workers = []
        self._changed = threading.Condition()
        self._closed = True

    def submit(self, indices: numpy.ndarray, seed: int) -> _Job:
        """Starts fetching examples; returns a job."""
        size = min(-(-len(indices) // self._n_processes), _MAX_CHUNK)
        chunks = [indices[i : i + size] for i in range(0, len(indices), size)]
        job = _Job(len(chunks))
        with self._changed:
            for i, chunk in enumerate(chunks):
                chunk_seed = zlib.crc32(b'%d' % i, seed)
                self._queue.append((job, i, (chunk.astype(numpy.int64).tobytes(), chunk_seed)))
        self._replace_retired()
        with self._changed:
            self._dispatch()
        self._wake()  # to look at new workers too
        return job

    def _replace_retired(self):
        """Starts successors of retired workers (main thread only)."""
        if self._maxtasks is None:
            return
        with self._changed:
            retired = [w for w in self._workers if w.n_sent >= self._maxtasks and not w.pending]
            for worker in retired:
                self._workers.remove(worker)
        for worker in retired:
            with contextlib.suppress(OSError):
                worker.conn.send(None)
            worker.process.join(1)
            _end(worker.process)
            self._retired.append(worker)
            try:
                self._start_worker()
            except Exception as e:
                with self._changed:
                    self._fail(e)  # wait() raises it: batches that are complete must not be lost
                return

    def _dispatch(self):
        """Sends chunks to the least busy workers (lock held)."""
        while self._queue:
            free = [
                w
                for w in self._workers
                if len(w.pending) < _MAX_PENDING
                and (self._maxtasks is None or w.n_sent < self._maxtasks)
            ]
            if not free:
                return
            worker = min(free, key=lambda w: len(w.pending))
            job, i, message = self._queue.popleft()
            if job.cancelled:
                continue
            try:
                worker.conn.send(message)
            except OSError:
                self._fail(self._died(worker))
                return
            worker.pending.append((job, i))
            worker.n_sent += 1

    def wait(self, job: _Job, timeout: float, on_timeout: Callable[[], None]) -> list[Any]:
        """Returns the examples of a job.

        Args:
            job: Job.
            timeout (float): Interval in seconds between calls of ``on_timeout``.
            on_timeout: Function without arguments.

        Raises:
            WorkerDied: If a process died.
            Exception: An exception of the dataset.

        """
        while True:
            with self._changed:
                done = self._changed.wait_for(
                    lambda: job.n_left == 0 or bool(job.error or self._error),
                    # Workers that retire must be replaced now and then.
                    timeout if self._maxtasks is None else 0.05,
                )
            # Also if the job is done: the death of a worker, however idle, is no secret.
            error = self._error or job.error
            if error is not None:
                try:
                    raise error
                finally:
                    # Its traceback leads back here: a circle would keep the files of the pool open.
                    self._error = job.error = error = None
            if done:
                return [example for part in job.results for example in part]
            if self._maxtasks is not None:
                self._replace_retired()
                with self._changed:
                    self._dispatch()
                self._wake()
            else:
                on_timeout()

    def cancel(self, job: _Job) -> None:
        """Drops a job."""
        job.cancelled = True

    def _wake(self):
        with contextlib.suppress(OSError):
            self._wake_send.send(None)

    def _receive(self):
        """Main function of the receiving thread."""
        try:
            self._receive_all()
        except BaseException as e:
            with self._changed:
                self._fail(e)

    def _receive_all(self):
        while True:
            with self._changed:
                if self._closed:
                    return
                while self._retired:
                    self._retired.pop().conn.close()
                by_object = {}
                for worker in self._workers:
                    by_object[worker.conn] = worker
                    by_object[worker.process.sentinel] = worker
            try:
                ready = connection.wait([self._wake_recv, *by_object])
            except OSError:  # a pipe was closed meanwhile
                continue
            if self._wake_recv in ready:
                self._wake_recv.recv()
            for obj in ready:
                if obj in by_object and isinstance(obj, connection.Connection):
                    self._receive_from(by_object[obj])
            for obj in ready:
                # Whatever a process sent before it ended was received above or is now.
                if isinstance(obj, int) and not by_object[obj].conn.closed:
                    self._on_end(by_object[obj])

    def _receive_from(self, worker):
        try:
            reply = worker.conn.recv()
            if reply[0] == 'shared' and reply[2]:
                fd = _receive_file(worker.conn)
                try:
                    worker.memory = mmap.mmap(fd, 0)
                finally:
                    os.close(fd)
        except (EOFError, OSError):
            with self._changed:
                if worker in self._workers and not self._closed:
                    self._fail(self._died(worker))
            return False
        result, error = self._try_unpack(worker, reply)
        with self._changed:
            job, i = worker.pending.popleft()
            if error is not None:
                job.error = error
            job.results[i] = result
            job.n_left -= 1
            self._dispatch()
            self._changed.notify_all()
        return True

    def _on_end(self, worker):
        with self._changed:
            if worker not in self._workers or self._closed:
                return
        try:
            while worker.conn.poll():
                if not self._receive_from(worker):
                    return
        except OSError:
            pass
        with self._changed:
            if worker in self._workers and not self._closed:
                self._fail(self._died(worker))

    def _try_unpack(self, worker, reply):
        try:
            return self._unpack(worker, reply)
        except Exception as e:  # the examples cannot be unpickled here
            # As text: the frames of a traceback would keep the files of the workers open.
            text = traceback.format_exc()
            e.__traceback__ = e.__context__ = None
            e.__cause__ = _RemoteTraceback(text)
            return None, e

    def _unpack(self, worker, reply):
        """Returns the examples and the error of a reply."""
        kind = reply[0]
        if kind == 'error':
            _, pickled, text = reply
            try:
                error = pickle.loads(pickled)
            except Exception:
                error = RuntimeError('reading the dataset failed in a worker process')
            error.__cause__ = _RemoteTraceback(text)
            return None, error
        if kind == 'inline':
            _, data, buffers = reply
            return pickle.loads(data, buffers=[bytearray(b) for b in buffers]), None
        _, data, _, start, sizes = reply
        # The slot is overwritten soon, so the arrays get a block of their own.
        block = numpy.empty(sum(map(_aligned, sizes)), numpy.uint8)
        block[:] = numpy.frombuffer(worker.memory, numpy.uint8, len(block), start)
        view = memoryview(block)
        buffers = []
        offset = 0
        for size in sizes:
            buffers.append(view[offset : offset + size])
            offset += _aligned(size)
        return pickle.loads(data, buffers=buffers), None

    def _died(self, worker):
        worker.process.join(1)
        return WorkerDied(
            f'a worker process (pid {worker.process.pid}) that reads the dataset died '
            f'unexpectedly, exit code {worker.process.exitcode}'
        )

    def _fail(self, error):
        """Fails all jobs (lock held)."""
        self._error = error
        self._closed = True
        self._changed.notify_all()

    @property
    def broken(self) -> bool:
        """Whether a process died or the pool is closed."""
        return self._closed

    def close(self) -> None:
        """Ends the processes, within a few seconds."""
        with self._changed:
            self._closed = True
        self._wake()
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(1)
            _end(worker.process)
        thread = getattr(self, '_thread', None)
        if thread is not None and thread is not threading.current_thread():
            thread.join(1)
            if thread.is_alive():
                return  # it still reads; what it reads from closes with the pool
        for conn in self._conns():
            conn.close()
        for worker in self._workers:
            worker.pending.clear()
        # A process has files as long as there is its object.
        self._workers = []
        self._retired = []


@contextlib.contextmanager
def _socket_of(conn):
    """Lends the socket of a connection, to send files.

    The functions of ``multiprocessing.reduction`` duplicate its descriptor. A process forked
    meanwhile would keep the duplicate, and a worker would not see its parent end. Since Python 3.14
    the receiver also answers, between the messages of the connection.
    """
    sock = socket.socket(fileno=conn.fileno())
    try:
        yield sock
    finally:
        sock.detach()


def _send_file(conn, file):
    with _socket_of(conn) as sock:
        socket.send_fds(sock, [b'f'], [file])  # a message must have data


def _receive_file(conn):
    with _socket_of(conn) as sock:
        data, files, _, _ = socket.recv_fds(sock, 1, 1)
    if not data:
        raise EOFError
    return files[0]


def _end(process):
    if process.is_alive():
        process.kill()
        process.join(1)


def _aligned(size):
    return -(-size // 64) * 64


def _run_worker(conn, dataset, shared_mem):
    """Main function of the worker processes."""
    threading.Thread(target=_end_with_parent, args=(conn,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    slots = _Slots(shared_mem)
    while True:
        try:
            message = conn.recv()
        except (EOFError, OSError):
            return
        if message is None:
            return
        indices, seed = message
        indices = numpy.frombuffer(indices, numpy.int64).tolist()
        _seed(seed)
        memory = None
        try:
            buffers = []
            data = pickle.dumps([dataset[i] for i in indices], 5, buffer_callback=buffers.append)
            reply, memory = slots.pack(data, [buffer.raw() for buffer in buffers], len(indices))
        except Exception as e:
            try:
                pickled = pickle.dumps(e)
            except Exception:
                pickled = b''
            reply = 'error', pickled, traceback.format_exc()
        try:
            conn.send(reply)
            if memory is not None:
                _send_file(conn, memory)
                os.close(memory)
        except OSError:
            return


def _seed(seed):
    numpy.random.seed(seed)
    random.seed(seed)
    if chainerx.is_available():
        # Only ChainerX's own generator: whether programs use it is their choice.
        chainerx._core._random_seed(seed)


def _end_with_parent(conn):
    """Ends the worker with the other end of the pipe, also while it reads an example."""
    poll = select.poll()
    poll.register(conn, 0)  # for nothing but the end
    poll.poll()
    os._exit(0)


class _Slots:
    """Shared memory of a worker: two slots for alternating results.

    The memory is a file without a name, so nothing is left of it after the processes.
    """

    def __init__(self, shared_mem: int | None) -> None:
        self._shared_mem = shared_mem
        self._memory: mmap.mmap | None = None
        self._slot_size = 0
        self._slot = 0

    def pack(self, data: Any, buffers: Any, n_examples: int) -> Any:
        """Returns a message with a pickle and its buffers, and the file to send after it."""
        self._slot = 1 - self._slot
        sizes = [buffer.nbytes for buffer in buffers]
        total = sum(map(_aligned, sizes))
        memory = None
        if total > self._slot_size:
            memory = self._allocate(total, n_examples)
        if self._memory is None or total > self._slot_size or total == 0:
            return ('inline', data, [bytes(buffer) for buffer in buffers]), None
        start = offset = self._slot * self._slot_size
        for buffer, size in zip(buffers, sizes):
            self._memory[offset : offset + size] = buffer
            offset += _aligned(size)
        return ('shared', data, memory is not None, start, sizes), memory

    def _allocate(self, total, n_examples):
        """Makes larger slots, if allowed and possible; returns the file."""
        if self._shared_mem is not None:
            size = self._shared_mem * n_examples
            if self._memory is not None or size < total:
                return None
        else:
            size = total + total // 4
        size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        fd = None
        try:
            fd = os.memfd_create('chainer-batch')
            # Reserves the space: writing without memory is a bus error.
            os.posix_fallocate(fd, 0, 2 * size)
            self._memory = mmap.mmap(fd, 2 * size)
        except OSError:
            if fd is not None:
                os.close(fd)
            return None
        self._slot_size = size
        return fd
