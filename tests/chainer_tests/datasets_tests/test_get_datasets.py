"""The functions that get well-known data, with small files in place of the real ones."""

import gzip
import io
import os
import re
import struct
import tarfile
import urllib.error

import numpy
import pytest

from chainer import dataset, datasets
from chainer.dataset import _fetch, download


class TestDigits:
    def test_known_images(self):
        train, test = datasets.get_digits(ndim=2, scale=16)
        image, label = test[0]
        numpy.testing.assert_array_equal(
            image,
            [
                [0, 0, 5, 13, 9, 1, 0, 0],
                [0, 0, 13, 15, 10, 15, 5, 0],
                [0, 3, 15, 2, 0, 11, 8, 0],
                [0, 4, 12, 0, 0, 8, 8, 0],
                [0, 5, 8, 0, 0, 9, 8, 0],
                [0, 4, 11, 0, 1, 12, 7, 0],
                [0, 2, 14, 5, 10, 12, 0, 0],
                [0, 0, 6, 13, 10, 0, 0, 0],
            ],
        )
        assert label == 0
        assert [label for _, label in train[:4]] == [1, 2, 3, 4]

    def test_whole(self):
        train, test = datasets.get_digits(scale=16)
        assert (len(train), len(test)) == (1437, 360)
        labels = [label for part in (train, test) for _, label in part[:]]
        assert numpy.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
        images = numpy.array([image for part in (train, test) for image, _ in part[:]])
        assert (images.min(), images.max()) == (0, 16)
        # Checked against the original file.
        assert images.sum() == 561718

    @pytest.mark.parametrize(
        'kwargs,shape',
        [
            ({}, (64,)),
            ({'ndim': 2}, (8, 8)),
            ({'ndim': 3}, (1, 8, 8)),
            ({'ndim': 3, 'rgb_format': True}, (3, 8, 8)),
        ],
    )
    def test_shapes(self, kwargs, shape):
        for part in datasets.get_digits(**kwargs):
            image, label = part[0]
            assert image.shape == shape
            assert image.dtype == numpy.float32 and label.dtype == numpy.int32

    def test_options(self):
        train, _ = datasets.get_digits(withlabel=False, scale=2, dtype='d')
        assert isinstance(train, numpy.ndarray) and train.shape == (1437, 64)
        assert train.dtype == numpy.float64 and train.max() == 2
        train, _ = datasets.get_digits(label_dtype='i1')
        assert train[0][1].dtype == numpy.int8
        with pytest.raises(ValueError, match='invalid ndim for digits: 4'):
            datasets.get_digits(ndim=4)

    def test_size_of_the_file(self):
        folder = os.path.join(os.path.dirname(datasets.__file__), '_digits')
        size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
        assert size < 100000


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Serves files in place of the network: a dictionary of contents by end of URL."""
    old = dataset.get_dataset_root()
    dataset.set_dataset_root(str(tmp_path))
    files = {}

    def fetch(url, path, checksum, timeout, cache_path):
        # The content of every file is known, by a hash that makes up for plain http.
        algorithm, _ = _fetch.parse_checksum(checksum)
        assert algorithm == 'sha256' or url.startswith('https:')
        with open(path, 'wb') as f:
            f.write(next(data for end, data in files.items() if url.endswith(end)))

    monkeypatch.setattr(_fetch, 'fetch', fetch)
    monkeypatch.setattr(_fetch, 'check_cached', lambda *args: None)
    yield files
    dataset.set_dataset_root(old)


def idx(array):
    header = struct.pack('>HBB', 0, 8, array.ndim) + struct.pack(f'>{array.ndim}I', *array.shape)
    return gzip.compress(header + array.tobytes())


@pytest.mark.parametrize(
    'get', [datasets.get_mnist, datasets.get_fashion_mnist, datasets.get_kuzushiji_mnist]
)
def test_mnist(serve, get):
    rng = numpy.random.RandomState(0)
    expected = []
    for part, n in ('train', 3), ('t10k', 2):
        x = rng.randint(0, 256, (n, 28, 28), numpy.uint8)
        y = rng.randint(0, 10, n, numpy.uint8)
        serve[f'/{part}-images-idx3-ubyte.gz'] = idx(x)
        serve[f'/{part}-labels-idx1-ubyte.gz'] = idx(y)
        expected.append((x, y))
    for _ in range(2):
        for actual, (x, y) in zip(get(), expected):
            assert len(actual) == len(x)
            for (image, label), xi, yi in zip(actual[:], x, y):
                assert image.dtype == numpy.float32
                numpy.testing.assert_allclose(image, xi.ravel() / 255, rtol=1e-6)
                assert label == yi
        serve.clear()  # the second time comes from the cache
    assert get(ndim=3, rgb_format=True)[0][0][0].shape == (3, 28, 28)
    assert get(ndim=2, withlabel=False)[1].shape == (2, 28, 28)


def test_mnist_foreign_file(serve):
    serve['.gz'] = gzip.compress(b'<html>')
    with pytest.raises(RuntimeError, match='no IDX file'):
        datasets.get_mnist()


@pytest.mark.parametrize('damage', ['checksum', 'more', 'fewer', 'claim', 'truncated'])
def test_mnist_damaged_file(serve, damage):
    content = idx(numpy.zeros((2, 28, 28), numpy.uint8))
    data = gzip.decompress(content)
    serve['idx1-ubyte.gz'] = idx(numpy.zeros(2, numpy.uint8))
    serve['idx3-ubyte.gz'] = {
        'checksum': content[:-5] + b'x' + content[-4:],
        'more': gzip.compress(data + b'x'),
        'fewer': gzip.compress(data[:-1]),
        'claim': gzip.compress(data[:4] + b'\xff' * 12 + data[16:]),
        'truncated': content[:-9],
    }[damage]
    with pytest.raises(ValueError, match='it is damaged, truncated or not an IDX file'):
        datasets.get_mnist()


def test_damaged_cache(serve):
    serve['idx1-ubyte.gz'] = idx(numpy.zeros(2, numpy.uint8))
    serve['idx3-ubyte.gz'] = idx(numpy.zeros((2, 28, 28), numpy.uint8))
    datasets.get_mnist()
    path = os.path.join(dataset.get_dataset_directory('pfnet/chainer/mnist'), 'train.npz')
    with open(path, 'r+b') as f:
        f.truncate(100)
    with pytest.raises(ValueError, match='train.npz'):
        datasets.get_mnist()
    os.remove(path)
    assert len(datasets.get_mnist()[0]) == 2


@pytest.mark.parametrize(
    'get,name,n_labels',
    [(datasets.get_cifar10, 'cifar-10', 1), (datasets.get_cifar100, 'cifar-100', 2)],
)
def test_cifar(serve, get, name, n_labels):
    rng = numpy.random.RandomState(0)
    members = (
        [f'cifar-10-batches-bin/data_batch_{i}.bin' for i in range(1, 6)]
        + ['cifar-10-batches-bin/test_batch.bin']
        if n_labels == 1
        else ['cifar-100-binary/train.bin', 'cifar-100-binary/test.bin']
    )
    buffer = io.BytesIO()
    contents = []
    with tarfile.open(fileobj=buffer, mode='w:gz') as tar:
        for member in members:
            data = rng.randint(0, 10, (2, n_labels + 3072), numpy.uint8)
            contents.append(data)
            info = tarfile.TarInfo(member)
            info.size = data.nbytes
            tar.addfile(info, io.BytesIO(data.tobytes()))
    serve[name + '-binary.tar.gz'] = buffer.getvalue()
    train, test = get(scale=255)
    expected = numpy.concatenate(contents)
    assert (len(train), len(test)) == (len(expected) - 2, 2)
    for (image, label), row in zip(train[:] + test[:], expected):
        assert image.shape == (3, 32, 32)
        numpy.testing.assert_array_equal(image.ravel(), row[n_labels:])
        assert label == row[n_labels - 1]
    assert get(ndim=1, withlabel=False)[1].shape == (2, 3072)
    with pytest.raises(ValueError, match='invalid ndim'):
        get(ndim=2)


def test_cifar_with_a_folder_as_a_member(serve):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode='w:gz') as tar:
        info = tarfile.TarInfo('cifar-100-binary/train.bin')
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    serve['cifar-100-binary.tar.gz'] = buffer.getvalue()
    with pytest.raises(ValueError, match='it is damaged.*train.bin is not a file'):
        datasets.get_cifar100()


def test_svhn(serve):
    scipy_io = pytest.importorskip('scipy.io')
    rng = numpy.random.RandomState(0)
    expected = []
    for part in 'train', 'test', 'extra':
        x = rng.randint(0, 256, (32, 32, 3, 2), numpy.uint8)
        y = numpy.array([[10], [3]], numpy.uint8)
        buffer = io.BytesIO()
        scipy_io.savemat(buffer, {'X': x, 'y': y})
        serve[part + '_32x32.mat'] = buffer.getvalue()
        expected.append(x)
    assert len(datasets.get_svhn()) == 2
    # The cache is as Chainer 7 writes it.
    folder = dataset.get_dataset_directory('pfnet/chainer/svhn')
    with numpy.load(folder + '/train.npz') as cache:
        assert {name: cache[name].shape for name in cache} == {'x': (32, 32, 3, 2), 'y': (2, 1)}
        assert cache['y'].tolist() == [[10], [3]]
    for actual, x in zip(datasets.get_svhn(scale=255, add_extra=True), expected):
        assert [label for _, label in actual[:]] == [0, 3]
        numpy.testing.assert_array_equal(actual[1][0], x[..., 1].transpose(2, 0, 1))


def test_ptb(serve):
    serve['ptb.train.txt'] = b' a b a\n b c\n'
    serve['ptb.valid.txt'] = b' c d\n'
    serve['ptb.test.txt'] = b' a\n'
    vocabulary = datasets.get_ptb_words_vocabulary()
    assert vocabulary == {'a': 0, 'b': 1, '<eos>': 2, 'c': 3, 'd': 4}
    for _ in range(2):
        train, valid, test = datasets.get_ptb_words()
        assert train.dtype == numpy.int32
        assert train.tolist() == [0, 1, 0, 2, 1, 3, 2]
        assert valid.tolist() == [3, 4, 2]
        assert test.tolist() == [0, 2]
        serve.clear()
    assert datasets.get_ptb_words_vocabulary() == vocabulary
    # The cache is as Chainer 7 writes it.
    folder = dataset.get_dataset_directory('pfnet/chainer/ptb')
    with numpy.load(folder + '/valid.npz') as cache:
        assert {name: cache[name].tolist() for name in cache} == {'x': [3, 4, 2]}


def test_label_names():
    assert len(datasets.get_fashion_mnist_labels()) == 10
    assert datasets.get_kuzushiji_mnist_labels()[0] == ('o', 'お')


@pytest.mark.parametrize(
    'get',
    [
        datasets.get_mnist,
        datasets.get_fashion_mnist,
        datasets.get_kuzushiji_mnist,
        datasets.get_cifar10,
        datasets.get_cifar100,
        datasets.get_svhn,
        datasets.get_ptb_words,
    ],
)
def test_other_content(tmp_path, monkeypatch, get):
    if get is datasets.get_svhn:
        pytest.importorskip('scipy.io')

    def receive(url, path, checksum, timeout):
        with open(path, 'wb') as f:
            f.write(b'other')

    monkeypatch.setattr(_fetch, '_receive', receive)
    monkeypatch.setattr(download, '_dataset_root', str(tmp_path))
    with pytest.raises(urllib.error.URLError) as e:
        get()
    # The hashes of b'other'
    assert re.search(
        r'could not download https?://.* \((its sha256 is d9298a10d1b073|its md5 is 795f3202b17)',
        str(e.value),
    )
    files = [name for _, _, names in os.walk(tmp_path) for name in names]
    assert all(name.endswith('_lock') for name in files)
