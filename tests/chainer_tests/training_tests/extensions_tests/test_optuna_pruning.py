"""Trials that a study stops: with a stand-in for Optuna, and with Optuna where it is installed."""

import sys
import types

import numpy as np
import pytest

import chainer
from chainer import testing, training
from chainer.training import extensions


class TrialPruned(Exception):
    pass


class Trial:
    """Advises to stop as soon as a value is over a limit."""

    def __init__(self, limit):
        self.limit = limit
        self.reports = []

    def report(self, value, step):
        assert type(value) is float
        self.reports.append((step, value))

    def should_prune(self):
        return self.reports[-1][1] > self.limit


@pytest.fixture
def optuna(monkeypatch):
    monkeypatch.setitem(sys.modules, 'optuna', types.SimpleNamespace(TrialPruned=TrialPruned))


def make_trainer(path, extension=None, factor=1):
    trainer = testing.get_trainer_with_mock_updater((6, 'iteration'), iter_per_epoch=2)
    trainer.out = str(path)

    @training.make_extension(priority=training.PRIORITY_WRITER)
    def source(trainer):
        chainer.report({'x': np.float32(factor * trainer.updater.iteration)})

    trainer.extend(source)
    if extension is not None:
        trainer.extend(extension)
    return trainer


@pytest.mark.usefixtures('optuna')
@pytest.mark.parametrize(
    'trigger, expected',
    [((1, 'epoch'), [(1, 2.0), (2, 4.0), (3, 6.0)]), ((3, 'iteration'), [(3, 3.0), (6, 6.0)])],
)
def test_reports(tmp_path, trigger, expected):
    trial = Trial(limit=10)
    make_trainer(tmp_path, extensions.OptunaPruning(trial, 'x', trigger)).run()
    assert trial.reports == expected


@pytest.mark.usefixtures('optuna')
def test_trial_is_pruned(tmp_path, capsys):
    trial = Trial(limit=3)
    trainer = make_trainer(tmp_path, extensions.OptunaPruning(trial, 'x'))
    with pytest.raises(TrialPruned, match='^pruned after 2 epochs$'):
        trainer.run(show_loop_exception_msg=False)
    assert trainer.updater.iteration == 4
    assert capsys.readouterr().err == ''


@pytest.mark.usefixtures('optuna')
def test_later_than_evaluators(tmp_path):
    """It sees what extensions observe that are registered after it."""
    trial = Trial(limit=10)
    trainer = make_trainer(tmp_path, extensions.OptunaPruning(trial, 'late'))
    evaluate = training.make_extension(trigger=(1, 'epoch'), priority=training.PRIORITY_WRITER)(
        lambda trainer: chainer.report({'late': 1})
    )
    trainer.extend(evaluate, name='evaluate')
    trainer.run()
    assert len(trial.reports) == 3


@pytest.mark.usefixtures('optuna')
def test_errors(tmp_path):
    trainer = make_trainer(tmp_path, extensions.OptunaPruning(Trial(1), 'y'))
    with pytest.raises(
        KeyError, match=r"observation_key 'y' is not observed.*iteration 2.*\['x'\]"
    ):
        trainer.run(show_loop_exception_msg=False)
    with pytest.raises(TypeError, match=r'method report\(\), not .*int'):
        extensions.OptunaPruning(1, 'x')
    with pytest.raises(TypeError, match='a trigger must be'):
        extensions.OptunaPruning(Trial(1), 'x', 3)


def test_study(tmp_path):
    optuna = pytest.importorskip('optuna')
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    factors = [1, 5, 0.5]

    def objective(trial):
        extension = extensions.OptunaPruning(trial, 'x')
        make_trainer(tmp_path, extension, factors[trial.number]).run(show_loop_exception_msg=False)
        return factors[trial.number]

    pruner = optuna.pruners.MedianPruner(n_startup_trials=1)
    study = optuna.create_study(pruner=pruner)
    study.optimize(objective, n_trials=3)
    assert [trial.state.name for trial in study.trials] == ['COMPLETE', 'PRUNED', 'COMPLETE']
    assert study.trials[1].intermediate_values == {1: 10.0}
    assert study.best_value == 0.5
