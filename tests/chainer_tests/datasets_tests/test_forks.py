"""Datasets of files under threads and forked processes."""

import gzip
import io
import tempfile
import threading
import warnings
import zipfile

import numpy
import pytest
from helpers import forks
from helpers.threads import repeating

from chainer import datasets, iterators

N = 400


def _line(i):
    return f'{i} {"ä" * (i * 37 % 100)}\n'


def _pickle(file):
    writer = datasets.PickleDatasetWriter(file)
    for i in range(N):
        # Small examples and some that are too large for one read.
        writer.write((i, numpy.full(40000 if i % 50 == 0 else i, i, 'f')))
    writer.flush()


def _text(folder, **kwargs):
    path = folder / 'lines'
    path.write_text(''.join(map(_line, range(N))), **kwargs)
    return str(path)


def text(folder):
    return datasets.TextDataset(_text(folder, encoding='utf-8'), encoding='utf-8')


def text_of_utf16(folder):
    return datasets.TextDataset(_text(folder, encoding='utf-16'), encoding='utf-16')


def text_of_two_files(folder):
    path = _text(folder, encoding='utf-8')
    return datasets.TextDataset([path, path], encoding='utf-8')


def pickles(folder):
    with open(folder / 'pickles', 'wb') as file:
        _pickle(file)
    return datasets.open_pickle_dataset(str(folder / 'pickles'))


def pickles_of_file(folder):
    pickles(folder).close()
    return datasets.PickleDataset(open(folder / 'pickles', 'rb'))


def pickles_without_buffer(folder):
    pickles(folder).close()
    return datasets.PickleDataset(open(folder / 'pickles', 'rb', buffering=0))


def pickles_of_temporary_file(folder):
    file = tempfile.NamedTemporaryFile(dir=folder)
    _pickle(file)
    return datasets.PickleDataset(file)


def pickles_in_memory(folder):
    file = io.BytesIO()
    _pickle(file)
    return datasets.PickleDataset(file)


def zipped_images(folder):
    image = pytest.importorskip('PIL.Image')
    path = folder / 'images.zip'
    with zipfile.ZipFile(path, 'w') as archive:
        for i in range(N):
            with archive.open(f'{i}.png', 'w') as file:
                image.fromarray(numpy.full((i % 7 + 1, 30), i % 256, 'B')).save(file, 'png')
    return datasets.ZippedImageDataset(str(path))


def _check(example, i):
    """Checks that an example is the one of the index."""
    if isinstance(example, str):
        assert example == _line(i)
    elif isinstance(example, numpy.ndarray):
        numpy.testing.assert_array_equal(example, numpy.full((1, i % 7 + 1, 30), i % 256))
    elif isinstance(example[0], str):
        assert example == (_line(i), _line(i))
    else:
        assert example[0] == i
        numpy.testing.assert_array_equal(example[1], i)


def _check_random(dataset, n):
    for i in numpy.random.RandomState(threading.get_ident() % 2**32).randint(N, size=n):
        _check(dataset[int(i)], i)
    return True


@pytest.fixture(
    params=[
        text,
        text_of_utf16,
        text_of_two_files,
        pickles,
        pickles_of_file,
        pickles_without_buffer,
        pickles_of_temporary_file,
        pickles_in_memory,
        zipped_images,
    ]
)
def dataset(request, tmp_path):
    dataset = request.param(tmp_path)
    yield dataset
    if hasattr(dataset, 'close'):
        dataset.close()


def test_worker_processes_get_their_examples(dataset):
    order = numpy.random.RandomState(0).permutation(N)
    for _ in range(2):
        with iterators.MultiprocessIterator(
            datasets.SubDataset(dataset, 0, N, order), 20, False, False, n_processes=4, n_prefetch=4
        ) as it:
            examples = [example for batch in it for example in batch]
        assert len(examples) == N
        for example, i in zip(examples, order):
            _check(example, i)


def test_fork_while_threads_read(dataset):
    with repeating(lambda: _check_random(dataset, 20)):
        for _ in range(8):
            assert forks.in_child(_check_random, dataset, 20)


def test_threads_of_forked_process(dataset):
    _check_random(dataset, 5)

    def read():
        with repeating(lambda: _check_random(dataset, 20)):
            return _check_random(dataset, 200)

    assert forks.in_child(read)
    _check_random(dataset, 5)


class _Waiting:
    """Object whose unpickling takes until ``continued``."""

    started = threading.Event()
    continued = threading.Event()

    def __reduce__(self):
        return _wait, ()


def _wait():
    _Waiting.started.set()
    assert _Waiting.continued.wait(60)
    return 'done'


def test_fork_in_the_middle_of_reading():
    file = io.BytesIO()
    _Waiting.continued.set()
    for example in _Waiting(), 'other':
        datasets.PickleDatasetWriter(file).write(example)
    dataset = datasets.PickleDataset(file)
    _Waiting.continued.clear()
    _Waiting.started.clear()
    thread = threading.Thread(target=dataset.__getitem__, args=(0,))
    thread.start()
    try:
        assert _Waiting.started.wait(60)
        assert forks.in_child(dataset.__getitem__, 1) == 'other'
    finally:
        _Waiting.continued.set()
        thread.join()


def test_readers_that_share_a_position(tmp_path):
    path = tmp_path / 'pickles.gz'
    with gzip.open(path, 'wb') as file:
        datasets.PickleDatasetWriter(file).write('x')

    def read(dataset):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            assert dataset[0] == dataset[0] == 'x'
        return [str(w.message) for w in caught if w.category is RuntimeWarning]

    with gzip.open(path) as file:
        dataset = datasets.PickleDataset(file)
        assert read(dataset) == []
        (message,) = forks.in_child(read, dataset)
        assert 'share the position of the GzipFile' in message
    file = io.BytesIO()
    datasets.PickleDatasetWriter(file).write('x')
    assert forks.in_child(read, datasets.PickleDataset(file)) == []
