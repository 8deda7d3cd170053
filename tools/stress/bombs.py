"""Small files that claim or expand to much, for the formats of the tests' table."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from helpers import file_formats
from helpers.file_formats import npy

from chainer import serializers
from chainer.training import extensions

SIZE = 300 << 20  # more than a reader may allocate
Bombs = tuple[Callable[[], bytes], ...]


def _zip(name: str, data: bytes, zeros: int = 0) -> bytes:
    """Makes a zip file of a member with zeros at its end."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open(name, 'w', force_zip64=True) as member:
            member.write(data)
            for _ in range(zeros >> 20):
                member.write(bytes(1 << 20))
    return file.getvalue()


def _npz_bombs(name: str) -> Bombs:
    """Makes bombs in the place of an array, and in one that nobody asks for."""
    return (
        lambda: _zip(f'{name}.npy', npy((SIZE // 4,)), SIZE),
        lambda: _zip('unused.npy', npy((SIZE // 4,)), SIZE),
        lambda: _zip(f'{name}.npy', npy((10**15,))),
        lambda: _zip(f'{name}.npy', npy((), descr="'<U1000000000'")),
        lambda: _zip(f'{name}.npy', npy('-' * 9000 + '1')),
        lambda: _zip(f'{name}.npy', npy('(' * 9000)),
        lambda: _zip(f'{name}.npy', b'\x93NUMPY\x02\x00\xff\xff\xff\xff', SIZE),
    )


def _log_bomb(text: str) -> bytes:
    """Makes a snapshot with a text in the place of the log."""
    log = npy((), text.encode('utf-32-le'), f"'<U{len(text)}'")
    snapshot = file_formats.saved(file_formats.TRAINER)
    return file_formats.with_array(snapshot, 'extensions/LogReport/_log.npy', log)


def _hdf5_bombs() -> Bombs:
    import h5py

    def bomb(**kwds: Any) -> Callable[[], bytes]:
        def make() -> bytes:
            serializers.save_hdf5('bomb', file_formats.trained_model())
            with h5py.File('bomb', 'r+') as file:
                del file['l1/W']
                file.create_dataset('l1/W', **kwds)
            return Path('bomb').read_bytes()

        return make

    return (
        bomb(shape=2**40, dtype='f4', chunks=(2**20,)),
        bomb(shape=(SIZE // 4,), dtype='f4', fillvalue=1, chunks=(2**20,)),
        bomb(shape=(2**20,), dtype=h5py.string_dtype()),
        bomb(data=h5py.Empty('f4')),
        bomb(data=np.zeros(2, [('a', 'f4')])),
    )


def _png(width: int, height: int) -> bytes:
    """Makes a picture without its points."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(kind + data)
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', crc)

    header = struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    data = chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(bytes(99))) + chunk(b'IEND', b'')
    return b'\x89PNG\r\n\x1a\n' + data


def _caffe_field(number: int, value: int | bytes) -> bytes:
    def varint(n: int) -> bytes:
        return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def _caffe_model(n_outputs: int, shape: tuple[int, ...], n_values: int) -> bytes:
    """Makes a model of a layer of the type InnerProduct."""
    field = _caffe_field
    sizes = b''.join(field(1, n) for n in shape)
    blob = field(7, sizes) + field(5, np.ones(n_values, '<f4').tobytes())
    layer = field(1, b'fc') + field(2, b'InnerProduct') + field(3, b'x') + field(4, b'y')
    layer += field(7, blob) + field(117, field(1, n_outputs) + field(2, 0))
    return field(1, b'net') + field(100, layer)


def _autoload(path: str) -> None:
    """Lets a trainer find a snapshot; a damaged one is passed over."""
    folder = Path('snapshots')
    folder.mkdir(exist_ok=True)
    Path(path).rename(folder / 'snapshot_iter_2')
    trainer = file_formats.trainer()
    trainer.out = str(folder)
    extensions.snapshot(autoload=True).initialize(trainer)


AUTOLOAD = file_formats.Format(
    lambda path: file_formats.saved(file_formats.trainer(), False), _autoload, ()
)


def make_bombs(name: str) -> Bombs:
    """Returns makers of files for a format, which may be none.

    Args:
        name: Key of the table of formats, or ``'autoload'``.

    """
    if name == 'hdf5':
        return _hdf5_bombs()
    log_bombs = (
        lambda: _log_bomb('[' * 100_000),
        lambda: _log_bomb('[1' + '0' * 100_000 + ']'),
        lambda: _log_bomb('3'),
    )
    bombs: dict[str, Bombs] = {
        'npz': _npz_bombs('l1/W'),
        'snapshot': (*_npz_bombs('_snapshot_elapsed_time'), *log_bombs),
        'autoload': (*_npz_bombs('_snapshot_elapsed_time'), *log_bombs),
        'cached dataset': _npz_bombs('x'),
        'pickle dataset': (
            lambda: b'\x80\x04\x8e' + struct.pack('<Q', 2**50),
            lambda: b'(' * 10_000_000,
        ),
        'text dataset': (lambda: b'x' * (20 << 20),),
        'PNG': (lambda: _png(60000, 60000), lambda: _png(12000, 12000), lambda: _png(2**31 - 1, 1)),
        'zip of images': (
            lambda: _zip('a.png', b'', SIZE),
            lambda: _zip('a.png', _png(12000, 12000)),
        ),
        'caffe': (
            lambda: _caffe_model(2**40, (2**40, 3), 6),
            lambda: _caffe_model(2**31 - 1, (2**31 - 1, 2**31 - 1), 0),
            lambda: _caffe_model(2**62, (2**62, 4), 0),
        ),
    }
    return bombs.get(name, ())
