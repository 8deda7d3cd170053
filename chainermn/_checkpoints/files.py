"""The files of checkpoints: parts of ranks in safetensors format, and manifests."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from chainer.serializers import _safetensors_file, safetensors
from chainer.training import _files
from chainermn._checkpoints.capture import Array, Part
from chainermn._checkpoints.layout import Piece

if TYPE_CHECKING:
    from collections.abc import Callable

_FORMAT = 'chainermn checkpoint 1'
_KEY = 'chainermn'
_BLOCK = 1 << 22  # bytes to hash at once: other threads run meanwhile


class File(NamedTuple):
    """A file of a checkpoint, as its manifest describes it."""

    name: str
    size: int
    sha256: str


class Checkpoint(NamedTuple):
    """Name of a checkpoint."""

    name: str
    iteration: int
    n_ranks: int

    @property
    def manifest(self) -> str:
        return f'{self.name}.{self.iteration}.of.{self.n_ranks}.json'

    def part(self, rank: int) -> str:
        """Returns the name of the file of a rank."""
        return f'{self.name}.{self.iteration}.{rank}.of.{self.n_ranks}.safetensors'


def find(folder: str, name: str) -> list[Checkpoint]:
    """Returns the checkpoints that have manifests, by iterations."""
    pattern = re.compile(re.escape(name) + r'\.(\d+)\.of\.(\d+)\.json')
    entries = os.listdir(folder) if os.path.isdir(folder) else []
    matches = filter(None, map(pattern.fullmatch, entries))
    return sorted([Checkpoint(name, int(match[1]), int(match[2])) for match in matches])


def remove_manifests(folder: str, name: str, oldest: int) -> None:
    """Removes the manifests of iterations before ``oldest``."""
    for checkpoint in find(folder, name):
        if checkpoint.iteration < oldest:
            remove(folder, checkpoint)


def remove(folder: str, checkpoint: Checkpoint) -> None:
    """Makes a checkpoint incomplete."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.join(folder, checkpoint.manifest))


def remove_parts(folder: str, name: str, oldest: int, own: Callable[[int], bool]) -> None:
    """Removes the files of iterations before ``oldest``, also those of earlier formats.

    Args:
        folder: Folder of the files.
        name: Name of the training.
        oldest: Oldest iteration to keep.
        own: Function that tells whether to remove the files of a rank.

    """
    pattern = re.compile(re.escape(name) + r'\.(\d+)\.(\d+)(\.of\.\d+(\.safetensors)?)?')
    for match in filter(None, map(pattern.fullmatch, os.listdir(folder))):
        if int(match[1]) < oldest and own(int(match[2])):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(folder, match[0]))


# -- manifests


def write_manifest(folder: str, checkpoint: Checkpoint, files: list[File]) -> None:
    """Makes a checkpoint complete: its files are on disk."""
    content = {
        'format': _FORMAT,
        'iteration': checkpoint.iteration,
        'files': [file._asdict() for file in files],
    }
    text = json.dumps({**content, 'sha256': _hash_of(content)}, indent=1)
    with _files.atomic_file(os.path.join(folder, checkpoint.manifest)) as path:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)


def read_manifest(folder: str, checkpoint: Checkpoint) -> list[File]:
    """Returns the files of a checkpoint.

    Raises:
        ValueError: If the manifest is damaged.

    """
    path = os.path.join(folder, checkpoint.manifest)
    try:
        with open(path, encoding='utf-8') as f:
            content = json.load(f)
        checksum = content.pop('sha256')
        files = [File(**file) for file in content['files']]
        is_right = content['format'] == _FORMAT and checksum == _hash_of(content)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as e:
        raise ValueError(f'{path} is damaged: {type(e).__name__}: {e}') from e
    names = [checkpoint.part(rank) for rank in range(checkpoint.n_ranks)]
    if not is_right or [file.name for file in files] != names:
        raise ValueError(
            f"{path} is damaged: it is no '{_FORMAT}' of {names} with the right checksum"
        )
    return files


