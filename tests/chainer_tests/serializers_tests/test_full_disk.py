"""Files on disks that are full: an OSError, the old file stays, and nothing is left over.

A child process writes, since HDF5's library ends a process whose writes fail, also by a Ctrl-C.
"""

import os
import subprocess
import sys
import threading

import pytest

from chainer.links import Linear
from chainer.serializers import load_hdf5, save_hdf5

resource = pytest.importorskip('resource')

# Saves a model again and again under limits of the size of files, or on the disk as it is.
PROGRAM = """
import os, resource, sys
import chainer
from chainer import serializers

save, path, kind = getattr(serializers, sys.argv[1]), sys.argv[2], sys.argv[3]
model = chainer.Sequential(*[chainer.links.Linear(60, 60, initialW=i) for i in range(5)])
if sys.argv[1] != 'save_safetensors':
    model.add_persistent('text', 'abc')


def save_and_check(fails):
    try:
        save(path, model)
    except OSError:
        assert fails
    else:
        assert not fails
    with open(path, 'rb') as file:
        assert (file.read() == old) == fails
    assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]


if kind == 'limit':
    save(path, model)
    size = os.path.getsize(path)
    assert size > 2000
    model[0].b.array[...] = 1
    with open(path, 'rb') as file:
        old = file.read()
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    for limit in [0, 1, 100, *range(512, size, size // 20), size - 1]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        save_and_check(fails=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    save_and_check(fails=False)
else:
    old = b'the old file'
    with open(path, 'wb') as file:
        file.write(old)
    for link in model:
        link.W.array[...] = chainer.initializers.generate_array(
            chainer.initializers.Normal(), (60, 60), chainer.backend.get_array_module(link.W)
        )
    for _ in range(3):
        save_and_check(fails=True)
print('done')
"""


# Interrupts saving at many moments.
INTERRUPTED = """
import os, signal, sys, time
import chainer
from chainer import serializers

path = sys.argv[1]
model = chainer.Sequential(*[chainer.links.Linear(100, 100) for i in range(3)])
serializers.save_hdf5(path, model)
start = time.perf_counter()
serializers.save_hdf5(path, model)
seconds = time.perf_counter() - start


def interrupt(*args):
    raise KeyboardInterrupt


signal.signal(signal.SIGALRM, interrupt)
count = 0
for i in range(40):
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds * (i + 0.5) / 60)
        serializers.save_hdf5(path, model)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        count += 1
    serializers.load_hdf5(path, model)
assert count > 0
serializers.save_hdf5(path, model)
assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]
print('done')
"""


def _run(*args, program=PROGRAM, errors=''):
    environment = os.environ | {'PYTHONWARNINGS': 'error'}
    result = subprocess.run(
        [sys.executable, '-c', program, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert (result.returncode, result.stdout) == (0, 'done\n'), result.stderr
    assert errors is None or result.stderr == errors


@pytest.fixture(params=['save_npz', 'save_hdf5', 'save_safetensors'])
def save(request):
    if request.param == 'save_hdf5':
        pytest.importorskip('h5py')
    return request.param


def test_limit_of_size(tmp_path, save):
    _run(save, tmp_path / 'model', 'limit')


def test_small_disk(tmp_path, save):
    mount = ['mount', '-t', 'tmpfs', '-o', 'size=32k', 'tmpfs', tmp_path]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip('this user cannot mount file systems')
    try:
        _run(save, tmp_path / 'model', 'disk')
    finally:
        subprocess.run(['umount', tmp_path], check=True)


def test_interrupts(tmp_path):
    pytest.importorskip('h5py')
    # An interrupt in a callback of the collector is printed, not raised.
    _run(tmp_path / 'model', program=INTERRUPTED, errors=None)


def test_threads(tmp_path):
    """Files that are made at the same time in memory are not the same."""
    pytest.importorskip('h5py')
    links = [Linear(2, 2, initial_bias=i) for i in range(8)]
    paths = [tmp_path / f'model{i}' for i in range(8)]
    threads = [threading.Thread(target=save_hdf5, args=args) for args in zip(paths, links)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, path in enumerate(paths):
        link = Linear(2, 2)
        load_hdf5(path, link)
        assert link.b.array.tolist() == [i, i]


@pytest.mark.skipif(not os.path.exists('/dev/full'), reason='Linux only')
def test_device():
    pytest.importorskip('h5py')
    with pytest.raises(OSError, match='No space left'):
        save_hdf5('/dev/full', Linear(2, 2))
