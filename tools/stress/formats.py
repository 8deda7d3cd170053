"""The formats of files that the product reads: a good file, its reader, and huge files."""

from __future__ import annotations

import dataclasses
import importlib.util
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import chainer
import chainer.links as L
import chainerx
from chainer import serializers, training
from chainer.training import extensions

BOMB_SIZE = 300 << 20  # more than a reader may allocate
# What a reader of models may raise, and what may also come from libraries that read images.
DOCUMENTED = ValueError, KeyError, TypeError, OSError
WHOLE = (*DOCUMENTED, MemoryError)  # what has to read all that a file says it has


class Model(chainer.Chain):
    """What the models' files hold."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 2, initialW=1)
            self.norm = L.BatchNormalization(2)
            self.l2 = L.Linear(None, 4)  # its shape comes from the file

    def forward(self, x: Any) -> Any:
        return self.l2(self.norm(self.l1(x)))


@dataclasses.dataclass
class Format:
    """A format.

    Attributes:
        good: Makes the content of a good file.
        read: Reads a file.
        errors: What reading may raise.
        bombs: Makers of small files that claim or expand to much.

    """

    good: Callable[[], bytes]
    read: Callable[[str], Any]
    errors: tuple[type[BaseException], ...] = DOCUMENTED
    bombs: tuple[Callable[[], bytes], ...] = ()


def _written(write: Callable[[str], None]) -> Callable[[], bytes]:
    def good() -> bytes:
        write('good')
        return Path('good').read_bytes()

    return good


def _trained_model() -> Model:
    model = Model()
    model(np.ones((5, 3), 'f'))
    return model


def _load(load: Callable[[str, Any], None]) -> Callable[[str], None]:
    """Makes a reader that also checks that an error changes nothing."""
    model = Model()
    model.l1.W.array[...] = 5

    def read(path: str) -> None:
        before = serializers.npz.serialize(model)
        before = {name: array.tobytes() for name, array in before.items()}
        try:
            load(path, model)
        except BaseException:
            after = serializers.npz.serialize(model)
            assert before == {name: array.tobytes() for name, array in after.items()}
            raise

    return read


def _make_trainer() -> training.Trainer:
    optimizer = chainer.optimizers.Adam().setup(L.Classifier(L.Linear(2, 2)))
    data = [(np.ones(2, 'f'), np.int32(1))] * 4
    updater = training.updaters.StandardUpdater(
        chainer.iterators.SerialIterator(data, 2), optimizer
    )
    trainer = training.Trainer(updater, (2, 'iteration'), out='result')
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(extensions.ExponentialShift('alpha', 0.9))
    return trainer


def _write_snapshot(path: str) -> None:
    trainer = _make_trainer()
    trainer.run()
    serializers.save_npz(path, trainer, compression=False)


def _autoload(path: str) -> None:
    """Lets a snapshot be found; a damaged one is passed over."""
    folder = Path('snapshots')
    folder.mkdir(exist_ok=True)
    Path(path).rename(folder / 'snapshot_iter_2')
    trainer = _make_trainer()
    trainer.out = str(folder)
    extensions.snapshot(autoload=True).initialize(trainer)


def _write_pickles(path: str) -> None:
    with chainer.datasets.open_pickle_dataset_writer(path) as writer:
        for x in (1, 'two', np.arange(3), {'four': [4.0, None]}):
            writer.write(x)


def _read_dataset(open_dataset: Callable[[str], Any]) -> Callable[[str], None]:
    def read(path: str) -> None:
        dataset = open_dataset(path)
        for i in range(min(len(dataset), 5)):
            dataset[i]
        if hasattr(dataset, 'close'):
            dataset.close()

    return read


def _read_mnist(path: str) -> None:
    folder = Path('root/pfnet/chainer/mnist')
    folder.mkdir(parents=True, exist_ok=True)
    for name in 'train.npz', 'test.npz':
        (folder / name).write_bytes(Path(path).read_bytes())
    chainer.dataset.set_dataset_root('root')
    train, _ = chainer.datasets.get_mnist()
    train[0]


def _write_mnist(path: str) -> None:
    with open(path, 'wb') as file:
        np.savez(file, x=np.ones((2, 784), 'u1'), y=np.ones(2, 'u1'))


def _npy(descr: str, shape: tuple[int, ...] | str, data: bytes = b'') -> bytes:
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b' ' * (-(len(header) + 11) % 64) + b'\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + data


def _zip(name: str, data: bytes, zeros: int = 0) -> bytes:
    """Makes a zip file of a member with zeros at its end."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open(name, 'w', force_zip64=True) as member:
            member.write(data)
            for _ in range(zeros >> 20):
                member.write(bytes(1 << 20))
    return file.getvalue()


