"""Values for experiment trackers: stand-ins for all, and those that are installed."""

import contextlib
import json
import logging
import sqlite3
import types

import numpy as np
import pytest

import chainer
from chainer import testing, training
from chainer.training import extensions

EXPECTED = [(2, {'main/loss': 1.5, 'epoch': 1}), (4, {'main/loss': 3.5, 'epoch': 2})]


def run(path, logger, **options):
    trainer = testing.get_trainer_with_mock_updater((4, 'iteration'), iter_per_epoch=2)
    trainer.out = str(path)

    @training.make_extension(priority=training.PRIORITY_WRITER)
    def source(trainer):
        chainer.report({'main/loss': np.float32(trainer.updater.iteration), 'other': 0})

    trainer.extend(source)
    trainer.extend(extensions.LoggerReport(logger, **{'keys': ['main/loss']} | options))
    trainer.run()


class Writer:
    """Records scalars as dictionaries, as TensorBoard writes them."""

    def __init__(self):
        self.calls = []
        self.values = {}

    def add_scalar(self, key, value, step):
        self.values[key] = value
        self.step = step

    def flush(self):
        self.calls.append((self.step, self.values))
        self.values = {}


def _with_method(name):
    """Module of a tracker with one function, which takes the step by name."""
    calls = []
    function = lambda values, *, step: calls.append((step, values))  # noqa: E731
    return types.SimpleNamespace(calls=calls, **{name: function})


@pytest.mark.parametrize(
    'make', [Writer, lambda: _with_method('log'), lambda: _with_method('log_metrics')]
)
def test_trackers(tmp_path, make):
    logger = make()
    run(tmp_path, logger)
    assert logger.calls == EXPECTED
    assert all(type(v) in (float, int) for _, values in logger.calls for v in values.values())


def test_callable_and_options(tmp_path):
    calls = []
    run(
        tmp_path,
        lambda values, step: calls.append((step, values)),
        keys=None,
        trigger=(4, 'iteration'),
        postprocess=lambda stats: stats.update(extra=1),
    )
    assert calls == [(4, {'main/loss': 2.5, 'other': 0.0, 'epoch': 2, 'extra': 1})]


@pytest.mark.parametrize(
    'logger', [3, None, logging.getLogger('chainer')], ids=['int', 'None', 'logging']
)
def test_errors(logger):
    with pytest.raises(TypeError, match=r'callable as logger\(values, step\).*log_metrics'):
        extensions.LoggerReport(logger)


@pytest.mark.filterwarnings('ignore')  # of its database
def test_mlflow(tmp_path):
    mlflow = pytest.importorskip('mlflow')
    mlflow.set_tracking_uri(f'sqlite:///{tmp_path}/mlflow.db')
    with mlflow.start_run() as active:
        run(tmp_path, mlflow)
    history = mlflow.tracking.MlflowClient().get_metric_history(active.info.run_id, 'main/loss')
    assert [(m.step, m.value) for m in history] == [(2, 1.5), (4, 3.5)]


@pytest.mark.filterwarnings('ignore')
def test_tensorboard(tmp_path):
    tensorboardX = pytest.importorskip('tensorboardX')
    reader = pytest.importorskip('tensorboard.backend.event_processing.event_accumulator')
    with tensorboardX.SummaryWriter(str(tmp_path / 'events')) as writer:
        run(tmp_path, writer)
    events = reader.EventAccumulator(str(tmp_path / 'events'))
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars('main/loss')] == [
        (2, 1.5),
        (4, 3.5),
    ]


@pytest.mark.filterwarnings('ignore')
def test_wandb(tmp_path):
    wandb = pytest.importorskip('wandb')
    with wandb.init(project='digits', mode='offline', dir=tmp_path) as active:
        run(tmp_path, active)
        active.log({}, step=5)  # it writes values when the step grows
        summary = dict(active.summary)
    assert (summary['_step'], summary['epoch'], summary['main/loss']) == (4, 2, 3.5)


@pytest.mark.filterwarnings('ignore')
def test_trackio(tmp_path, monkeypatch):
    monkeypatch.setenv('TRACKIO_DIR', str(tmp_path))
    trackio = pytest.importorskip('trackio')
    trackio.init(project='digits', embed=False)
    run(tmp_path, trackio)
    trackio.finish()
    with contextlib.closing(sqlite3.connect(tmp_path / 'digits.db')) as database:
        rows = database.execute('SELECT step, metrics FROM metrics ORDER BY step').fetchall()
    assert [(step, json.loads(metrics)['main/loss']) for step, metrics in rows] == [
        (2, 1.5),
        (4, 3.5),
    ]
