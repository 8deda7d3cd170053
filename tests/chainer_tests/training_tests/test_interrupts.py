"""Ctrl-C and SIGTERM during training: snapshots, exit status, handlers of the program."""

import os
import signal
import threading
from pathlib import Path

import numpy
import pytest
from helpers.programs import start_python
from helpers.writers import WRITERS

import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.training import extensions

DATA = numpy.random.RandomState(0).rand(10, 3).astype('f')


def make_trainer(out, on_error=True, n_iterations=6, **snapshot_kwargs):
    """Makes a trainer that saves nothing unless it is interrupted, and goes on from there."""
    numpy.random.seed(0)
    model = L.Linear(3, 2)
    optimizer = optimizers.Adam().setup(model)
    updater = training.StandardUpdater(
        iterators.SerialIterator(DATA, 4),
        optimizer,
        loss_func=lambda x: F.sum(F.dropout(model(x)) ** 2),
    )
    trainer = training.Trainer(updater, (n_iterations, 'iteration'), str(out))
    trainer.extend(
        extensions.snapshot(snapshot_on_error=on_error, autoload=True, **snapshot_kwargs),
        trigger=lambda trainer: False,
    )
    return trainer


def state(trainer):
    return {
        key: value.tolist()
        for key, value in serializers.npz.serialize(trainer).items()
        if 'elapsed_time' not in key
    }


def send_in(trainer, iteration, *signums):
    """Lets the signals come at the begin of an iteration."""
    update_core = trainer.updater.update_core

    def update():
        if trainer.updater.iteration == iteration - 1:
            for signum in signums:
                signal.raise_signal(signum)
        update_core()

    trainer.updater.update_core = update


