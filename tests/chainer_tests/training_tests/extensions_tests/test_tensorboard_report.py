import os
import sys
import types

import pytest

import chainer
from chainer import serializers, testing, training
from chainer.training import extensions


class Writer:
    """Records what the writers of tensorboardX are asked to do."""

    def __init__(self, logdir=None, purge_step=None):
        self.logdir = logdir
        self.purge_step = purge_step
        self.calls = []

    def add_scalar(self, tag, value, step):
        assert type(value) in (float, int)
        self.calls.append((step, tag, value))

    def flush(self):
        self.calls.append('flush')

    def close(self):
        self.calls.append('close')


@pytest.fixture
def tensorboardx(monkeypatch):
    """The writers that are made by a fake package tensorboardX."""
    writers = []

    def make(*args, **kwargs):
        writers.append(Writer(*args, **kwargs))
        return writers[-1]

    monkeypatch.setitem(sys.modules, 'tensorboardX', types.SimpleNamespace(SummaryWriter=make))
    return writers


class Message:
    """Stands for any protocol buffer."""

    START = 1

    def __init__(self, **fields):
        self.__dict__.update(fields)


@pytest.fixture
def tensorboard(monkeypatch):
    """The calls of a fake package tensorboard; there is no tensorboardX."""
    calls = []

    class EventFileWriter:
        def __init__(self, logdir):
            calls.append(logdir)

        def add_event(self, event):
            assert event.wall_time > 0
            if hasattr(event, 'summary'):
                (value,) = event.summary.value
                calls.append((event.step, value.tag, value.simple_value))
            else:
                calls.append((event.step, event.session_log.status))

        def flush(self):
            calls.append('flush')

        def close(self):
            calls.append('close')

    Summary = type('Summary', (Message,), {'Value': Message})
    modules = {
        'tensorboardX': None,
        'tensorboard': types.SimpleNamespace(),
        'tensorboard.compat': types.SimpleNamespace(),
        'tensorboard.compat.proto': types.SimpleNamespace(
            event_pb2=types.SimpleNamespace(Event=Message, SessionLog=Message),
            summary_pb2=types.SimpleNamespace(Summary=Summary),
        ),
        'tensorboard.summary': types.SimpleNamespace(),
        'tensorboard.summary.writer': types.SimpleNamespace(
            event_file_writer=types.SimpleNamespace(EventFileWriter=EventFileWriter)
        ),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return calls


def make_trainer(out, n_iterations, *args, **kwargs):
    trainer = testing.get_trainer_with_mock_updater((n_iterations, 'iteration'), iter_per_epoch=2)
    trainer.out = str(out)
    trainer.updater.serialize = lambda serializer: setattr(
        trainer.updater, 'iteration', serializer('iteration', trainer.updater.iteration)
    )

    @training.make_extension(priority=training.PRIORITY_WRITER)
    def source(trainer):
        chainer.report({'x': float(trainer.updater.iteration), 'y': 1.0})

    trainer.extend(source)
    trainer.extend(extensions.TensorBoardReport(*args, **kwargs))
    return trainer


def test_tensorboardx(tmp_path, tensorboardx):
    trainer = make_trainer(tmp_path, 4)
    assert tensorboardx == []  # no file before the training starts
    trainer.run()
    (writer,) = tensorboardx
    assert os.path.samefile(writer.logdir, tmp_path)
    assert writer.purge_step == 1
    assert writer.calls == [
        (2, 'x', 1.5),
        (2, 'y', 1.0),
        (2, 'epoch', 1),
        'flush',
        (4, 'x', 3.5),
        (4, 'y', 1.0),
        (4, 'epoch', 2),
        'flush',
        'close',
    ]


def test_tensorboard(tmp_path, tensorboard):
    make_trainer(tmp_path, 4, ['x'], (2, 'iteration'), logdir='events').run()
    assert tensorboard == [
        str(tmp_path / 'events'),
        (1, Message.START),
        (2, 'x', 1.5),
        (2, 'epoch', 1),
        'flush',
        (4, 'x', 3.5),
        (4, 'epoch', 2),
        'flush',
        'close',
    ]


def test_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tensorboardX', None)
    monkeypatch.setitem(sys.modules, 'tensorboard', None)
    with pytest.raises(ImportError, match=r'pip install .chainer\[tensorboard\]'):
        extensions.TensorBoardReport()


def test_own_writer(tmp_path):
    writer = Writer()
    make_trainer(
        tmp_path,
        2,
        trigger=(1, 'iteration'),
        keys=['y'],
        writer=writer,
        postprocess=lambda stats: stats.update(extra=0.5),
    ).run()
    assert writer.calls == [
        (1, 'y', 1.0),
        (1, 'epoch', 0),
        (1, 'extra', 0.5),
        'flush',
        (2, 'y', 1.0),
        (2, 'epoch', 1),
        (2, 'extra', 0.5),
        'flush',
    ]
    with pytest.raises(TypeError, match='logdir and writer'):
        extensions.TensorBoardReport(logdir='x', writer=writer)


def test_resume(tmp_path, tensorboardx):
    trainer = make_trainer(tmp_path, 4)
    trainer.extend(extensions.snapshot(filename='s_{.updater.iteration}'), trigger=(1, 'iteration'))
    trainer.run()
    trainer = make_trainer(tmp_path, 4)
    serializers.load_npz(tmp_path / 's_3', trainer)
    trainer.run()
    assert tensorboardx[1].purge_step == 4
    assert tensorboardx[1].calls == [
        (4, 'x', 3.5),
        (4, 'y', 1.0),
        (4, 'epoch', 2),
        'flush',
        'close',
    ]


def test_absolute_folder(tmp_path, tensorboardx):
    make_trainer(tmp_path, 2, logdir=str(tmp_path / 'here')).run()
    assert tensorboardx[0].logdir == str(tmp_path / 'here')
