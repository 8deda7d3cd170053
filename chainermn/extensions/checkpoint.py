"""Checkpoints of all processes, from which training resumes."""

from __future__ import annotations

import os
import secrets
import warnings
from typing import TYPE_CHECKING, Any

from chainer._core.data import temporary_folder
from chainer.training import extension
from chainermn._checkpoints import capture, earlier, files, memory, restore, writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


def create_multi_node_checkpointer(
    name: str,
    comm: MpiCommunicatorBase,
    cp_interval: int = 5,
    gc_interval: int = 5,
    path: str | None = None,
) -> Any:
    """Makes an extension that saves the trainers of all processes regularly; collective.

    Any number of processes can load a checkpoint. Process :math:`r` of :math:`n` writes a file in
    safetensors format, ``<name>.<iteration>.<r>.of.<n>.safetensors``, with

    - elements :math:`\\lfloor sr/n \\rfloor` up to :math:`\\lfloor s(r+1)/n \\rfloor` of what all
      processes have in common, joined in the order of the names, :math:`s` elements in all: the
      parameters of multi-node optimizers on ``comm``, and their state unless it is sharded;
    - its part of the state of sharded optimizers;
    - everything else that it has itself: values that are not parameters, such as statistics of
      batch normalization, models of other optimizers, extensions, random states, and iterators,
      with the numbers of the samples of its part of a scattered dataset.

    The training goes on after these values are copied; a thread writes them. When all processes
    have reported that their files are on disk, process 0 writes the manifest,
    ``<name>.<iteration>.of.<n>.json``, with the size and the SHA-256 of each file. There is no
    checkpoint without its manifest, so processes may die at any time. The next checkpoint, and
    the end of the training, wait for the one before.

    The method ``maybe_load(trainer)`` of the extension, which is collective, resumes from the
    latest checkpoint that is undamaged, if there is one. With the same number of processes, the
    training is the same bit for bit. Another number of processes takes up the epoch: those samples
    that have not been seen in it are divided between them in the order in which they would
    have come. So each sample is seen once an epoch, except that
    :func:`~chainermn.scatter_dataset` puts up to :math:`n - 1` samples into two parts of equal
    length. Orders that are drawn in later epochs depend on the number of processes, unless all
    draw the same, see :func:`~chainermn.iterators.create_synchronized_iterator`. A process that
    was not there before takes over what process :math:`r \\bmod n` had itself, with other random
    numbers. An iterator over data that the program divides in another way starts the epoch over.

    The attribute ``in_memory`` is another extension, which keeps the state in memory, for programs
    of :func:`~chainermn.run_elastic`: each process holds its own part, and a copy of that of the
    process before it. By default it is called every 10 iterations. If processes are lost,
    ``maybe_load`` then resumes from the newest state of which all parts are left, in memory or on
    disk. Copies travel while the training goes on. A process holds twice its part of the state, and
    four times while a new copy is made. Without ``run_elastic``, and over MPI, it does nothing.

    Checkpoints of Chainer 7, of files ``<name>.<iteration>.<rank>``, load with the number of
    processes that wrote them.

    Args:
        name (str): Name of the training, with which its files begin.
        comm (CommunicatorBase): Communicator.
        cp_interval (int): Number of latest checkpoints to keep.
        gc_interval (int): Number of checkpoints after which older ones are deleted.
        path (str): Folder of the files; by default that of the trainer's results. Processes that
            do not share it need their own files only, and process 0 the manifest.

    Returns:
        Extension, by default called after each epoch.

    Raises:
        ValueError: If an interval is not positive.

    .. admonition:: Example

        >>> import os
        >>> comm = chainermn.create_communicator('naive')
        >>> checkpointer = chainermn.create_multi_node_checkpointer('mine', comm)
        >>> checkpointer.maybe_load(trainer)
        >>> trainer.extend(checkpointer, trigger=(1, 'epoch'))
        >>> trainer.run()
        >>> sorted(os.listdir(trainer.out))[:2]
        ['mine.4.0.of.1.safetensors', 'mine.4.of.1.json']

    """
    for argument, value in ('cp_interval', cp_interval), ('gc_interval', gc_interval):
        if value < 1:
            raise ValueError(f'{argument} must be positive, but is {value}')
    return _Checkpointer(name, comm, cp_interval, gc_interval, path)


