import sys
import types

import pytest


class Trial:
    """Takes the last or highest of the values to choose from."""

    def __init__(self):
        self.params = {}

    def suggest_int(self, name, low, high, log=False):
        return self.params.setdefault(name, high)

    def suggest_float(self, name, low, high, log=False):
        return self.params.setdefault(name, high)

    def suggest_categorical(self, name, choices):
        return self.params.setdefault(name, choices[-1])


class Study:
    def optimize(self, objective, n_trials):
        self.trials = []
        for _ in range(n_trials):
            trial = Trial()
            trial.value = objective(trial)
            self.trials.append(trial)
        self.best_trial = self.trials[0]


def test_search(run_example, monkeypatch, device):
    monkeypatch.setitem(sys.modules, 'optuna', types.SimpleNamespace(create_study=Study))
    out = run_example('optuna/tune_digits.py', '-n', 2, '-e', 3, '-d', device)
    assert 'Number of finished trials: 2' in out and 'n_units_l2: 128' in out
    error = float(out.split('Best error: ')[1].split()[0])
    assert error < 0.3


def test_without_optuna(run_example, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'optuna', None)
    with pytest.raises(SystemExit) as error:
        run_example('optuna/tune_digits.py')
    assert error.value.code == 1
    assert 'pip install optuna' in capsys.readouterr().err
