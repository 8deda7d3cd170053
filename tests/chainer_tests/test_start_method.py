"""The start method of processes: what the program chose, and a fork where it chose nothing."""

import sys

import pytest
from helpers.programs import run_python, start_python

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='other systems do not fork')

# As programs for Chainer 7: not all is picklable, and nothing asks for ``__name__``.
UNGUARDED = """
import multiprocessing
import numpy
import chainer
from chainer import iterators
from chainer.training.extensions import snapshot_writers

# As Python 3.14 does.
multiprocessing.context._default_context._default_context = multiprocessing.get_context({default!r})


def save(path, target):
    numpy.savez(path, **target)


data = chainer.datasets.TransformDataset([1, 2, 3], lambda x: 2 * x)
with iterators.MultiprocessIterator(data, 2, repeat=False, shuffle=False, n_processes=2) as it:
    print(list(it))
for writer in (
    snapshot_writers.ProcessWriter(lambda path, target: save(path, target)),
    snapshot_writers.ProcessQueueWriter(save),
):
    writer(type(writer).__name__ + '.npz', '.', {{'x': numpy.ones(2)}})
    writer.finalize()
print(multiprocessing.get_start_method(allow_none=True))
multiprocessing.set_start_method('spawn')
"""


@pytest.mark.parametrize('default', ['fork', 'forkserver'])
def test_forks_unless_the_program_chose(tmp_path, default):
    result = run_python(UNGUARDED.format(default=default), cwd=tmp_path)
    assert result.stdout == '[[2, 4], [6]]\nNone\n'  # so that the program can still choose
    names = sorted(path.name for path in tmp_path.glob('*.npz'))
    assert names == ['ProcessQueueWriter.npz', 'ProcessWriter.npz']


GUARDED = """
import multiprocessing, sys, time
import numpy
from chainer import iterators
from chainer.training.extensions import snapshot_writers


class Methods:
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return multiprocessing.get_start_method()


def save(path, target):
    assert multiprocessing.get_start_method() == target['method']
    open(path, 'w').close()


def main(method, folder):
    multiprocessing.set_start_method(method)
    for writer in snapshot_writers.ProcessWriter(save), snapshot_writers.ProcessQueueWriter(save):
        writer(type(writer).__name__, folder, {'method': numpy.array(method)})
        writer.finalize()
    with iterators.MultiprocessIterator(Methods(), 2, n_processes=1) as it:
        assert it.next() == [method, method]
    process = multiprocessing.Process(target=time.sleep, args=(100,))
    process.start()
    process.terminate()
    process.join(50)
    assert process.exitcode == -15, process.exitcode


if __name__ == '__main__':
    main(*sys.argv[1:])
"""


@pytest.mark.parametrize('method', ['fork', 'forkserver', 'spawn'])
def test_takes_what_the_program_chose(tmp_path, method):
    """Other processes of the program get their signals."""
    program = tmp_path / 'program.py'
    program.write_text(GUARDED)
    with start_python(str(program), method, str(tmp_path)) as process:
        out, err = process.communicate(timeout=100)
    assert process.returncode == 0, out + err
