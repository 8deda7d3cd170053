"""Values for experiment trackers: stand-ins for all, and MLflow where it is installed."""

import logging
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
