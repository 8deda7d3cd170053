"""Every kind of file that Chainer reads: a small good one, its reader, and the errors it documents."""

import gzip
import io
import os
import pathlib
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from unittest import mock

import numpy

import chainer
import chainer.links as L
from chainer import dataset, datasets, serializers, training
from chainer.dataset import download
from chainer.serializers import npz
from chainer.training import extensions, triggers


@dataclass
class Format:
    """A kind of file.

    Args:
        make: Function of a path where it may write, which returns the content of a good file.
        read: Function that reads the file at a path. If it raises, it has changed nothing.
        errors: Errors that the documentation names.
        wrap: Function that makes the file from the content, for example compresses it.

    """

    make: Callable[[str], bytes]
    read: Callable[[str], object]
    errors: tuple[type[Exception], ...]
    wrap: Callable[[bytes], bytes] = bytes


class Model(chainer.Chain):
    def __init__(self, seed=0):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 2)
            self.late = L.Linear(None, 2)
        self.add_persistent('count', seed)
        self.add_persistent('text', 'abc' * seed)
        self.add_persistent('nothing', None)
        self.l1.W.array[...] = seed


def state(obj):
    with chainer.using_config('exact_resume', 'always'):
        return {key: value.tolist() for key, value in npz.serialize(obj).items()}


def into_model(load):
    def read(path):
        model = Model(seed=5)
        before = state(model)
        try:
            load(path, model)
        except Exception:
            assert state(model) == before, 'the model changed'
            raise

    return read


def saved(obj, compression=True):
    f = io.BytesIO()
    with chainer.using_config('exact_resume', 'always'):
        npz.save_npz(f, obj, compression)
    return f.getvalue()


def trained_model():
    model = Model(seed=2)
    model.late(numpy.zeros((1, 4), 'f'))
    model.late.W.array[...] = 0.5
    return model


NO_TENSORS = ['text', 'nothing']  # values that only the other formats store


def make_safetensors(path):
    f = io.BytesIO()
    arrays = npz.serialize(trained_model())
    serializers.save_safetensors(f, {k: a for k, a in arrays.items() if k not in NO_TENSORS})
    return f.getvalue()


def read_safetensors(path, model):
    serializers.load_safetensors(path, model, ignore_names=NO_TENSORS)


TORCH_FILES = (
    pathlib.Path(__file__).parents[1] / 'chainer_tests' / 'serializers_tests' / 'torch_files'
)


def read_weights(path):
    with serializers.open_weights(path) as tensors:
        dict(tensors)


def trainer():
    model = L.Classifier(L.Linear(3, 2))
    optimizer = chainer.optimizers.Adam().setup(model)
    data = chainer.datasets.TupleDataset(numpy.zeros((6, 3), 'f'), numpy.zeros(6, 'i'))
    updater = training.StandardUpdater(chainer.iterators.SerialIterator(data, 2), optimizer)
    out = tempfile.gettempdir()  # nothing is written
    result = training.Trainer(updater, (2, 'epoch'), out=out)
    result.extend(extensions.LogReport(trigger=(1, 'epoch')))
    result.extend(extensions.ExponentialShift('alpha', 0.5))
    trigger = triggers.MinValueTrigger('main/loss', (1, 'epoch'))
    result.extend(lambda trainer: None, name='best', trigger=trigger)
    result._done, result._final_elapsed_time = True, 0.0
    return result


TRAINER = trainer()


def read_snapshot(path):
    before = state(TRAINER)
    try:
        serializers.load_npz(path, TRAINER)
    except Exception:
        assert state(TRAINER) == before, 'the trainer changed'
        raise


def npy(shape, data=b'', descr="'<f4'", version=1):
    """The content of a file of NumPy with this text as its shape."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    size = struct.pack('<H' if version == 1 else '<I', len(header))
    return b'\x93NUMPY' + bytes([version, 0]) + size + header + data


def make_array(path):
    """One array of the model, in NumPy's format."""
    f = io.BytesIO()
    numpy.save(f, numpy.full((2, 3), 2, 'f'))
    return f.getvalue()


def with_array(file, name, content):
    """The content of an npz file with another array in the place of one; its checksums are right."""
    f = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(file)) as old, zipfile.ZipFile(f, 'w', 8) as new:
        assert name in old.namelist()
        for key in old.namelist():
            new.writestr(key, content if key == name else old.read(key))
    return f.getvalue()


def wrap_array(content):
    """An npz file with the array."""
    return with_array(saved(trained_model()), 'l1/W.npy', content)


def make_hdf5(path):
    serializers.save_hdf5(path, trained_model())
    with open(path, 'rb') as f:
        return f.read()


def make_pickles(path):
    with datasets.open_pickle_dataset_writer(path) as writer:
        for example in 'abc', {'x': [1, 2.5, 10**30]}, None, (b'data', {3}):
            writer.write(example)
    with open(path, 'rb') as f:
        return f.read()


def read_pickles(path):
    with datasets.open_pickle_dataset(path) as pickles:
        pickles[:]


def make_image(kind):
    def make(path):
        from PIL import Image

        f = io.BytesIO()
        pixels = numpy.random.RandomState(0).randint(0, 256, (9, 7, 3), numpy.uint8)
        Image.fromarray(pixels).save(f, kind)
        return f.getvalue()

    return make


def image_format(kind):
    def read(path):
        from PIL import Image

        with mock.patch.object(Image, 'MAX_IMAGE_PIXELS', 1 << 20):
            try:
                datasets.ImageDataset([path], root='')[0]
            except Image.DecompressionBombError as e:
                raise OSError from e

    # Pillow asks for as much memory as a chunk claims, and fills as much as there is in the file.
    return Format(make_image(kind), read, (OSError, MemoryError))