def _npz_bombs(name: str) -> tuple[Callable[[], bytes], ...]:
    """Makes bombs in the place of an array, and in one that nobody asks for."""
    return (
        lambda: _zip(f'{name}.npy', _npy('<f4', (BOMB_SIZE // 4,)), BOMB_SIZE),
        lambda: _zip('unused.npy', _npy('<f4', (BOMB_SIZE // 4,)), BOMB_SIZE),
        lambda: _zip(f'{name}.npy', _npy('<f4', (10**15,))),
        lambda: _zip(f'{name}.npy', _npy('<U1000000000', ())),
        lambda: _zip(f'{name}.npy', _npy('<f4', '-' * 9000 + '1')),
        lambda: _zip(f'{name}.npy', _npy('<f4', '(' * 9000)),
        lambda: _zip(f'{name}.npy', b'\x93NUMPY\x02\x00\xff\xff\xff\xff', BOMB_SIZE),
    )


def _log_bomb(text: str) -> bytes:
    """Makes a snapshot with a text in the place of the log."""
    _write_snapshot('bomb')
    file = io.BytesIO()
    with zipfile.ZipFile('bomb') as good, zipfile.ZipFile(file, 'w', 8) as bomb:
        for name in good.namelist():
            data = good.read(name)
            if name.endswith('LogReport/_log.npy'):
                data = _npy(f'<U{len(text)}', (), text.encode('utf-32-le'))
            bomb.writestr(name, data)
    return file.getvalue()


def _hdf5_formats() -> dict[str, Format]:
    if importlib.util.find_spec('h5py') is None:
        print('h5py is not installed: no HDF5', flush=True)
        return {}
    import h5py

    def bomb(**kwds: Any) -> Callable[[], bytes]:
        def write(path: str) -> None:
            serializers.save_hdf5(path, _trained_model())
            with h5py.File(path, 'r+') as file:
                del file['l1/W']
                file.create_dataset('l1/W', **kwds)

        return _written(write)

    good = _written(lambda path: serializers.save_hdf5(path, _trained_model(), compression=0))
    bombs = (
        bomb(shape=2**40, dtype='f4', chunks=(2**20,)),
        bomb(shape=(BOMB_SIZE // 4,), dtype='f4', fillvalue=1, chunks=(2**20,)),
        bomb(shape=(2**20,), dtype=h5py.string_dtype()),
        bomb(data=h5py.Empty('f4')),
        bomb(data=np.zeros(2, [('a', 'f4')])),
    )
    return {'HDF5': Format(good, _load(serializers.load_hdf5), bombs=bombs)}


def _png(width: int, height: int) -> bytes:
    """Makes a picture without its points."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(kind + data)
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', crc)

    header = struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    data = chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(bytes(99))) + chunk(b'IEND', b'')
    return b'\x89PNG\r\n\x1a\n' + data


def _image_formats() -> dict[str, Format]:
    if importlib.util.find_spec('PIL') is None:
        print('Pillow is not installed: no images', flush=True)
        return {}
    from PIL import Image

    # Pillow raises these, too.
    errors = (*WHOLE, SyntaxError, EOFError, struct.error, Image.DecompressionBombError)

    def good(kind: str) -> Callable[[], bytes]:
        values = np.arange(20 * 30 * 3, dtype='u1').reshape(20, 30, 3)
        return _written(lambda path: Image.fromarray(values).save(path, kind))

    read = _read_dataset(lambda path: chainer.datasets.ImageDataset([path]))
    bombs = (lambda: _png(60000, 60000), lambda: _png(12000, 12000), lambda: _png(2**31 - 1, 1))
    formats = {
        f'{kind} image': Format(good(kind), read, errors, bombs if kind == 'PNG' else ())
        for kind in ('PNG', 'JPEG', 'GIF', 'BMP', 'TIFF')
    }
    formats['zipped images'] = Format(
        lambda: _zip('a.png', good('PNG')()),
        _read_dataset(chainer.datasets.ZippedImageDataset),
        (*errors, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError),
        (lambda: _zip('a.png', b'', BOMB_SIZE), lambda: _zip('a.png', _png(12000, 12000))),
    )
    return formats


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


def make_formats() -> dict[str, Format]:
    """Returns the formats that the installed packages can read, by name."""
    formats = {
        'npz': Format(
            _written(lambda path: serializers.save_npz(path, _trained_model(), compression=False)),
            _load(serializers.load_npz),
            bombs=_npz_bombs('l1/W'),
        ),
        'snapshot': Format(
            _written(_write_snapshot),
            _autoload,
            (),
            (
                *_npz_bombs('_snapshot_elapsed_time'),
                lambda: _log_bomb('[' * 100_000),
                lambda: _log_bomb('[1' + '0' * 100_000 + ']'),
                lambda: _log_bomb('3'),
            ),
        ),
        'pickles': Format(
            _written(_write_pickles),
            _read_dataset(chainer.datasets.open_pickle_dataset),
            (Exception,),  # pickles are programs, and raise what they like
            (lambda: b'\x80\x04\x8e' + struct.pack('<Q', 2**50), lambda: b'(' * 10_000_000),
        ),
        'lines': Format(
            lambda: 'first\nzweite Zeile mit ß\n\nlast'.encode(),
            _read_dataset(lambda path: chainer.datasets.TextDataset(path, encoding='utf-8')),
            bombs=(lambda: b'x' * (20 << 20),),
        ),
        'Caffe model': Format(
            lambda: _caffe_model(2, (2, 3), 6),
            lambda path: L.caffe.CaffeFunction(path),
            (*DOCUMENTED, RuntimeError),
            (
                lambda: _caffe_model(2**40, (2**40, 3), 6),
                lambda: _caffe_model(2**31 - 1, (2**31 - 1, 2**31 - 1), 0),
                lambda: _caffe_model(2**62, (2**62, 4), 0),
            ),
        ),
        'cached dataset': Format(_written(_write_mnist), _read_mnist, WHOLE, _npz_bombs('x')),
    }
    if chainerx.is_available():
        formats['text of numbers'] = Format(
            lambda: b'# head\n1.5 2 3\n4 5e10 nan\n',
            lambda path: chainerx.loadtxt(path),
            bombs=(lambda: b'1' * (20 << 20), lambda: b'1 ' * 1_000_000),
        )
    return formats | _hdf5_formats() | _image_formats()