class _Checkpointer(extension.Extension):
    """Extension that saves the trainers of all processes."""

    trigger: TriggerSpec = 1, 'epoch'
    priority = -100

    def __init__(self, name: str, comm: Any, keeps: int, gc_interval: int, path: Any) -> None:
        # The trainer takes the attribute `name` for the name of the extension.
        self._file_name = name
        self._comm = comm
        self._path = path
        self._writer = writer.FileWriter(comm, keeps, gc_interval)
        self.in_memory = _MemoryCopies(name, comm, self._folder)

    def _folder(self, trainer: Trainer) -> str:
        return trainer.out if self._path is None else self._path

    def __call__(self, trainer: Trainer) -> None:
        self._wait()
        folder = self._folder(trainer)
        os.makedirs(folder, exist_ok=True)
        comm = self._comm
        checkpoint = files.Checkpoint(self._file_name, trainer.updater.iteration, comm.size)
        if comm.rank == 0:  # no manifest may stay while the files of an old checkpoint change
            files.remove(folder, checkpoint)
        self._writer.start(folder, checkpoint, capture.take_part(trainer, comm))

    def _wait(self) -> None:
        with self._comm.calls.watching('checkpoint'):
            self._writer.wait()

    def finalize(self) -> None:
        """Waits until the last checkpoint is complete; keeps all, for later runs."""
        self._wait()

    def maybe_load(self, trainer: Trainer, optimizer: Any = None, path: str | None = None) -> None:
        """Resumes from the latest complete checkpoint; collective.

        Args:
            trainer (Trainer): Trainer with all its extensions, before its first iteration.
            optimizer: Ignored: it belongs to the trainer.
            path (str): Folder of the files; by default that of the extension.

        Raises:
            RuntimeError: If there are checkpoints, but none of them can be loaded.

        """
        folder = self._folder(trainer) if path is None else path
        found = self._find(folder)
        for checkpoint in found:
            error = self._try_load(trainer, folder, checkpoint)
            # All processes load the same checkpoint, so the failure of one is that of all.
            errors = [e for e in self._comm.allgather_obj(error) if e is not None]
            if not errors:
                return
            warnings.warn(
                f'The checkpoint of iteration {checkpoint.iteration} cannot be loaded, so an older '
                f'one is tried: {"; ".join(dict.fromkeys(errors))}'
            )
        if found:
            raise RuntimeError(f'no checkpoint of {self._file_name} in {folder} can be loaded')

    def _find(self, folder: str) -> list[Any]:
        """Returns the checkpoints, the best one first; collective."""
        comm = self._comm
        complete = None
        if comm.rank == 0:
            complete = files.find(folder, self._file_name)
            if os.path.isdir(folder):
                temporary_folder.remove_leftovers(folder)
        found = [*earlier.find(folder, self._file_name, comm), *comm.bcast_obj(complete)]
        kept = memory.memory_of(folder, self._file_name)
        if kept is not None:
            found += kept.find(comm)
        # Of one iteration, prefer what is in memory, then the current number of processes.
        return sorted(
            found,
            key=lambda c: (c.iteration, isinstance(c, memory.State), c.n_ranks == comm.size),
            reverse=True,
        )

    def _try_load(self, trainer: Trainer, folder: str, checkpoint: Any) -> str | None:
        """Loads a checkpoint; returns the text of the error if that fails."""
        comm = self._comm
        try:
            if isinstance(checkpoint, earlier.Checkpoint):
                earlier.load(trainer, comm, folder, checkpoint)
                return None
            kept = memory.memory_of(folder, self._file_name)
            if kept is not None and isinstance(checkpoint, memory.State):
                contents = kept.read(comm, checkpoint)
            else:
                contents = restore.read_files(comm, folder, checkpoint)
            restore.load(trainer, comm, checkpoint.n_ranks, contents)
        except Exception as e:  # a damaged file may raise anything
            return str(e) or type(e).__name__
        return None


class _MemoryCopies(extension.Extension):
    """Extension that keeps the state of the trainers in memory.

    Args:
        name: Name of the training.
        comm: Communicator.
        folder_of: Returns the folder of the files of a trainer.

    """

    trigger: TriggerSpec = 10, 'iteration'
    priority = -101  # after that for files, so that the state has the decisions of all triggers

    def __init__(self, name: str, comm: Any, folder_of: Callable[[Trainer], str]) -> None:
        self._file_name = name
        self._comm = comm
        self._folder_of = folder_of
        self._writer = memory.MemoryWriter(comm)

    def __call__(self, trainer: Trainer) -> None:
        kept = memory.memory_of(self._folder_of(trainer), self._file_name)
        if kept is None:
            return
        self.finalize()
        comm, iteration = self._comm, trainer.updater.iteration
        checkpoint = files.Checkpoint(self._file_name, iteration, comm.size)
        state = memory.State(checkpoint, comm.bcast_obj(secrets.token_hex(8)))
        self._writer.start(kept, state, capture.take_part(trainer, comm))

    def finalize(self) -> None:
        """Waits until all processes have the last copy."""
        with self._comm.calls.watching('checkpoint'):
            self._writer.wait()
