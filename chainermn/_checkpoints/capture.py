"""Copies of the state of a rank, from which files are written while the training goes on."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from chainer import configuration, serializer as serializer_module
from chainer.backends import cuda
from chainer.serializers import _storage
from chainer.training.updater import Updater
from chainermn import _arrays
from chainermn._checkpoints import layout, samples
from chainermn._sharding import parts

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer

Array = numpy.ndarray[Any, Any]


class Part(NamedTuple):
    """What the file of a rank holds.

    Args:
        values: Values of this rank by name; ``None`` is a 0-d array of an object.
        pieces: Elements of arrays that the files of all ranks hold together.
        divisions: Sizes of what is divided together, by the names of the owners of pieces.

    """

    values: dict[str, Array]
    pieces: list[tuple[layout.Piece, Array]]
    divisions: dict[str, list[int]]


class _Collector(serializer_module.Serializer):
    """Serializer that keeps the values themselves, by which they are known again."""

    def __init__(self, found: dict[str, Any], path: str = '') -> None:
        self._found = found
        self._path = path

    def __getitem__(self, key: str) -> _Collector:
        return _Collector(self._found, self._path + key.strip('/') + '/')

    def __call__(self, key: str, value: Any) -> Any:
        self._found[self._path + key.lstrip('/')] = value
        return value


class Capture:
    """State of a trainer, divided by what the ranks have in common.

    Args:
        trainer: Trainer.
        comm: Communicator.

    """

    def __init__(self, trainer: Trainer, comm: Any) -> None:
        self._comm = comm
        self._found: dict[str, Any] = {}
        with configuration.using_config('exact_resume', 'always'), parts.saving_parts():
            trainer.serialize(_Collector(self._found))
        self._found.update(samples.describe(trainer.updater, comm))
        updater = trainer.updater
        optimizers = updater.get_all_optimizers() if isinstance(updater, Updater) else {}
        self._roles = layout.find_roles(optimizers, comm)
        keys = {
            name: layout.key_of(value)
            for name, value in self._found.items()
            if hasattr(value, 'dtype') and hasattr(value, 'shape')
        }
        self._sharded = {
            name: self._roles.sharded[key]
            for name, key in keys.items()
            if key in self._roles.sharded
        }
        self._shared = [n for n in sorted(keys) if keys[n] in self._roles.shared]

    def digest(self) -> str:
        """Describes what the ranks must have in common to divide it."""
        arrays = [(n, self._found[n].shape, str(self._found[n].dtype)) for n in self._shared]
        text = json.dumps([arrays, sorted(self._roles.divisions.items())])
        return hashlib.sha256(text.encode()).hexdigest()

    def copy(self, divides: bool) -> Part:
        """Copies the part of this rank.

        Args:
            divides: Whether all ranks have the same arrays in common. Otherwise, this one keeps
                all of its own.

        """
        own = dict(self._found)
        pieces = []
        if divides:
            pieces = [(p, _copy_piece(own[p.name], p)) for p in self._shared_pieces()]
            pieces += [self._sharded_piece(name) for name in self._sharded]
            for name in (*self._shared, *self._sharded):
                del own[name]
        values = {name: numpy.array(_storage.to_numpy(value)) for name, value in own.items()}
        return Part(values, pieces, self._roles.divisions if divides else {})

    def _shared_pieces(self) -> list[layout.Piece]:
        arrays = [self._found[name] for name in self._shared]
        sizes = [array.size for array in arrays]
        return [
            layout.Piece(self._shared[number], first, last, tuple(arrays[number].shape))
            for number, first, last in layout.part_of(sizes, self._comm.rank, self._comm.size)
        ]

    def _sharded_piece(self, name: str) -> tuple[layout.Piece, Array]:
        (optimizer, number), first, last = self._sharded[name]
        size = self._roles.divisions[optimizer][number]
        piece = layout.Piece(name, first, last, (size,), (optimizer, number))
        return piece, numpy.array(_storage.to_numpy(self._found[name]))


def take_part(trainer: Trainer, comm: Any) -> Part:
    """Copies the part of this rank of the state of a trainer; collective."""
    capture = Capture(trainer, comm)
    digests = comm.allgather_obj(capture.digest())
    return capture.copy(len(set(digests)) == 1)


def _copy_piece(array: Any, piece: layout.Piece) -> Array:
    flat = _arrays.plain(array).reshape(-1)[piece.first : piece.last]
    return numpy.array(cuda.to_cpu(flat))
