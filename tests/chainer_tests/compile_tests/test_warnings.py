"""Plans of calls that warn: those of old names, which filters of Python mostly suppress."""

import warnings

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, state_of

import chainer.functions as F
import chainer.links as L
from chainer import optimizers

pytestmark = pytest.mark.chainerx


class Program:
    """Clears gradients by the name of Chainer 1."""

    def __init__(self):
        self.model = L.Linear(3, 2)
        self.model.to_device(DEVICE)
        self.optimizer = optimizers.SGD().setup(self.model)

    def step(self, x):
        loss = F.sum(F.tanh(self.model(x)))
        self.model.zerograds()
        loss.backward()
        self.optimizer.update()
        return loss

    def state(self):
        return state_of(self.model, self.optimizer)


def run(pair, action):
    """Runs a step of both under a filter; returns whether a plan ran, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        ran = pair.run(array(np.ones((4, 3)), 'f'))
    return ran, [str(warning.message) for warning in caught]


def test_plans_run_only_while_warnings_are_suppressed():
    pair = Pair(Program)
    for _ in range(4):
        ran, shown = run(pair, 'ignore')
    assert ran
    assert not shown
    ran, shown = run(pair, 'always')
    assert not ran
    assert 'Link.zerograds is deprecated. Use Link.cleargrads instead.' in shown
    assert shown[: len(shown) // 2] == shown[len(shown) // 2 :]
    assert 'a warning (test_warnings.py:' in pair.function.report()
    assert not run(pair, 'error')[0]
    assert pair.outcome[0] is DeprecationWarning
    assert run(pair, 'ignore')[0]


def test_a_warning_that_is_shown_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('default')
        pair = Pair(Program)
        pair.settle(array(np.ones((4, 3)), 'f'))
    shown = [str(warning.message) for warning in caught]
    assert len(shown) == len({*shown})
