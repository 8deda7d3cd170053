"""The extensions that change a hyperparameter."""

import math

import numpy
import pytest

import chainer
from chainer import serializers, testing
from chainer.training import extensions


class Optimizer:
    def __init__(self, x):
        self.x = x


def run(make, n, initial, resume_at=None):
    """Returns the values of x before training and after each of n calls."""
    optimizer = Optimizer(initial)
    trainer = testing.get_trainer_with_mock_updater()
    trainer.updater.get_optimizer = {'main': optimizer}.__getitem__
    extension = make()
    extension.initialize(trainer)
    values = [optimizer.x]
    for i in range(n):
        if i == resume_at:
            with chainer.using_config('exact_resume', 'always'):
                target = serializers.npz.serialize(extension)
            optimizer.x = 1000.0  # what a script would give to a new optimizer
            extension = make()
            extension.serialize(serializers.NpzDeserializer(target))
            extension.initialize(trainer)
            assert optimizer.x == values[-1]
        extension(trainer)
        values.append(optimizer.x)
    return values


CASES = [
    (lambda: extensions.ExponentialShift('x', 0.5), 2.0, [2, 1, 0.5, 0.25, 0.125]),
    (lambda: extensions.ExponentialShift('x', 0.5, init=4), 2.0, [4, 2, 1, 0.5, 0.25]),
    (lambda: extensions.ExponentialShift('x', 0.5, target=0.3), 2.0, [2, 1, 0.5, 0.3, 0.3]),
    (lambda: extensions.ExponentialShift('x', 2, target=10), 2.0, [2, 4, 8, 10, 10]),
    (lambda: extensions.ExponentialShift('x', 2, target=-10), -2.0, [-2, -4, -8, -10, -10]),
    (lambda: extensions.InverseShift('x', 1, 1), 6.0, [6, 3, 2, 1.5, 1.2]),
    (lambda: extensions.InverseShift('x', 1, 2, target=0.5), 4.0, [4, 1, 0.5, 0.5, 0.5]),
    (lambda: extensions.InverseShift('x', 1, -1, target=10), 4.0, [4, 8, 10, 10, 10]),
    (lambda: extensions.PolynomialShift('x', 1, 4), 2.0, [2, 1.5, 1, 0.5, 0, 0]),
    (lambda: extensions.PolynomialShift('x', 2, 4, target=0.3), 2.0, [2, 1.125, 0.5, 0.3, 0.3]),
    (lambda: extensions.PolynomialShift('x', 1, 4, target=0), 2.0, [2, 1.5, 1, 0.5, 0, 0]),
    (lambda: extensions.ExponentialShift('x', 0.5, target=0), 2.0, [2, 1, 0.5]),
    (lambda: extensions.StepShift('x', 0, 1, target=0.5), 2.0, [2, 0.5, 0.5]),
    (lambda: extensions.PolynomialShift('x', 1, 2, target=-0.5), -2.0, [-2, -1, -0.5, -0.5]),
    (lambda: extensions.PolynomialShift('x', -1, 4), 2.0, [2, 8 / 3, 4, 8]),
    (lambda: extensions.PolynomialShift('x', -1, 4, target=5), 2.0, [2, 8 / 3, 4, 5, 5, 5]),
    (lambda: extensions.StepShift('x', 0.5, 2), 8.0, [8, 8, 4, 4, 2, 2]),
    (lambda: extensions.StepShift('x', 0.5, 1, target=3), 8.0, [8, 4, 3, 3]),
    (lambda: extensions.StepShift('x', 2, 1, init=1, target=3), 8.0, [1, 2, 3, 3]),
    (lambda: extensions.MultistepShift('x', 0.1, [2, 3], 10), 1.0, [10, 10, 1, 0.1, 0.1]),
    (lambda: extensions.MultistepShift('x', 0.1, [1], None), 2.0, [2, 0.2, 0.2]),
    (lambda: extensions.LinearShift('x', (2, 6), (1, 3)), 9.0, [2, 2, 4, 6, 6]),
    (lambda: extensions.LinearShift('x', (6, 2), (0, 4)), 9.0, [6, 5, 4, 3, 2, 2]),
    (lambda: extensions.WarmupShift('x', 0.1, 3, 1.0), 9.0, [0.1, 0.4, 0.7, 1, 1]),
    (lambda: extensions.WarmupShift('x', 1.0, 2, None), 3.0, [1, 2, 3, 3]),
    (
        lambda: extensions.CosineShift('x', 4),
        2.0,
        [2, 1 + math.cos(math.pi / 4), 1, 1 - math.cos(math.pi / 4), 0, 0],
    ),
    (lambda: extensions.CosineShift('x', 2, init=4, target=2), 1.0, [4, 3, 2, 2]),
]


@pytest.mark.parametrize('make,initial,expected', CASES)
@pytest.mark.parametrize('resume_at', [None, 0, 2])
def test_values(make, initial, expected, resume_at):
    values = run(make, len(expected) - 1, initial, resume_at)
    assert values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    'make,state,values',
    [
        (lambda: extensions.ExponentialShift('x', 0.5), {'_t': 1, '_last_value': 2.0}, (2, 1)),
        (
            lambda: extensions.MultistepShift('x', 0.1, [1, 2], None),
            {'_t': 1, '_current_step': 1},
            (0.4, 0.04),
        ),
        (lambda: extensions.WarmupShift('x', 1, 2, None), {'_t': 1}, (2.5, 4)),
        (lambda: extensions.WarmupShift('x', 1, 2, None), {'_t': 7}, (4, 4)),
    ],
)
def test_state_of_chainer_7(make, state, values):
    trainer = testing.get_trainer_with_mock_updater()
    optimizer = Optimizer(4.0)
    trainer.updater.get_optimizer = {'main': optimizer}.__getitem__
    extension = make()
    extension.serialize(serializers.NpzDeserializer(state))
    extension.initialize(trainer)
    assert serializers.npz.serialize(extension) == state
    seen = [optimizer.x]
    extension(trainer)
    assert [*seen, optimizer.x] == pytest.approx(values)


def test_types_of_values():
    optimizer = Optimizer(0.8)
    trainer = testing.get_trainer_with_mock_updater()
    extension = extensions.StepShift('x', 0.1, 2, target=0.05, optimizer=optimizer)
    extension.initialize(trainer)
    kinds = [type(optimizer.x)]
    for _ in range(4):
        extension(trainer)
        kinds.append(type(optimizer.x))
    assert kinds == [float, *[numpy.float64] * 3, float]


def test_warmup_leaves_the_rest_to_others():
    optimizer = Optimizer(1.0)
    warmup = extensions.WarmupShift('x', 0.1, 2, 1.0, optimizer)
    warmup.initialize(None)
    for expected in 0.55, 1.0, 7.0:
        warmup(None)
        assert optimizer.x == pytest.approx(expected)
        if expected == 1:
            optimizer.x = 7.0


def test_given_optimizer():
    optimizer = Optimizer(4.0)
    extension = extensions.ExponentialShift('x', 0.5, optimizer=optimizer)
    trainer = testing.get_trainer_with_mock_updater()
    extension.initialize(trainer)
    extension(trainer)
    assert optimizer.x == 2


@pytest.mark.parametrize(
    'make',
    [
        lambda: extensions.ExponentialShift('x', -1),
        lambda: extensions.InverseShift('x', -1, 1),
        lambda: extensions.StepShift('x', -1, 1),
        lambda: extensions.MultistepShift('x', -1, [1], 1),
        lambda: extensions.CosineShift('x', 0),
    ],
)
def test_errors(make):
    with pytest.raises(ValueError):
        make()
