"""The thread of each rank that writes checkpoints while the training goes on."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from chainermn._checkpoints import files
from chainermn._mpi import mpi
from chainermn._tcp.engine import RankLostError

if TYPE_CHECKING:
    from chainermn._checkpoints.capture import Part

_PAUSE = 0.002  # seconds between looks for messages: waiting in MPI would take a core


class Writer:
    """Writes the parts of all ranks, and makes a checkpoint of them when they are there.

    Each rank writes its part in a thread and reports to rank 0, which makes the checkpoint complete
    when all have reported, and tells them.

    Args:
        comm: Communicator.

    """

    #: Tag of the messages: those of different kinds of writers may be under way.
    tag: int
    #: What an error says about a checkpoint.
    failure: str

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self._thread: threading.Thread | None = None
        self._error: RuntimeError | None = None

    def start(self, place: Any, checkpoint: Any, part: Part) -> None:
        """Begins to write a checkpoint; the one before must be complete.

        Args:
            place: Where to.
            checkpoint: Name of the checkpoint.
            part: Part of this rank.

        """
        if self._comm.size > 1 and mpi().Query_thread() < mpi().THREAD_MULTIPLE:
            self._run(place, checkpoint, part)
            return
        self._thread = threading.Thread(
            target=self._run, args=(place, checkpoint, part), name='checkpoint', daemon=True
        )
        self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Waits until the checkpoint that is being written is complete.

        Args:
            seconds: Most seconds to wait.

        Raises:
            RankLostError: If another rank was lost before it was complete.
            RuntimeError: If it could not be written.

        """
        if self._thread is not None:
            self._thread.join(seconds)
            self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _write(self, place: Any, checkpoint: Any, part: Part) -> files.File:
        """Writes the part of this rank."""
        raise NotImplementedError

    def _complete(self, place: Any, checkpoint: Any, reports: list[files.File]) -> int:
        """Makes the checkpoint complete, on rank 0; returns what :meth:`_finish` gets."""
        raise NotImplementedError

    def _finish(self, place: Any, checkpoint: Any, answer: int) -> None:
        """Removes what is not needed any more, on each rank."""
        raise NotImplementedError

    def _run(self, place: Any, checkpoint: Any, part: Part) -> None:
        own: Any
        try:
            own = self._write(place, checkpoint, part)
        except Exception as e:  # the others must not wait for this rank
            own = _describe(self._comm.rank, e)
        del part
        failure = self.failure.format(checkpoint)
        answer: str | int
        try:
            if self._comm.rank == 0:
                answer = self._commit(place, checkpoint, own)
            else:
                self._send(own, 0)
                answer = self._receive(0)
        except RankLostError as e:
            self._error = RankLostError(f'{failure}: {e}')
            return
        if isinstance(answer, str):
            self._error = RuntimeError(f'{failure}: {answer}')
        else:
            self._finish(place, checkpoint, answer)

    def _commit(self, place: Any, checkpoint: Any, own: Any) -> str | int:
        """Makes the checkpoint complete when all have reported; returns the error, if any."""
        others = range(1, self._comm.size)
        reports = [own, *[self._receive(rank) for rank in others]]
        answer: str | int = '; '.join([report for report in reports if isinstance(report, str)])
        if not answer:
            try:
                answer = self._complete(place, checkpoint, reports)
            except Exception as e:
                answer = _describe(0, e)
        for rank in others:
            self._send(answer, rank)
        return answer

    def _send(self, message: Any, rank: int) -> None:
        request = self._comm.background_comm.isend(message, rank, self.tag)
        while not request.Test():
            time.sleep(_PAUSE)

    def _receive(self, rank: int) -> Any:
        mpi_comm = self._comm.background_comm
        while not mpi_comm.iprobe(rank, self.tag):
            time.sleep(_PAUSE)
        return mpi_comm.recv(source=rank, tag=self.tag)


class FileWriter(Writer):
    """Writes files, then the manifest: a rank that dies before leaves none.

    Args:
        comm: Communicator.
        keeps: Number of newest checkpoints to keep.
        gc_interval: Number of checkpoints after which older ones are removed.

    """

    tag = 7
    failure = 'the checkpoint {0.manifest} was not written'

    def __init__(self, comm: Any, keeps: int, gc_interval: int) -> None:
        super().__init__(comm)
        self._keeps = keeps
        self._gc_interval = gc_interval
        self._count = 0

    def _write(self, place: str, checkpoint: files.Checkpoint, part: Part) -> files.File:
        return files.write_part(place, checkpoint.part(self._comm.rank), part)

    def _complete(self, place: str, checkpoint: files.Checkpoint, reports: Any) -> int:
        """Returns the oldest iteration to keep."""
        files.write_manifest(place, checkpoint, reports)
        self._count += 1
        if self._count % self._gc_interval:
            return 0
        oldest = files.find(place, checkpoint.name)[-self._keeps :][0].iteration
        # Manifests go before the parts: what is left of a checkpoint is none.
        files.remove_manifests(place, checkpoint.name, oldest)
        return oldest

    def _finish(self, place: str, checkpoint: files.Checkpoint, answer: int) -> None:
        files.remove_parts(
            place, checkpoint.name, answer, lambda r: r % self._comm.size == self._comm.rank
        )


def _describe(rank: int, error: Exception) -> str:
    return f'rank {rank}: {type(error).__name__}: {error}'
