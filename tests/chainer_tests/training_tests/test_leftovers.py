"""Unfinished files do not stay, whatever ends the process that writes them."""

import os
import signal
from pathlib import Path

import numpy
import pytest
from helpers.programs import run_python

import chainer
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer._core.data import temporary_folder
from chainer.training import extensions


def make_trainer(out, extension):
    model = L.Linear(3, 2)
    updater = training.StandardUpdater(
        iterators.SerialIterator(numpy.ones((8, 3), 'f'), 4),
        optimizers.SGD().setup(model),
        loss_func=lambda x: chainer.functions.sum(model(x)),
    )
    trainer = training.Trainer(updater, (1, 'iteration'), str(out))
    trainer.extend(extension, trigger=(1, 'iteration'))
    return trainer


def save_npz(out):
    serializers.save_npz(os.path.join(out, 'model'), L.Linear(3, 2))


def save_hdf5(out):
    serializers.save_hdf5(os.path.join(out, 'model'), L.Linear(3, 2))


def log_report(out):
    make_trainer(out, extensions.LogReport(trigger=(1, 'iteration'))).run()


def log_report_in_a_folder(out):
    os.makedirs(os.path.join(out, 'logs'), exist_ok=True)
    make_trainer(out, extensions.LogReport(trigger=(1, 'iteration'), filename='logs/log')).run()


def snapshot(out):
    make_trainer(out, extensions.snapshot()).run()


WRITES = [save_npz, save_hdf5, log_report, log_report_in_a_folder, snapshot]


def die(*args):
    os.kill(os.getpid(), signal.SIGKILL)


def files(folder):
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob('*') if not path.is_dir()
    ), sorted(str(path.relative_to(folder)) for path in folder.rglob('.*'))


@pytest.mark.parametrize('write', WRITES)
def test_killed_process(tmp_path, write):
    if write is save_hdf5:
        pytest.importorskip('h5py')
    code = (
        f'import os, sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n'
        'import test_leftovers\n'
        'os.replace = test_leftovers.die\n'
        f'test_leftovers.{write.__name__}(".")'
    )
    run_python(code, status=-signal.SIGKILL, cwd=tmp_path)
    assert len(files(tmp_path)[1]) >= 1
    write(str(tmp_path))  # the next run
    names, hidden = files(tmp_path)
    assert len(names) == 1 and hidden == []


def test_training_removes_what_others_left(tmp_path):
    leftover = tmp_path / '.snapshot_iter_7.0123abcd.tmp'
    leftover.mkdir()
    (leftover / 'snapshot_iter_7').write_text('half')
    log_report(tmp_path)
    assert os.listdir(tmp_path) == ['log']


@pytest.mark.parametrize('error', [OSError, KeyboardInterrupt])
@pytest.mark.parametrize('write', WRITES)
def test_interrupted_writing(tmp_path, monkeypatch, write, error):
    if write is save_hdf5:
        pytest.importorskip('h5py')

    def interrupt(*args):
        raise error

    write(str(tmp_path))
    before = files(tmp_path)
    monkeypatch.setattr(os, 'replace', interrupt)
    with pytest.raises(error):
        write(str(tmp_path))
    assert files(tmp_path) == before


def test_folders_in_use_stay(tmp_path):
    with temporary_folder.temporary_folder(str(tmp_path), 'log') as path:
        with temporary_folder.temporary_folder(str(tmp_path), 'log') as other:
            assert path != other
            log_report(tmp_path)
            assert os.path.isdir(path) and os.path.isdir(other)
    assert os.listdir(tmp_path) == ['log']


def test_files_of_the_user_stay(tmp_path):
    folders = ['tmplog01234567', '.log.tmp', '.log.0123456.tmp', '.log.0123abcg.tmp', 'log.tmp']
    for name in folders:
        (tmp_path / name).mkdir()
    (tmp_path / '.log.01234567.tmp').write_text('a file')
    (tmp_path / 'target').mkdir()
    (tmp_path / '.log.12345678.tmp').symlink_to(tmp_path / 'target')
    before = set(os.listdir(tmp_path))
    log_report(tmp_path)
    assert set(os.listdir(tmp_path)) == {*before, 'log'}


def test_folder_that_another_process_removes(tmp_path, monkeypatch):
    """It had no lock yet, so it looked as one left by a killed process."""
    mkdir = os.mkdir
    removals = iter(['before the lock', None])

    def make(path, mode):
        mkdir(path, mode)
        if next(removals):
            temporary_folder.remove_leftovers(str(tmp_path))

    monkeypatch.setattr(os, 'mkdir', make)
    with temporary_folder.temporary_folder(str(tmp_path), 'log') as path:
        assert os.listdir(tmp_path) == [os.path.basename(path)]
    assert os.listdir(tmp_path) == []


def test_file_system_without_locks(tmp_path, monkeypatch):
    """Nobody can tell what is in use there, so everything stays."""

    def refuse(fd, operation):
        raise OSError('no locks here')

    (tmp_path / '.log.01234567.tmp').mkdir()
    monkeypatch.setattr(temporary_folder.fcntl, 'flock', refuse)
    log_report(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ['.log.01234567.tmp', 'log']
    monkeypatch.setattr(temporary_folder, 'fcntl', None)
    log_report(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ['.log.01234567.tmp', 'log']
