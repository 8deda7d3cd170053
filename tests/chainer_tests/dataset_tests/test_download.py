import hashlib
import os
import threading
import urllib.error
import urllib.request

import pytest

from chainer import dataset, datasets


def _read(path):
    with open(path) as f:
        return f.read()


@pytest.fixture(autouse=True)
def root(tmp_path):
    old = dataset.get_dataset_root()
    dataset.set_dataset_root(str(tmp_path / 'root'))
    yield str(tmp_path / 'root')
    dataset.set_dataset_root(old)


def test_directory(root):
    path = dataset.get_dataset_directory('a/b', create_directory=False)
    assert path == os.path.join(root, 'a/b') and not os.path.exists(path)
    dataset.get_dataset_directory('a/b')
    assert os.path.isdir(path)


def test_download_once(root, monkeypatch, capsys):
    urls = []

    def retrieve(url, path):
        urls.append(url)
        with open(path, 'w') as f:
            f.write(url)

    monkeypatch.setattr(urllib.request, 'urlretrieve', retrieve)
    url = 'https://example.com/file'
    path = dataset.cached_download(url)
    assert os.path.basename(path) == hashlib.md5(url.encode()).hexdigest()
    assert _read(path) == url
    assert dataset.cached_download(url) == path
    assert urls == [url]
    assert capsys.readouterr().out == f'Downloading from {url}...\n'


def test_real_download(root, tmp_path):
    (tmp_path / 'source').write_text('content')
    path = dataset.cached_download((tmp_path / 'source').as_uri())
    assert _read(path) == 'content'


def test_failing_download(root, monkeypatch):
    def retrieve(url, path):
        with open(path, 'w') as f:
            f.write('half')
        raise urllib.error.URLError('no network')

    monkeypatch.setattr(urllib.request, 'urlretrieve', retrieve)
    with pytest.raises(urllib.error.URLError) as e:
        datasets.get_mnist()
    message = str(e.value)
    assert 'https://' in message and 'no network' in message
    assert os.path.join(root, '_dl_cache') in message
    assert os.listdir(os.path.join(root, '_dl_cache')) in ([], ['_dl_lock'])
    assert os.listdir(os.path.join(root, 'pfnet/chainer/mnist')) == []


def test_no_cache_folder(root):
    with open(root, 'w'):
        pass
    with pytest.raises(OSError, match='cannot create the download cache'):
        dataset.cached_download('https://example.com/')
    with pytest.raises(RuntimeError, match='cannot create the dataset folder'):
        dataset.cache_or_load_file(os.path.join(root, 'x', 'y'), None, None)


class TestCacheOrLoad:
    def test_create_and_load(self, root):
        path = os.path.join(root, 'sub', 'file')

        def creator(path):
            with open(path, 'w') as f:
                f.write('x')
            return 'created'

        def loader(path):
            return _read(path)

        assert dataset.cache_or_load_file(path, creator, loader) == 'created'
        assert dataset.cache_or_load_file(path, None, loader) == 'x'

    def test_failing_creator(self, root):
        path = os.path.join(root, 'file')

        def creator(path):
            with open(path, 'w') as f:
                f.write('half')
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            dataset.cache_or_load_file(path, creator, None)
        assert os.listdir(root) == []

    def test_race(self, root):
        path = os.path.join(root, 'file')
        barrier = threading.Barrier(4, timeout=10)
        results = []

        def creator(path):
            barrier.wait()
            with open(path, 'w') as f:
                f.write('x' * 1000)
            return 'created'

        threads = [
            threading.Thread(
                target=lambda: results.append(dataset.cache_or_load_file(path, creator, None))
            )
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == ['created'] * 4
        assert _read(path) == 'x' * 1000
