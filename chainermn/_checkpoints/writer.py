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

_TAG = 7
_PAUSE = 0.002  # seconds between looks for messages: waiting in MPI would take a core


class Writer:
    """Writes the parts of all ranks, then the manifest.

    Each rank writes its file in a thread and reports to rank 0, which writes the manifest when all
    have reported, and tells them. A rank that dies before leaves no manifest.

    Args:
        comm: Communicator.
        keeps: Number of newest checkpoints to keep.
        gc_interval: Number of checkpoints after which older ones are removed.

    """

    def __init__(self, comm: Any, keeps: int, gc_interval: int) -> None:
        self._comm = comm
        self._keeps = keeps
        self._gc_interval = gc_interval
        self._count = 0
        self._thread: threading.Thread | None = None
        self._error: RuntimeError | None = None

    def start(self, folder: str, checkpoint: files.Checkpoint, part: Part) -> None:
        """Begins to write a checkpoint; the one before must be complete."""
        if self._comm.size > 1 and mpi().Query_thread() < mpi().THREAD_MULTIPLE:
            self._run(folder, checkpoint, part)
            return
        self._thread = threading.Thread(
            target=self._run, args=(folder, checkpoint, part), name='checkpoint', daemon=True
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

    def _run(self, folder: str, checkpoint: files.Checkpoint, part: Part) -> None:
        own: Any
        try:
            own = files.write_part(folder, checkpoint.part(self._comm.rank), part)
        except Exception as e:  # the others must not wait for this rank
            own = _describe(self._comm.rank, e)
        del part
        failure = f'the checkpoint {checkpoint.manifest} was not written'
        answer: str | int
        try:
            if self._comm.rank == 0:
                answer = self._commit(folder, checkpoint, own)
            else:
                self._send(own, 0)
                answer = self._receive(0)
        except RankLostError as e:
            self._error = RankLostError(f'{failure}: {e}')
            return
        if isinstance(answer, str):
            self._error = RuntimeError(f'{failure}: {answer}')
        else:
            files.remove_parts(
                folder, checkpoint.name, answer, lambda r: r % self._comm.size == self._comm.rank
            )

    def _commit(self, folder: str, checkpoint: files.Checkpoint, own: Any) -> str | int:
        """Writes the manifest when all have reported.

        Returns:
            The error, or the oldest iteration to keep.

        """
        others = range(1, self._comm.size)
        reports = [own, *[self._receive(rank) for rank in others]]
        answer: str | int = '; '.join([report for report in reports if isinstance(report, str)])
        if not answer:
            try:
                answer = self._write_manifest(folder, checkpoint, reports)
            except Exception as e:
                answer = _describe(0, e)
        for rank in others:
            self._send(answer, rank)
        return answer

    def _write_manifest(self, folder: str, checkpoint: files.Checkpoint, reports: Any) -> int:
        files.write_manifest(folder, checkpoint, reports)
        self._count += 1
        if self._count % self._gc_interval:
            return 0
        oldest = files.find(folder, checkpoint.name)[-self._keeps :][0].iteration
        # Manifests go before the parts: what is left of a checkpoint is none.
        files.remove_manifests(folder, checkpoint.name, oldest)
        return oldest

    def _send(self, message: Any, rank: int) -> None:
        request = self._comm.background_comm.isend(message, rank, _TAG)
        while not request.Test():
            time.sleep(_PAUSE)

    def _receive(self, rank: int) -> Any:
        mpi_comm = self._comm.background_comm
        while not mpi_comm.iprobe(rank, _TAG):
            time.sleep(_PAUSE)
        return mpi_comm.recv(source=rank, tag=_TAG)


def _describe(rank: int, error: Exception) -> str:
    return f'rank {rank}: {type(error).__name__}: {error}'
