"""Whatever goes wrong: nothing is lost, the error is clear, training resumes."""

import errno
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import numpy
import pytest
from helpers.programs import run_python
from helpers.writers import WRITERS

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.training import extensions
from chainer.training.extensions import snapshot_writers

DATA = numpy.random.RandomState(0).rand(10, 50).astype('f')


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(50, 100)
            self.l2 = L.Linear(100, 1)

    def forward(self, x):
        # Dropout uses random numbers, so that their state has to be resumed, too.
        loss = F.sum(F.dropout(self.l2(F.relu(self.l1(x)))) ** 2)
        chainer.report({'loss': loss}, self)
        return loss


def make_trainer(out, n_iterations=9, iterator=iterators.SerialIterator, **snapshot_kwargs):
    """Makes a trainer that writes a snapshot in each iteration and loads the latest."""
    numpy.random.seed(0)
    optimizer = optimizers.Adam().setup(Model())
    updater = training.StandardUpdater(iterator(DATA, 4), optimizer)
    trainer = training.Trainer(updater, (n_iterations, 'iteration'), out=str(out))
    trainer.extend(extensions.LogReport(trigger=(2, 'iteration')))
    trainer.extend(extensions.JsonLinesReport(trigger=(2, 'iteration')))
    trainer.extend(extensions.snapshot(autoload=True, **snapshot_kwargs), trigger=(1, 'iteration'))
    return trainer


def run(trainer):
    trainer.run(show_loop_exception_msg=False)
    return state(trainer)


def state(trainer):
    arrays = serializers.npz.serialize(trainer)
    log = json.loads(arrays.pop('extensions/LogReport/_log').item())
    for entry in log:
        del entry['elapsed_time']
    state = {
        key: value.tolist()
        for key, value in arrays.items()
        # Lines have different lengths, as the time has.
        if 'elapsed_time' not in key and '/_size' not in key
    }
    return log, state


def iterations_of_lines(out):
    with open(os.path.join(out, 'log.jsonl')) as f:
        return [json.loads(line)['iteration'] for line in f]


def snapshots(out):
    return sorted(
        (name for name in os.listdir(out) if name.startswith('snapshot')),
        key=lambda name: int(name.split('_')[-1]),
    )


@pytest.fixture
def expected(tmp_path, capsys):
    """State at the end of a training that nothing happened to."""
    return run(make_trainer(tmp_path / 'undisturbed'))


def train_and_be_killed(out, n_kills, n_iterations):
    """Trains in processes that are killed while they write snapshots; run in one of its own."""
    rng = random.Random(0)
    read_fd, write_fd = os.pipe()
    sys.stdout = open(os.devnull, 'w')

    def savefun(path, target):
        os.write(write_fd, b'x')
        serializers.save_npz(path, target)

    interrupted = 0
    for _ in range(n_kills):
        pid = os.fork()
        if pid == 0:
            try:
                make_trainer(out, n_iterations, savefun=savefun, n_retains=3).run()
            finally:
                os._exit(1)
        for _ in range(rng.randrange(1, 4)):
            assert os.read(read_fd, 1)  # the writing of a snapshot starts
        time.sleep(rng.random() * 0.015)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status), 'the training ended by itself'
        os.set_blocking(read_fd, False)
        try:
            os.read(read_fd, 1000)
        except BlockingIOError:
            pass
        os.set_blocking(read_fd, True)

        interrupted += any(name.startswith('.snapshot') for name in os.listdir(out))
        names = snapshots(out)
        assert names
        for name in names[-3:]:
            serializers.load_npz(os.path.join(out, name), make_trainer(out))
    assert interrupted >= n_kills // 4, interrupted  # most kills hit the writing


@pytest.mark.slow
def test_killed_while_writing_snapshots(tmp_path, capsys):
    out = str(tmp_path / 'out')
    code = (
        f'import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import test_faults\n'
        f'test_faults.train_and_be_killed({out!r}, 50, 300)'
    )
    run_python(code)
    reached = int(snapshots(out)[-1].split('_')[-1])
    assert 50 < reached < 300
    with open(os.path.join(out, 'log')) as f:
        assert json.load(f)[-1]['iteration'] <= reached + 1  # the log is whole, too

    n_iterations = reached + 3
    resumed = run(make_trainer(out, n_iterations, n_retains=3))
    assert resumed == run(make_trainer(tmp_path / 'undisturbed', n_iterations))
    assert iterations_of_lines(out) == list(range(2, n_iterations + 1, 2))
    # What the killed processes left of snapshots is removed.
    assert not [name for name in os.listdir(out) if name.startswith('.snapshot')]
    assert len(snapshots(out)) == 3


def damage(content, rng):
    content = bytearray(content)
    kind = rng.randrange(3)
    if kind == 0:
        return content[: rng.randrange(len(content))]
    for _ in range(1 if kind == 1 else 20):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return content