@pytest.fixture(autouse=True)
def default_handlers():
    """The handlers of a program that sets none."""
    old = {signum: signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    for signum, handler in old.items():
        signal.signal(signum, handler)


@pytest.mark.parametrize('writer', WRITERS)
def test_ctrl_c(tmp_path, writer, capsys):
    """The training completes the iteration and goes on later, to the same result."""
    whole = make_trainer(tmp_path / 'whole')
    whole.run()
    trainer = make_trainer(tmp_path / 'out', writer=writer())
    send_in(trainer, 3, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert trainer.updater.iteration == 3
    assert os.listdir(tmp_path / 'out') == ['snapshot_iter_3']
    assert 'Exception' not in capsys.readouterr().err
    resumed = make_trainer(tmp_path / 'out')
    resumed.run()
    assert state(resumed) == state(whole)

    # In the same program, too.
    send_in(trainer, 5, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert sorted(os.listdir(tmp_path / 'out')) == ['snapshot_iter_3', 'snapshot_iter_5']
    trainer.run()
    assert trainer.updater.iteration == 6


def test_second_ctrl_c_acts_at_once(tmp_path):
    trainer = make_trainer(tmp_path)
    send_in(trainer, 3, signal.SIGINT, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert os.listdir(tmp_path) == ['snapshot_iter_2']


@pytest.mark.parametrize('on_error', [False, True])
@pytest.mark.parametrize('where', ['update', 'extension'])
def test_keyboard_interrupt(tmp_path, on_error, where, capsys):
    """It may come from elsewhere than a signal."""

    def interrupt(*args):
        if trainer.updater.iteration == 2:
            raise KeyboardInterrupt

    trainer = make_trainer(tmp_path, on_error)
    if where == 'update':
        trainer.updater.update_core = interrupt
    else:
        trainer.extend(interrupt)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert os.listdir(tmp_path) == ['snapshot_iter_2'] * on_error
    assert 'Exception' not in capsys.readouterr().err


def test_ctrl_c_while_extensions_are_initialized(tmp_path):
    """No state of before the training covers the snapshots of earlier runs."""

    def interrupt(trainer):
        raise KeyboardInterrupt

    trainer = make_trainer(tmp_path)
    trainer.extend(training.make_extension(initializer=interrupt)(lambda trainer: None), name='x')
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert os.listdir(tmp_path) == []


def test_ctrl_c_while_saving(tmp_path):
    def savefun(path, target):
        Path(path).write_text('half')
        raise KeyboardInterrupt

    trainer = make_trainer(tmp_path, savefun=savefun)
    send_in(trainer, 3, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert os.listdir(tmp_path) == []


def test_saving_that_fails(tmp_path, capsys):
    def savefun(path, target):
        raise OSError('disk full')

    trainer = make_trainer(tmp_path, savefun=savefun)
    send_in(trainer, 3, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert 'disk full' in capsys.readouterr().err


def test_other_errors_after_the_signal(tmp_path):
    """As from a worker process that the signal ended: the signal is the cause."""
    trainer = make_trainer(tmp_path)
    send_in(trainer, 3, signal.SIGINT)
    trainer.extend(lambda trainer: 1 // (3 - trainer.updater.iteration), name='fail')
    with pytest.raises(KeyboardInterrupt):
        trainer.run(show_loop_exception_msg=False)
    assert os.listdir(tmp_path) == ['snapshot_iter_3']


def test_handlers_of_the_program(tmp_path):
    """They stay, whether they were set before or during the training."""
    received = []
    trainer = make_trainer(tmp_path)
    send_in(trainer, 3, signal.SIGINT, signal.SIGTERM)
    signal.signal(signal.SIGINT, lambda signum, frame: received.append(signum))

    def set_handler(trainer):
        signal.signal(signal.SIGTERM, lambda signum, frame: received.append(signum))

    trainer.extend(set_handler)
    handlers = []
    try:
        trainer.run()
        handlers = [signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)]
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    assert received == [signal.SIGINT, signal.SIGTERM]
    assert all(handler.__module__ == __name__ for handler in handlers)
    assert trainer.updater.iteration == 6 and os.listdir(tmp_path) == []


@pytest.mark.parametrize('on_error', [False, True])
def test_handlers_during_the_training(tmp_path, on_error):
    seen = set()

    def look(trainer):
        seen.update(signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM))

    trainer = make_trainer(tmp_path, on_error)
    trainer.extend(look)
    trainer.run()
    assert (seen == {signal.default_int_handler, signal.SIG_DFL}) == (not on_error)


def test_training_in_another_thread(tmp_path):
    trainer = make_trainer(tmp_path)
    thread = threading.Thread(target=trainer.run)
    thread.start()
    thread.join(60)
    assert trainer.updater.iteration == 6


@pytest.mark.filterwarnings('ignore:.*fork:DeprecationWarning')
@pytest.mark.parametrize('signum', [signal.SIGINT, signal.SIGTERM])
def test_forked_processes_end_at_once(tmp_path, signum):
    statuses = []

    def fork(trainer):
        pid = os.fork()
        if pid == 0:
            try:
                signal.raise_signal(signum)
            except KeyboardInterrupt:
                os._exit(7)
            finally:
                os._exit(1)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    trainer = make_trainer(tmp_path)
    trainer.extend(fork, trigger=(3, 'iteration'))
    trainer.run()
    assert statuses == [{signal.SIGINT: 7, signal.SIGTERM: -15}[signum]] * 2
    assert os.listdir(tmp_path) == []


PROGRAM = """
import os, signal, sys, time
sys.path.insert(0, {folder!r})
import test_interrupts
from chainer.training.extensions import snapshot_writers

_, writer, mode, out = sys.argv
trainer = test_interrupts.make_trainer(
    out, mode != 'not asked for', 3000, writer=getattr(snapshot_writers, writer)())

def update():
    trainer.updater.get_iterator('main').next()
    if trainer.updater.iteration == 2:
        print('started', flush=True)
    time.sleep(0.01)

trainer.updater.update_core = update
if mode == 'first process':
    signal.raise_signal = lambda signum: None  # the system ignores it
try:
    trainer.run()
finally:
    print('ended', flush=True)
"""


@pytest.mark.parametrize(
    'writer, mode, returncode',
    [
        *((writer.__name__, 'process', -signal.SIGTERM) for writer in WRITERS),
        *((writer.__name__, 'group', -signal.SIGTERM) for writer in WRITERS),
        ('SimpleWriter', 'first process', 128 + signal.SIGTERM),
        ('SimpleWriter', 'not asked for', -signal.SIGTERM),
    ],
)
def test_sigterm(tmp_path, writer, mode, returncode):
    program = PROGRAM.format(folder=str(Path(__file__).parent))
    process = start_python('-c', program, writer, mode, str(tmp_path))
    try:
        while process.stdout.readline() not in ('started\n', ''):
            pass
        (os.killpg if mode == 'group' else os.kill)(process.pid, signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == returncode, err
    # The process ends before the rest of the program.
    assert ('ended' in out) == (mode == 'first process')
    names = os.listdir(tmp_path)
    if mode == 'not asked for':
        assert names == []
        return
    (name,) = names
    resumed = make_trainer(tmp_path, n_iterations=1)
    resumed.run()
    assert name == f'snapshot_iter_{resumed.updater.iteration}'
    assert resumed.updater.iteration >= 3
