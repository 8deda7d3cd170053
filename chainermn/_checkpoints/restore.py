"""The state of a rank, from the files of all ranks that wrote a checkpoint."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.data import random_state
from chainer.datasets import sub_dataset
from chainer.serializers import _storage, npz
from chainermn._checkpoints import files, layout, samples
from chainermn._sharding.parts import saving_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chainer.training.trainer import Trainer
    from chainermn._checkpoints.capture import Array, Part

_NUMPY_STATE = '_random_state/numpy/'
#: Place of an iterator in its part of the data: it means nothing in another division of the data.
PLACE = re.compile(r'(.*iterator:[^/]*/)(order|_order|current_position)')


def load(trainer: Trainer, comm: Any, n_ranks: int, contents: Iterator[bytes]) -> None:
    """Loads a checkpoint; collective.

    Args:
        trainer: Trainer.
        comm: Communicator.
        n_ranks: Number of ranks that wrote.
        contents: What their files hold.

    Raises:
        ValueError: If a file is missing or damaged; on all ranks.

    """
    iterators = _Iterators(trainer.updater, comm)
    assembly = _Assembly(comm, n_ranks)
    for rank, data in enumerate(contents):
        assembly.add(rank, files.parse_part(data))
    state = assembly.finish()
    parts, lost = iterators.move(state, assembly.progress, n_ranks)
    deserializer = npz.NpzDeserializer(state, ignore_names=lambda name: _prefix_of(name) in lost)
    with saving_parts():
        _storage.load_all_or_nothing(deserializer, trainer)
    for part, numbers in parts:
        sub_dataset.renumber(part, numbers)


def _prefix_of(name: str) -> str | None:
    match = PLACE.fullmatch(name)
    return None if match is None else match[1]


def read_files(comm: Any, folder: str, checkpoint: files.Checkpoint) -> Iterator[bytes]:
    """Reads the files of a checkpoint; collective."""
    found = _share(comm, 0, lambda: files.read_manifest(folder, checkpoint))
    own = [os.path.exists(os.path.join(folder, file.name)) for file in found]
    yield from share_all(comm, own, lambda number: files.read_bytes(folder, found[number]))


def share_all(comm: Any, own: list[bool], read: Callable[[int], Any]) -> Iterator[Any]:
    """Reads each file on a rank that has it, and sends it to all; collective.

    Args:
        comm: Communicator.
        own: Whether this rank has each file.
        read: Reads a file, by its number.

    """
    everywhere = comm.allgather_obj(own)
    for number in range(len(own)):
        # Different ranks read, so that a shared disk need not read a file many times.
        readers = [rank for rank, own in enumerate(everywhere) if own[number]] or [0]
        yield _share(comm, readers[number % len(readers)], lambda number=number: read(number))


def _share(comm: Any, root: int, read: Any) -> Any:
    """Sends what one rank reads to all; an error is raised on all."""
    result: tuple[Any, str | None] | None = None
    if comm.rank == root:
        try:
            result = read(), None
        except Exception as e:
            result = None, str(e) or type(e).__name__
    value, error = comm.bcast_obj(result, root=root)
    if error is not None:
        raise ValueError(error)
    return value


class _Assembly:
    """Arrays and values for one of the ranks that load.

    Args:
        comm: Communicator of these ranks.
        n_ranks: Number of ranks that wrote.

    """

    def __init__(self, comm: Any, n_ranks: int) -> None:
        self._rank = comm.rank
        self._size = comm.size
        self._n_ranks = n_ranks
        self._values: dict[str, Array] = {}
        self._arrays: dict[str, Array] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._missing: dict[str, int] = {}  # number of elements
        self._own: dict[str, dict[int, tuple[int, int]]] = {}  # of sharded optimizers
        self._rules: dict[str, bool] = {}  # prefixes of sharded rules, and whether one is here
        self._rule_values: dict[str, Array] = {}
        #: State of the iterators of all ranks that wrote, by their prefixes.
        self.progress: dict[str, list[tuple[Array, samples.Progress]]] = {}

    def add(self, rank: int, part: Part) -> None:
        """Takes from the file of a rank what this one needs."""
        if rank == self._rank % self._n_ranks:
            self._values = part.values
        for prefix in samples.prefixes_in(part.values):
            entry = samples.read_progress(prefix, part.values)
            self.progress.setdefault(prefix, []).append(entry)
        for piece, array in part.pieces:
            low, high = self._interval_of(piece, part)
            is_parameter = piece.owner is not None and piece.owner[0].startswith(layout.PARAMETER)
            if piece.owner is not None and not is_parameter:
                self._add_rule(piece, part, low < high)
            if low < high or is_parameter:  # of which a part may be empty
                self._fill(piece, array, low, high)

    def _interval_of(self, piece: layout.Piece, part: Part) -> tuple[int, int]:
        """Elements of the whole array that this rank needs."""
        if piece.owner is None:
            return 0, int(numpy.prod(piece.shape))
        optimizer, number = piece.owner
        if optimizer not in self._own:
            pieces = layout.part_of(part.divisions[optimizer], self._rank, self._size)
            self._own[optimizer] = {n: (first, last) for n, first, last in pieces}
        return self._own[optimizer].get(number, (0, 0))

    def _add_rule(self, piece: layout.Piece, part: Part, is_own: bool) -> None:
        prefix = piece.name.rpartition('/')[0] + '/'
        self._rules[prefix] = is_own
        if is_own:
            values = {n: value for n, value in part.values.items() if n.startswith(prefix)}
            self._rule_values.update(values)

    def _fill(self, piece: layout.Piece, array: Array, low: int, high: int) -> None:
        if piece.name not in self._arrays:
            self._arrays[piece.name] = numpy.empty(high - low, array.dtype)
            self._missing[piece.name] = high - low
            self._shapes[piece.name] = piece.shape if piece.owner is None else (high - low,)
        first, last = max(piece.first, low), min(piece.last, high)
        if first < last:
            source = array[first - piece.first : last - piece.first]
            self._arrays[piece.name][first - low : last - low] = source
            self._missing[piece.name] -= last - first

    def finish(self) -> dict[str, Any]:
        """Returns the state by names.

        Raises:
            ValueError: If elements are missing.

        """
        for name, missing in self._missing.items():
            if missing:
                raise ValueError(f"the files lack {missing} elements of '{name}'")
        state: dict[str, Any] = {
            name: value
            for name, value in self._values.items()
            if name.rpartition('/')[0] + '/' not in self._rules
        }
        # A rule without a part of its parameter has made no updates.
        state.update({f'{prefix}t': numpy.array(0) for prefix in self._rules})
        state.update(self._rule_values)
        state.update({n: array.reshape(self._shapes[n]) for n, array in self._arrays.items()})
        if self._rank >= self._n_ranks:
            state.update(_other_random_state(self._rank, state))
        return state


def _other_random_state(rank: int, state: dict[str, Any]) -> dict[str, Any]:
    """A random state for a rank that there was not, unlike that of the rank it takes over from."""
    if f'{_NUMPY_STATE}keys' not in state:
        return {}
    generator = numpy.random.RandomState([*state[f'{_NUMPY_STATE}keys'][:9], rank])
    serializer = npz.DictionarySerializer(path=_NUMPY_STATE)
    random_state.serialize_random_state(serializer, generator)
    return serializer.target


class _Iterators:
    """The iterators of an updater; collective.

    Args:
        updater: Updater.
        comm: Communicator.

    """

    def __init__(self, updater: Any, comm: Any) -> None:
        self._rank = comm.rank
        self._size = comm.size
        self._iterators = samples.iterators_of(updater)
        self._parts = {p: samples.part_of(i, comm) for p, i in self._iterators.items()}
        lengths = {p: len(part) for p, part in self._parts.items() if part is not None}
        self._lengths = comm.allgather_obj(lengths)

    def move(
        self, state: dict[str, Any], progress: Any, n_ranks: int
    ) -> tuple[list[tuple[Any, Any]], set[str]]:
        """Gives the iterators their places among these ranks.

        Args:
            state: State of this rank, which is changed.
            progress: State of the iterators of all ranks that wrote.
            n_ranks: Number of these ranks.

        Returns:
            Parts of datasets with their samples, and prefixes of iterators that start an epoch.

        """
        parts, lost = [], set()
        for prefix, iterator in self._iterators.items():
            part = self._parts[prefix]
            if part is not None and prefix in progress:
                self._check(prefix, part, progress[prefix])
                if n_ranks == self._size:
                    parts.append((part, progress[prefix][self._rank][0]))
                else:
                    parts.append((part, self._divide(prefix, part, state, progress[prefix])))
            elif n_ranks != self._size and not samples.is_common(iterator):
                lost.add(prefix)
        return parts, lost

    def _check(self, prefix: str, part: Any, old: Any) -> None:
        total = old[0][1].total
        own = sub_dataset.place_of(part)[0]
        if total != own:
            raise ValueError(
                f"the dataset of '{prefix}' has {own} samples, but that of the "
                f'checkpoint has {total}'
            )

    def _divide(self, prefix: str, part: Any, state: dict[str, Any], old: Any) -> Any:
        lengths = [lengths[prefix] for lengths in self._lengths]
        batch_size = self._iterators[prefix].batch_size
        new = samples.divide([progress for _, progress in old], lengths, batch_size)
        numbers, position = new[self._rank]
        state[prefix + 'current_position'] = numpy.array(position)
        for key in 'order', '_order':
            if prefix + key in state:
                state[prefix + key] = numpy.arange(numbers.size)
        return numbers