def make_zipped_images(path):
    f = io.BytesIO()
    with zipfile.ZipFile(f, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name in 'a.png', 'b.png':
            archive.writestr(name, make_image('PNG')(path))
    return f.getvalue()


def read_zipped_images(path):
    datasets.ZippedImageDataset(path)[:]


def make_caffe_model(path):
    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data

    weights = field(5, numpy.ones(6, '<f4').tobytes()) + field(7, field(1, b'\2\3'))
    bias = field(5, numpy.ones(2, '<f4').tobytes()) + field(7, field(1, b'\2'))
    names = field(1, b'fc') + field(2, b'InnerProduct') + field(3, b'x') + field(4, b'y')
    layers = [
        names + field(7, weights) + field(7, bias),
        field(1, b'relu') + field(2, b'ReLU') + field(3, b'y') + field(4, b'y'),
    ]
    return b''.join(b'\xa2\x06' + bytes([len(layer)]) + layer for layer in layers)


def idx(array):
    header = struct.pack('>HBB', 0, 8, array.ndim) + struct.pack(f'>{array.ndim}I', *array.shape)
    return header + array.tobytes()


IMAGES = idx(numpy.ones((2, 28, 28), numpy.uint8))
LABELS = gzip.compress(idx(numpy.ones(2, numpy.uint8)))


def make_cifar(path):
    f = io.BytesIO()
    with tarfile.open(fileobj=f, mode='w') as tar:
        for name in 'train', 'test':
            info = tarfile.TarInfo(f'cifar-100-binary/{name}.bin')
            info.size = 3074
            tar.addfile(info, io.BytesIO(bytes(3074)))
    return f.getvalue()


def make_cache(path):
    f = io.BytesIO()
    numpy.savez_compressed(f, x=numpy.ones((2, 784), numpy.uint8), y=numpy.ones(2, numpy.uint8))
    return f.getvalue()


def download_of(get, others):
    """Reader of a file that a function downloads, besides others given by the ends of their URLs."""

    def read(path):
        with tempfile.TemporaryDirectory() as root:

            def cached_download(url, **kwargs):
                for end, content in others.items():
                    if url.endswith(end):
                        other = os.path.join(root, 'other')
                        with open(other, 'wb') as f:
                            f.write(content)
                        return other
                return path

            old = dataset.get_dataset_root()
            dataset.set_dataset_root(root)
            try:
                with mock.patch.object(download, 'cached_download', cached_download):
                    get()
            finally:
                dataset.set_dataset_root(old)

    return read


def read_cache(path):
    folder = os.path.dirname(path)
    with mock.patch.object(download, 'get_dataset_directory', lambda name: folder):
        for name in 'train.npz', 'test.npz':
            link = os.path.join(folder, name)
            if not os.path.exists(link):
                os.link(path, link)
        datasets.get_mnist()


def read_texts(path):
    lines = datasets.TextDataset(path, encoding='utf-8')
    lines[:]
    lines.close()


def read_labels(path):
    datasets.LabeledImageDataset(path)


REFUSED = ValueError, KeyError, TypeError
MNIST = {'train-labels-idx1-ubyte.gz': LABELS, 't10k-labels-idx1-ubyte.gz': LABELS}
PTB = {'valid.txt': b'a b\n', 'test.txt': b'a\n'}

# Without the files of SVHN, damaged ones of which crash SciPy.
FORMATS = {
    'npz': Format(lambda path: saved(trained_model()), into_model(serializers.load_npz), REFUSED),
    'npz without compression': Format(
        lambda path: saved(trained_model(), False), into_model(serializers.load_npz), REFUSED
    ),
    'npy in npz': Format(make_array, into_model(serializers.load_npz), REFUSED, wrap_array),
    'snapshot': Format(lambda path: saved(TRAINER), read_snapshot, REFUSED),
    'hdf5': Format(make_hdf5, into_model(serializers.load_hdf5), REFUSED),
    'safetensors': Format(make_safetensors, into_model(read_safetensors), REFUSED),
    **{
        f'torch {name}': Format(
            lambda path, name=name: (TORCH_FILES / f'{name}.pth').read_bytes(),
            read_weights,
            REFUSED,
        )
        for name in ('zip', 'old')
    },
    'pickle dataset': Format(make_pickles, read_pickles, (ValueError,)),
    'text dataset': Format(lambda path: 'añb\nc\n'.encode() * 20, read_texts, (ValueError,)),
    'labels': Format(lambda path: b'a.png 0\nb.png 1\n', read_labels, (ValueError,)),
    **{kind: image_format(kind) for kind in ('PNG', 'JPEG', 'GIF', 'BMP', 'TIFF', 'PPM')},
    'zip of images': Format(make_zipped_images, read_zipped_images, (OSError, ValueError)),
    'caffe': Format(make_caffe_model, L.caffe.CaffeFunction, (ValueError, RuntimeError)),
    'mnist.gz': Format(
        lambda path: gzip.compress(IMAGES),
        download_of(datasets.get_mnist, MNIST),
        (ValueError, RuntimeError),
    ),
    'mnist': Format(
        lambda path: IMAGES,
        download_of(datasets.get_mnist, MNIST),
        (ValueError, RuntimeError),
        lambda content: gzip.compress(content, 1),
    ),
    'cifar': Format(
        make_cifar,
        download_of(datasets.get_cifar100, {}),
        (ValueError,),
        lambda content: gzip.compress(content, 1),
    ),
    'ptb': Format(lambda path: b' a b\n', download_of(datasets.get_ptb_words, PTB), (ValueError,)),
    'cached dataset': Format(make_cache, read_cache, (ValueError,)),
}