def test_200_damaged_snapshots(tmp_path, capsys):
    out = tmp_path / 'out'
    run(make_trainer(out, 3))
    intact = out / 'snapshot_iter_3'
    content = intact.read_bytes()
    saved = make_trainer(out, 3)
    serializers.load_npz(intact, saved)
    saved_state = state_without_time(saved)
    target = make_trainer(tmp_path / 'target')
    before = state_without_time(target)
    path = tmp_path / 'damaged'
    rng = random.Random(0)
    n_refused = 0
    for _ in range(200):
        path.write_bytes(damage(content, rng))
        try:
            serializers.load_npz(path, target)
        except (ValueError, KeyError) as e:
            n_refused += 1
            assert str(e)
            assert 'damaged' in str(e) or 'is not found in the file' in str(e), e
            assert state_without_time(target) == before
        else:
            # The bits that changed were none of the content, but e.g. time stamps.
            assert state_without_time(target) == saved_state
            target = make_trainer(tmp_path / 'target')
    assert n_refused >= 150

    # Autoload takes the snapshot before.
    for _ in range(20):
        damaged = damage(content, rng)
        intact.write_bytes(damaged[: len(damaged) - 1])
        trainer = make_trainer(out, 2)
        with pytest.warns(UserWarning, match='snapshot_iter_3 cannot be loaded'):
            trainer.run()
        assert trainer.updater.iteration == 2


def state_without_time(trainer):
    trainer._done, trainer._final_elapsed_time = True, 0.0
    result = state(trainer)
    trainer._done = False
    return result


def test_killed_iterator_worker(tmp_path, capsys):
    def make(name):
        return make_trainer(
            tmp_path / name,
            iterator=lambda *args: iterators.MultiprocessIterator(*args, n_processes=2),
        )

    expected = run(make('undisturbed'))
    trainer = make('out')

    def kill(trainer):
        if trainer.updater.iteration == 4:
            worker = trainer.updater.get_iterator('main')._pool._workers[0]
            os.kill(worker.process.pid, signal.SIGKILL)

    trainer.extend(kill)
    started = time.monotonic()
    with pytest.raises(RuntimeError, match=r'worker process \(pid \d+\).*exit code -9'):
        run(trainer)
    assert time.monotonic() - started < 20
    assert run(make('out')) == expected
    assert iterations_of_lines(tmp_path / 'out') == [2, 4, 6, 8]


def die_at_5(path, target):
    if os.path.basename(path) == 'snapshot_iter_5':
        with open(path, 'w') as f:
            f.write('half')
        os.kill(os.getpid(), signal.SIGKILL)
    serializers.save_npz(path, target)


@pytest.mark.parametrize(
    'writer', [snapshot_writers.ProcessWriter, snapshot_writers.ProcessQueueWriter]
)
def test_killed_writer_process(tmp_path, expected, writer, capsys):
    trainer = make_trainer(tmp_path / 'out', writer=writer(die_at_5))
    with pytest.raises(RuntimeError, match='the process that writes snapshots.*exit code -9'):
        run(trainer)
    assert snapshots(tmp_path / 'out')[-1] == 'snapshot_iter_4'
    assert run(make_trainer(tmp_path / 'out')) == expected
    assert not [name for name in os.listdir(tmp_path / 'out') if name.startswith('.')]


def test_folder_that_cannot_be_made(tmp_path):
    (tmp_path / 'file').touch()
    trainer = make_trainer(tmp_path / 'file' / 'out')
    with pytest.raises(NotADirectoryError, match='file'):
        run(trainer)
    assert trainer.updater.iteration == 0  # it says so before anything is computed


def test_folder_that_vanishes(tmp_path, expected, capsys):
    out = tmp_path / 'out'
    trainer = make_trainer(out)

    def move(trainer):
        if trainer.updater.iteration == 4:
            out.rename(tmp_path / 'moved')
            out.write_text('a file, which even root cannot write a snapshot below')

    trainer.extend(move)
    with pytest.raises(NotADirectoryError, match='out'):
        run(trainer)
    assert run(make_trainer(tmp_path / 'moved')) == expected


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
@pytest.mark.parametrize('writer', WRITERS)
def test_files_cannot_grow(tmp_path, expected, writer, capsys):
    """A limit of the system makes writing fail in the midst of a file, as a full disk does."""
    out = tmp_path / 'out'
    run(make_trainer(out, 4))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, limits[1]))
        trainer = make_trainer(out, writer=writer())
        with pytest.raises((OSError, RuntimeError), match='File too large|exit code 1'):
            run(trainer)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert sorted(os.listdir(out)) == [
        'log',
        'log.jsonl',
        *(f'snapshot_iter_{i}' for i in range(1, 5)),
    ]
    assert run(make_trainer(out)) == expected


@pytest.mark.parametrize('n_good_writes', range(6))
def test_full_disk(tmp_path, expected, monkeypatch, n_good_writes, capsys):
    """Some file systems notice that they are full when a file is synchronized."""
    out = tmp_path / 'out'
    run(make_trainer(out, 4))
    names = sorted(os.listdir(out))
    n_good = [n_good_writes]
    real = os.fsync

    def fsync(fd):
        if n_good[0] == 0:
            raise OSError(errno.ENOSPC, 'No space left on device')
        n_good[0] -= 1
        real(fd)

    monkeypatch.setattr(os, 'fsync', fsync)
    with pytest.raises(OSError, match='No space left'):
        run(make_trainer(out))
    monkeypatch.undo()
    assert set(names) <= set(os.listdir(out))
    assert not [name for name in os.listdir(out) if name.startswith('.')]
    with open(out / 'log') as f:
        assert json.load(f)
    assert run(make_trainer(out)) == expected