def _hash_of(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# -- parts


class _Hashing(io.RawIOBase):
    """File that is hashed while it is written."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.hash = hashlib.sha256()
        self.size = 0

    def write(self, data: Any) -> int:
        view = memoryview(data).cast('B')
        for start in range(0, len(view), _BLOCK):
            block = view[start : start + _BLOCK]
            self.hash.update(block)
            self._file.write(block)
        self.size += len(view)
        return len(view)


def write_part(folder: str, name: str, part: Part) -> File:
    """Writes the file of a rank, which gets its name when it is on disk."""
    with _files.atomic_file(os.path.join(folder, name)) as path:
        with open(path, 'wb') as f:
            return _write(f, name, part)


def pack_part(name: str, part: Part) -> tuple[File, bytes]:
    """Returns what would be the file of a rank."""
    f = io.BytesIO()
    return _write(f, name, part), f.getvalue()


def _write(f: Any, name: str, part: Part) -> File:
    arrays, text = _encode(part)
    target: Any = _Hashing(f)
    _safetensors_file.write(target, arrays, {_KEY: text})
    return File(name, target.size, target.hash.hexdigest())


def _encode(part: Part) -> tuple[dict[str, Array], str]:
    """Returns tensors, and the rest as JSON: the format knows neither texts nor ``None``."""
    arrays: dict[str, Array] = {}
    raw: dict[str, Any] = {}
    for name, array in part.values.items():
        if array.dtype.kind == 'O':  # None
            raw[name] = None
        elif array.dtype.kind in 'biuf' or array.dtype.name == 'bfloat16':
            arrays[name] = array
        else:
            raw[name] = [array.dtype.str, array.shape]
            arrays[name] = numpy.frombuffer(array.tobytes(), numpy.uint8)
    for number, (_, array) in enumerate(part.pieces):
        arrays[f'#{number}'] = array
    pieces = [piece for piece, _ in part.pieces]
    text = json.dumps({'raw': raw, 'pieces': pieces, 'divisions': part.divisions})
    return arrays, text


def read_bytes(folder: str, file: File) -> bytes:
    """Reads a file of a checkpoint.

    Raises:
        ValueError: If it is missing, or not what the manifest describes.

    """
    path = os.path.join(folder, file.name)
    try:
        with open(path, 'rb') as f:
            data = f.read(file.size + 1)
    except FileNotFoundError:
        raise ValueError(f'{path} is missing: {file.size} bytes are expected') from None
    if len(data) != file.size:
        size = os.path.getsize(path)
        raise ValueError(f'{path} is truncated or damaged: {size} bytes, expected {file.size}')
    check(path, data, file)
    return data


def check(path: str, data: bytes, file: File) -> None:
    """Raises :class:`ValueError` if bytes are not those of a file."""
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise ValueError(f'{path} is damaged: its SHA-256 is not {file.sha256}, as expected')


def parse_part(data: bytes) -> Part:
    """Returns what a file holds."""
    with safetensors.open_safetensors(io.BytesIO(data)) as tensors:
        content = json.loads(tensors.metadata[_KEY])
        pieces = [_piece_of(fields) for fields in content['pieces']]
        raw = content['raw']
        names = [name for name in tensors if not _is_piece(name, len(pieces))]
        values = {name: _decode(tensors[name], raw.get(name)) for name in names}
        arrays = [tensors[f'#{number}'] for number in range(len(pieces))]
    values.update({name: numpy.array(None) for name, kind in raw.items() if kind is None})
    return Part(values, list(zip(pieces, arrays)), content['divisions'])


def _is_piece(name: str, n_pieces: int) -> bool:
    return name.startswith('#') and name[1:].isdigit() and int(name[1:]) < n_pieces


def _piece_of(fields: list[Any]) -> Piece:
    name, first, last, shape, owner = fields
    return Piece(name, first, last, tuple(shape), None if owner is None else tuple(owner))


def _decode(array: Array, kind: Any) -> Array:
    if kind is None:
        return array
    dtype, shape = kind
    return numpy.frombuffer(array.tobytes(), numpy.dtype(dtype)).reshape(shape)
