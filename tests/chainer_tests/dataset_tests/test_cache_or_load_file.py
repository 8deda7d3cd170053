import os
import signal
import threading

import pytest
from helpers.programs import run_python

from chainer import dataset


def _read(path):
    with open(path) as f:
        return f.read()


def _write(path, content='content'):
    with open(path, 'w') as f:
        f.write(content)


def test_create_and_load(tmp_path):
    path = str(tmp_path / 'sub' / 'file')

    def creator(path):
        _write(path, 'x')
        return 'created'

    assert dataset.cache_or_load_file(path, creator, _read) == 'created'
    assert dataset.cache_or_load_file(path, None, _read) == 'x'


@pytest.mark.parametrize('error', [ZeroDivisionError, KeyboardInterrupt])
def test_failing_creator(tmp_path, error):
    path = str(tmp_path / 'file')

    def creator(path):
        _write(path, 'half')
        raise error

    with pytest.raises(error):
        dataset.cache_or_load_file(path, creator, None)
    assert os.listdir(tmp_path) == []


def test_creator_writes_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match='creator wrote no file .*file'):
        dataset.cache_or_load_file(str(tmp_path / 'file'), lambda path: 1, None)
    assert os.listdir(tmp_path) == []


def test_creator_in_creator(tmp_path):
    inner, outer = str(tmp_path / 'inner'), str(tmp_path / 'outer')

    def creator(path):
        dataset.cache_or_load_file(inner, _write, None)
        _write(path)

    dataset.cache_or_load_file(outer, creator, None)
    assert sorted(os.listdir(tmp_path)) == ['inner', 'outer']


def test_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dataset.cache_or_load_file('file', _write, None)
    assert dataset.cache_or_load_file('file', None, _read) == 'content'


def test_race(tmp_path):
    path = str(tmp_path / 'file')
    barrier = threading.Barrier(4, timeout=10)
    results = []

    def creator(path):
        barrier.wait()
        _write(path, 'x' * 1000)
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
    assert os.listdir(tmp_path) == ['file']


def test_killed_creator(tmp_path):
    path = str(tmp_path / 'file')
    program = f"""
import os
from chainer import dataset

def creator(path):
    with open(path, 'w') as f:
        f.write('half')
    os.kill(os.getpid(), {signal.SIGKILL:d})

dataset.cache_or_load_file({path!r}, creator, None)
"""
    run_python(program, status=-signal.SIGKILL)
    [left] = os.listdir(tmp_path)
    assert left != 'file'
    dataset.cache_or_load_file(path, _write, None)
    assert os.listdir(tmp_path) == ['file']
