"""States in the memory of the ranks, from which those go on that are left when some are lost.

Each rank holds its own part of the state and a copy of that of the rank before it, as the bytes of
the files that :mod:`.files` knows. A state is whole if its parts are there, whichever rank holds
them. The previous one goes when all ranks hold the new one.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from chainermn import _recorder
from chainermn._checkpoints import files, restore
from chainermn._checkpoints.writer import Writer
from chainermn._mpi import mpi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainermn._checkpoints.capture import Part

_CHUNK = 1 << 26  # bytes of a message: MPI counts them in 31 bits


class State(NamedTuple):
    """Name of a state."""

    checkpoint: files.Checkpoint
    token: str  # tells it from others of the same iteration, such as one before a loss

    @property
    def iteration(self) -> int:
        return self.checkpoint.iteration

    @property
    def n_ranks(self) -> int:
        return self.checkpoint.n_ranks


class Memory:
    """What this rank holds of the states of a training.

    Attributes:
        writer: What may still write to it.

    """

    def __init__(self) -> None:
        self._parts: dict[State, dict[int, tuple[files.File, Any]]] = {}
        self.writer: Writer | None = None

    def hold(self, state: State, number: int, file: files.File, data: Any) -> None:
        """Keeps the part of a rank."""
        self._parts.setdefault(state, {})[number] = file, data

    def keep_only(self, state: State) -> None:
        """Forgets all other states."""
        self._parts = {state: self._parts[state]}

    def find(self, comm: Any) -> list[State]:
        """Returns the states that are whole, and forgets the others; collective."""
        if self.writer is not None:
            with contextlib.suppress(RuntimeError):  # of the rank that was lost
                self.writer.wait()
        found: dict[State, set[int]] = {}
        for parts in comm.allgather_obj({state: {*own} for state, own in self._parts.items()}):
            for state, numbers in parts.items():
                found.setdefault(state, set()).update(numbers)
        whole = [state for state, numbers in found.items() if len(numbers) == state.n_ranks]
        self._parts = {state: self._parts.get(state, {}) for state in whole}
        if found and not whole and comm.rank == 0:
            newest = max(found)
            lost = sorted({*range(newest.n_ranks)} - found[newest])
            print(
                f'chainermn: memory lacks the parts of ranks {_recorder.describe_ranks(lost)} '
                f'of the state of iteration {newest.iteration}, so the latest checkpoint on disk '
                'is loaded, if there is one',
                file=sys.stderr,
                flush=True,
            )
        return whole

    def read(self, comm: Any, state: State) -> Iterator[bytes]:
        """Reads the parts of a state, of which two ranks hold each then; collective."""
        parts = self._parts[state]

        def read(number: int) -> tuple[files.File, Any]:
            file, data = parts[number]
            files.check(f'{file.name} in memory', data, file)
            return file, data

        own = [number in parts for number in range(state.n_ranks)]
        places = {comm.rank, (comm.rank - 1) % comm.size}
        for number, (file, data) in enumerate(restore.share_all(comm, own, read)):
            if number % comm.size in places:
                self.hold(state, number, file, data)
            yield data


class MemoryWriter(Writer):
    """Copies the part of each rank to the next one."""

    tag = 8
    failure = 'the copy of {0.checkpoint.manifest} in memory was not made'

    def start(self, place: Memory, checkpoint: State, part: Part) -> None:
        place.writer = self
        super().start(place, checkpoint, part)

    def _write(self, place: Memory, checkpoint: State, part: Part) -> files.File:
        rank, size = self._comm.rank, self._comm.size
        file: Any = None
        data = b''
        try:
            file, data = files.pack_part(checkpoint.checkpoint.part(rank), part)
            place.hold(checkpoint, rank, file, data)
        finally:  # the next rank must not wait for this one
            if size > 1:
                before = (rank - 1) % size
                theirs = self._exchange(file, data, (rank + 1) % size, before)
                if theirs[0] is not None:
                    place.hold(checkpoint, before, *theirs)
        return file

    def _exchange(self, file: files.File | None, data: bytes, after: int, before: int) -> Any:
        """Sends the part of this rank to the one after it; returns that of the one before it."""
        self._send(file, after)
        their_file = self._receive(before)
        their_data = bytearray(0 if their_file is None else their_file.size)
        comm = self._comm.background_comm
        requests = [comm.Irecv(chunk, before, self.tag) for chunk in _chunks(their_data)]
        requests += [comm.Isend(chunk, after, self.tag) for chunk in _chunks(data)]
        mpi().Request.Waitall(requests)
        return their_file, their_data

    def _complete(self, place: Memory, checkpoint: State, reports: list[files.File]) -> int:
        return 0

    def _finish(self, place: Memory, checkpoint: State, answer: int) -> None:
        place.keep_only(checkpoint)


def _chunks(data: Any) -> Iterator[memoryview]:
    for start in range(0, len(data), _CHUNK):
        yield memoryview(data)[start : start + _CHUNK]


# By folders and names of trainings, while a program runs that starts again when a rank is lost.
_memories: dict[tuple[str, str], Memory] | None = None


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Context in which states are kept."""
    global _memories
    previous, _memories = _memories, {}
    try:
        yield
    finally:
        _memories = previous


def memory_of(folder: str, name: str) -> Memory | None:
    """Returns what is kept of a training; ``None`` if nobody could make use of it."""
    if _memories is None:
        return None
    return _memories.setdefault((os.path.abspath(folder), name), Memory())
