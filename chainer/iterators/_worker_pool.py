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
import multiprocessing
import threading
import warnings
import zlib
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.processes import forks, start_method
from chainer.iterators import _worker_process
from chainer.iterators._worker import Chunk, Job, Worker, WorkerDied

with contextlib.suppress(ImportError):  # Windows does not have them
    # Otherwise the first start of a process imports them, see LookaheadIterator.
    from multiprocessing import popen_fork, resource_tracker  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.types import Dataset

_MAX_CHUNK = 1000  # 8 KB of indices; a pipe holds at least 64 KB


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
        self._queue: collections.deque[Chunk] = collections.deque()
        self._workers: list[Worker] = []
        # The receiving thread may be reading from them, so it closes them.
        self._retired: list[Worker] = []
        # The pipe of the worker that a thread starts, and the thread.
        self._starting: tuple[Any, Any, int] | None = None
        self._closed = False
        self._error: BaseException | None = None  # set when a worker died
        self._wake_recv, self._wake_send = multiprocessing.Pipe(duplex=False)
        forks.register(self)
        self._start()

    def _start(self):
        try:
            for _ in range(self._n_processes):
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
        process = context.Process(
            target=_worker_process.run, args=(child_conn, *self._args), daemon=True
        )
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
        self._workers.append(Worker(process, conn, self._maxtasks))

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

    def submit(self, indices: numpy.ndarray, seed: int) -> Job:
        """Starts fetching examples; returns a job."""
        size = min(-(-len(indices) // self._n_processes), _MAX_CHUNK)
        chunks = [indices[i : i + size] for i in range(0, len(indices), size)]
        job = Job(len(chunks))
        with self._changed:
            for i, chunk in enumerate(chunks):
                request = chunk.astype(numpy.int64).tobytes(), zlib.crc32(b'%d' % i, seed)
                self._queue.append(Chunk(job, i, request))
        self._resume()
        return job

    def _replace_retired(self):
        """Starts successors of retired workers (main thread only)."""
        if self._maxtasks is None:
            return
        with self._changed:
            retired = [worker for worker in self._workers if worker.is_retired]
            for worker in retired:
                self._workers.remove(worker)
        for worker in retired:
            worker.retire()
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
            free = [worker for worker in self._workers if worker.is_free]
            if not free:
                return
            worker = min(free, key=lambda worker: len(worker.pending))
            chunk = self._queue.popleft()
            if chunk.job.cancelled:
                continue
            try:
                worker.send(chunk)
            except OSError:
                self._fail(worker.death())
                return

    def wait(self, job: Job, timeout: float, on_timeout: Callable[[], None]) -> list[Any]:
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
            # Also if the job is done: an idle worker that dies is an error, too.
            self._raise_error(job)
            if done:
                return [example for part in job.results for example in part]
            if self._maxtasks is None:
                on_timeout()
            else:
                self._resume()

    def _raise_error(self, job):
        error = self._error or job.error
        if error is not None:
            try:
                raise error
            finally:
                # Its traceback leads back here: a circle would keep the files of the pool open.
                self._error = job.error = error = None

    def _resume(self):
        """Gives waiting chunks to the workers, to those that replace retired ones, too."""
        self._replace_retired()
        with self._changed:
            self._dispatch()
        self._wake()  # to look at new workers too

    def cancel(self, job: Job) -> None:
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
                workers = self._workers.copy()
            self._receive_next(workers)

    def _receive_next(self, workers):
        """Waits until something comes from workers, or this thread is woken."""
        by_conn = {worker.conn: worker for worker in workers}
        by_sentinel = {worker.process.sentinel: worker for worker in workers}
        try:
            ready = connection.wait([self._wake_recv, *by_conn, *by_sentinel])
        except OSError:  # a pipe was closed meanwhile
            return
        if self._wake_recv in ready:
            self._wake_recv.recv()
        for conn in by_conn.keys() & ready:
            self._receive_from(by_conn[conn])
        # Whatever a process sent before it ended was received above or is now.
        for sentinel in by_sentinel.keys() & ready:
            if not by_sentinel[sentinel].conn.closed:
                self._on_end(by_sentinel[sentinel])

    def _receive_from(self, worker):
        """Takes a result; returns whether there was one."""
        try:
            examples, error = worker.receive()
        except (EOFError, OSError):
            self._fail_with(worker)
            return False
        with self._changed:
            chunk = worker.pending.popleft()
            chunk.job.complete(chunk.number, examples, error)
            self._dispatch()
            self._changed.notify_all()
        return True

    def _on_end(self, worker):
        with self._changed:
            if worker not in self._workers or self._closed:
                return
        with contextlib.suppress(OSError):
            while worker.conn.poll():
                if not self._receive_from(worker):
                    return
        self._fail_with(worker)

    def _fail_with(self, worker):
        """Fails all jobs because a worker died, unless it was to end."""
        with self._changed:
            if worker in self._workers and not self._closed:
                self._fail(worker.death())

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
            worker.wait()
        if not self._join_thread():
            return  # it still reads; what it reads from closes with the pool
        for conn in self._conns():
            conn.close()
        for worker in self._workers:
            worker.pending.clear()
        # A process has files as long as there is its object.
        self._workers = []
        self._retired = []

    def _join_thread(self):
        """Waits for the receiving thread; returns whether it has ended."""
        thread = getattr(self, '_thread', None)
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(1)
        return not thread.is_alive()
