"""Checkpoints of all processes, from which training resumes."""

from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from chainer import configuration
from chainer.serializers import npz
from chainer.training import _files, extension

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

# Position of an iterator in its part of the data. With another number of processes, the parts
# differ, so it is invalid.
_POSITION = re.compile(r'.*iterator:.*/(order|_order|current_position)')


def create_multi_node_checkpointer(
    name: str,
    comm: MpiCommunicatorBase,
    cp_interval: int = 5,
    gc_interval: int = 5,
    path: str | None = None,
) -> Any:
    """Makes an extension that saves the trainers of all processes regularly; collective.

    Each process writes a file, ``<name>.<iteration>.<rank>.of.<size>``, which gets its name when it
    is complete and on disk. A checkpoint is valid once all processes have written their files, so
    processes may die at any time.

    The method ``maybe_load(trainer)`` of the extension, which is collective, resumes from the
    latest checkpoint, if there is one, bit for bit. With another number of processes, the current
    epoch starts over. Files of Chainer 7, ``<name>.<iteration>.<rank>``, need the number of
    processes that wrote them.

    Args:
        name (str): Name of the training, with which its files begin.
        comm (CommunicatorBase): Communicator.
        cp_interval (int): Number of latest checkpoints to keep.
        gc_interval (int): Number of checkpoints after which older ones are deleted.
        path (str): Folder of the files; by default that of the trainer's results. Processes that
            do not share it need their own files only.

    Returns:
        Extension, by default called after each epoch.

    Raises:
        ValueError: If an interval is not positive.

    .. admonition:: Example

        >>> import os, tempfile
        >>> from chainer import testing
        >>> comm = chainermn.create_communicator('naive')
        >>> trainer = testing.get_trainer_with_mock_updater((2, 'iteration'))
        >>> checkpointer = chainermn.create_multi_node_checkpointer('mine', comm)
        >>> with tempfile.TemporaryDirectory() as trainer.out:
        ...     checkpointer.maybe_load(trainer)
        ...     trainer.extend(checkpointer, trigger=(1, 'iteration'))
        ...     trainer.run()
        ...     sorted(os.listdir(trainer.out))
        ['mine.1.0.of.1', 'mine.2.0.of.1']

    """
    for argument, value in ('cp_interval', cp_interval), ('gc_interval', gc_interval):
        if value < 1:
            raise ValueError(f'{argument} must be positive, but is {value}')
    return _Checkpointer(name, comm, cp_interval, gc_interval, path)


class _File(NamedTuple):
    iteration: int
    rank: int
    size: int  # number of processes that wrote
    suffix: str  # names of Chainer 7 do not have the size


class _Checkpointer(extension.Extension):
    """Extension that saves the trainers of all processes."""

    trigger: TriggerSpec = 1, 'epoch'
    priority = -100

    def __init__(self, name: str, comm: Any, keeps: int, gc_interval: int, path: Any) -> None:
        # The trainer takes the attribute `name` for the name of the extension.
        self._file_name = name
        self._comm = comm
        self._keeps = keeps
        self._gc_interval = gc_interval
        self._path = path
        self._count = 0

    def _folder(self, trainer: Trainer) -> str:
        return trainer.out if self._path is None else self._path

    def _name_of(self, file: _File) -> str:
        return f'{self._file_name}.{file.iteration}.{file.rank}{file.suffix}'

    def _find(self, folder: str) -> set[_File]:
        pattern = re.compile(re.escape(self._file_name) + r'\.(\d+)\.(\d+)(\.of\.(\d+))?')
        if not os.path.isdir(folder):
            return set()
        files = set()
        too_large = set()
        for match in filter(None, map(pattern.fullmatch, os.listdir(folder))):
            iteration, rank = int(match[1]), int(match[2])
            size = int(match[4] or self._comm.size)
            files.add(_File(iteration, rank, size, match[3] or ''))
            if rank >= size:  # files of Chainer 7 need the number of processes that wrote them
                too_large.add(iteration)
        return {f for f in files if f.suffix or f.iteration not in too_large}

    def __call__(self, trainer: Trainer) -> None:
        folder = self._folder(trainer)
        os.makedirs(folder, exist_ok=True)
        with configuration.using_config('exact_resume', 'always'):
            state = npz.serialize(trainer)
        size = self._comm.size
        file = _File(trainer.updater.iteration, self._comm.rank, size, f'.of.{size}')
        with _files.atomic_file(os.path.join(folder, self._name_of(file))) as path:
            npz.save_npz(path, _State(state), compression=False)
        self._count += 1
        if self._count % self._gc_interval == 0:
            self._collect(folder)

    def _common(self, found: set[_File]) -> list[tuple[int, int, str]]:
        """Iteration, number and suffix of files that all processes can load; collective."""
        rank = self._comm.rank
        own = {(f.iteration, f.size, f.suffix) for f in found if f.rank == rank % f.size}
        return sorted(set.intersection(*self._comm.allgather_obj(own)))

    def _collect(self, folder: str) -> None:
        found = self._find(folder)
        common = self._common(found)[-self._keeps :]
        for file in found:
            # Each file of a larger run has one process that removes it.
            is_own = file.rank % self._comm.size == self._comm.rank
            if common and is_own and (file.iteration, file.size, file.suffix) < common[0]:
                try:
                    os.remove(os.path.join(folder, self._name_of(file)))
                except FileNotFoundError:
                    pass

    def finalize(self) -> None:
        """Keeps the files, from which a later run may resume."""

    def maybe_load(self, trainer: Trainer, optimizer: Any = None, path: str | None = None) -> None:
        """Resumes from the latest checkpoint that all processes have; collective.

        Args:
            trainer (Trainer): Trainer with all its extensions.
            optimizer: Ignored: it belongs to the trainer.
            path (str): Folder of the files; by default that of the extension.

        Raises:
            RuntimeError: If there are checkpoints, but none of them can be loaded.

        """
        folder = self._folder(trainer) if path is None else path
        common = self._common(self._find(folder))
        # Of one iteration, prefer the checkpoint of the current number of processes.
        common.sort(key=lambda pair: (pair[0], pair[1] == self._comm.size))
        for iteration, size, suffix in reversed(common):
            file = _File(iteration, self._comm.rank % size, size, suffix)
            error = self._try_load(trainer, os.path.join(folder, self._name_of(file)), size)
            # All processes load the same checkpoint, so the failure of one is that of all.
            errors = [e for e in self._comm.allgather_obj(error) if e is not None]
            if not errors:
                return
            warnings.warn(
                f'The checkpoint of iteration {iteration} cannot be loaded, so an older one is '
                f'tried: {"; ".join(errors)}'
            )
        if common:
            raise RuntimeError(f'no checkpoint of {self._file_name} in {folder} can be loaded')

    def _try_load(self, trainer: Trainer, path: str, size: int) -> str | None:
        """Loads a file; returns the text of the error if that fails."""
        try:
            npz.load_npz(path, trainer, ignore_names=self._ignored(size))
        except Exception as e:  # a damaged file may raise anything
            return f'{path}: {str(e) or type(e).__name__}'
        return None

    def _ignored(self, size: int) -> Any:
        if size == self._comm.size:
            return None
        return lambda name: _POSITION.fullmatch(name) is not None


class _State(dict[str, Any]):
    """Serialized object."""

    def serialize(self, serializer: Any) -> None:
        for key, array in self.items():
            serializer(key, None if array.dtype == object else array)  # npz stores None so