@pytest.mark.parametrize('on_error', [False, True])
@pytest.mark.parametrize('writer', WRITERS)
def test_extension_that_raises(tmp_path, expected, writer, on_error, capsys):
    out = tmp_path / 'out'
    trainer = make_trainer(out, snapshot_on_error=on_error, writer=writer())
    # Called last, so that the iteration is complete.
    trainer.extend(fail_at_5, priority=-1000)
    with pytest.raises(ZeroDivisionError, match='in iteration 5'):
        run(trainer)
    assert snapshots(out)[-1] == 'snapshot_iter_5'  # also if another thread or process writes
    assert run(make_trainer(out)) == expected


def fail_at_5(trainer):
    if trainer.updater.iteration == 5:
        raise ZeroDivisionError('in iteration 5')


def test_model_that_raises(tmp_path, expected, capsys):
    """Batches and random numbers of an update that failed are not lost."""
    out = tmp_path / 'out'
    trainer = make_trainer(out)
    model = trainer.updater.get_optimizer('main').target
    model.forward = lambda x: fail_at_5(trainer) or Model.forward(model, x)
    with pytest.raises(ZeroDivisionError):
        run(trainer)
    assert trainer.updater.iteration == 5
    assert run(make_trainer(out)) == expected


def test_exit_after_the_death_of_a_writer_process(tmp_path):
    """What waits for the dead process does not keep the program from ending."""
    code = """
import os, signal, numpy
from chainer.training.extensions import snapshot_writers
writer = snapshot_writers.ProcessQueueWriter()
writer._consumer.kill()
writer._consumer.is_alive = lambda: True  # it died just now
for _ in range(10):
    writer('x', '.', {'x': numpy.zeros(100000)})
"""
    run_python(code, timeout=20, cwd=tmp_path)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own that fits three snapshots and a half."""
    folder = tmp_path / 'disk'
    folder.mkdir()
    run(make_trainer(tmp_path / 'one', 1))
    size = (tmp_path / 'one' / 'snapshot_iter_1').stat().st_size
    mounted = subprocess.run(
        ['mount', '-t', 'tmpfs', '-o', f'size={3.5 * size}', 'tmpfs', folder],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if mounted.returncode:
        pytest.skip('file systems cannot be mounted here')
    yield folder
    subprocess.run(['umount', folder], check=True)


@pytest.mark.skipif(shutil.which('mount') is None, reason='needs mount')
@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
@pytest.mark.parametrize('writer', WRITERS)
def test_disk_that_becomes_full(small_disk, tmp_path, expected, writer, capsys):
    with pytest.raises((OSError, RuntimeError), match='No space left|exit code 1'):
        run(make_trainer(small_disk, writer=writer()))
    names = os.listdir(small_disk)
    assert not [name for name in names if name.startswith('.')]
    assert snapshots(small_disk)[-1] == 'snapshot_iter_3'
    for name in snapshots(small_disk):
        serializers.load_npz(small_disk / name, make_trainer(tmp_path / 'target'))
    # There is space again.
    shutil.copytree(small_disk, tmp_path / 'larger')
    assert run(make_trainer(tmp_path / 'larger')) == expected


@pytest.mark.parametrize(
    'extension',
    [
        extensions.LogReport(trigger=(1, 'iteration')),
        extensions.PlotReport(['main/loss'], trigger=(1, 'iteration')),
        extensions.VariableStatisticsPlot(Model(), trigger=(1, 'iteration')),
    ],
    ids=lambda extension: type(extension).__name__,
)
def test_reports_are_whole_or_not_there(tmp_path, monkeypatch, capsys, extension):
    """A report that fails leaves the file before and no others."""
    out = tmp_path / 'out'
    optimizer = optimizers.SGD(0.0).setup(Model())
    updater = training.StandardUpdater(iterators.SerialIterator(DATA, 4), optimizer)
    trainer = training.Trainer(updater, (3, 'iteration'), out=str(out))
    trainer.extend(extension, trigger=(1, 'iteration'))
    contents = []

    def look(trainer):
        contents.append({path.name: path.read_bytes() for path in out.iterdir()})
        if trainer.updater.iteration == 2:

            def replace(old, new):
                raise OSError(errno.ENOSPC, 'No space left on device')

            monkeypatch.setattr(os, 'replace', replace)

    trainer.extend(look, priority=-100)
    with pytest.raises(OSError, match='No space left'):
        trainer.run(show_loop_exception_msg=False)
    monkeypatch.undo()
    after = {path.name: path.read_bytes() for path in out.iterdir()}
    assert len(contents) == 2 and len(after) == 1
    assert after == contents[-1]
