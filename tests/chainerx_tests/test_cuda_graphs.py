"""Compiled steps on the CUDA backend, whose kernels are recorded as CUDA graphs."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizers
from chainer.backends import cuda
from tests.helpers.cuda_emulation import is_emulated

DEVICE = 'cuda:0'


def _send(values, dtype='float32'):
    return chainerx.array(np.asarray(values, dtype), device=DEVICE)


class Program:
    """A model with its optimizer, and a step on a batch."""

    def __init__(self, make_optimizer, width=8, dropout=0.0):
        np.random.seed(0)
        self.model = chainer.Sequential(
            L.Linear(4, width), F.relu, lambda h: F.dropout(h, dropout), L.Linear(width, 3)
        )
        self.model.to_device(DEVICE)
        self.optimizer = make_optimizer().setup(self.model)

    def step(self, x, t):
        loss = F.softmax_cross_entropy(self.model(x), t)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss

    def state(self):
        arrays = [a for p in self.model.params() for a in (p.array, p.grad)]
        return [chainerx.to_numpy(a) for a in arrays]


def _batches(count, size=5):
    rng = np.random.default_rng(1)
    for _ in range(count):
        x = rng.standard_normal((size, 4))
        yield _send(x), _send(rng.integers(0, 3, size), 'int32')


def _seed():
    np.random.seed(0)
    if cuda.available:
        cuda.cupy.random.seed(0)


def _plans(function):
    return [recorded.plan for recorded in function._plans.in_order]


def _compare(make, batches=lambda: _batches(8)):
    """Trains eagerly and compiled; returns the plans."""
    eager, program = make(), make()
    step = chainer.compile(program.step)
    _seed()
    expected = [chainerx.to_numpy(eager.step(*batch).array) for batch in batches()]
    _seed()
    losses = [step(*batch) for batch in batches()]  # all of which stay
    np.testing.assert_array_equal([chainerx.to_numpy(loss.array) for loss in losses], expected)
    for a, b in zip(program.state(), eager.state(), strict=True):
        np.testing.assert_array_equal(a, b)
    return _plans(step)


@pytest.mark.parametrize(
    'make_optimizer',
    [optimizers.SGD, optimizers.Adam, lambda: optimizers.MomentumSGD(0.1)],
    ids=['SGD', 'Adam', 'MomentumSGD'],
)
def test_steps_are_submitted_as_one_graph(make_optimizer):
    (plan,) = _compare(lambda: Program(make_optimizer))
    assert plan.recorded_count == 1
    assert plan.submitted_count == 5  # the first calls and runs are eager


def test_each_run_draws_random_numbers():
    """They are inputs of the plan. The stand-in for CuPy is code that nothing watches."""
    plans = _compare(lambda: Program(optimizers.SGD, dropout=0.5))
    is_watched = not (cuda.available and is_emulated())
    assert [plan.submitted_count for plan in plans] == [5] * is_watched


def test_shapes_take_turns():
    def batches():
        for a, b in zip(_batches(8), _batches(8, 2)):
            yield from (a, b)

    plans = _compare(lambda: Program(optimizers.Adam), batches)
    assert [plan.recorded_count for plan in plans] == [1, 1]
    assert all(plan.submitted_count >= 4 for plan in plans)


def test_large_gradients_that_the_program_keeps_do_not_change():
    program = Program(optimizers.SGD, 80000)
    reference = Program(optimizers.SGD, 80000)
    step = chainer.compile(program.step)
    kept, expected = [], []
    for batch in _batches(8):
        step(*batch)
        reference.step(*batch)
        kept.append(program.model[0].W.grad)
        expected.append(chainerx.to_numpy(reference.model[0].W.grad))
        assert kept[-1].nbytes > 1 << 20
    for a, b in zip(kept, expected):
        np.testing.assert_array_equal(chainerx.to_numpy(a), b)


def test_large_gradients_stay_at_their_places():
    (plan,) = _compare(lambda: Program(optimizers.SGD, 80000))
    assert plan.recorded_count == 1
    assert plan.submitted_count >= 4


def test_inputs_that_a_step_changes():
    @chainer.compile
    def add(x, y):
        x += y * 2 + 1
        return (x * y).sum()

    x, expected = _send([1, 2]), np.array([1.0, 2.0])
    for i in range(6):
        result = add(x, _send([i, -i]))
        expected += np.array([i, -i]) * 2 + 1
        np.testing.assert_array_equal(chainerx.to_numpy(x), expected)
        assert float(result) == (expected * [i, -i]).sum()


def test_views_and_empty_arrays():
    @chainer.compile
    def f(x, y, z):
        return x.T.dot(y) + 1, x[1:], z * 2

    for i in range(6):
        x = np.arange(12.0).reshape(3, 4) + i
        y = np.arange(24.0).reshape(6, 4)
        # The second array has gaps.
        product, part, empty = f(_send(x), _send(y)[::2], _send(np.zeros((0, 3))))
        np.testing.assert_array_equal(chainerx.to_numpy(product), x.T.dot(y[::2]) + 1)
        np.testing.assert_array_equal(chainerx.to_numpy(part), x[1:])
        assert empty.shape == (0, 3)


def test_compute_modes_have_recordings_of_their_own():
    @chainer.compile
    def f(x):
        return chainerx.tanh(x.dot(x) + 1) * 2 - 1

    x = _send(np.eye(3) / 3)
    results = {}
    try:
        for mode in ['float32', 'tf32'] * 2:
            chainerx.set_compute_mode(mode)
            for _ in range(4):
                results.setdefault(mode, []).append(chainerx.to_numpy(f(x)))
    finally:
        chainerx.set_compute_mode('float32')
    (plan,) = _plans(f)
    assert plan.recorded_count == 2
    for values in results.values():
        assert all((v == values[0]).all() for v in values)


def test_in_a_stream():
    @chainer.compile
    def f(x):
        return (x * 2 + 1) * x - 3

    stream = chainerx.Stream(DEVICE)
    for i in range(8):
        with stream:
            result = chainerx.to_numpy(f(_send([i, 1])))
        np.testing.assert_array_equal(result, [(i * 2 + 1) * i - 3, 0])
    assert _plans(f)[0].submitted_count >= 4


def test_what_cannot_be_recorded_runs_call_by_call():
    """The host looks whether a matrix is singular."""

    @chainer.compile
    def f(x):
        return chainerx.linalg.inv(x * 2 + 1) - 1

    for i in range(6):
        x = np.eye(2) * (i + 1)
        np.testing.assert_allclose(
            chainerx.to_numpy(f(_send(x))), np.linalg.inv(x * 2 + 1) - 1, 1e-5
        )
    (plan,) = _plans(f)
    assert plan.submitted_count == 0
    with pytest.raises(chainerx.ChainerxError, match='Singular matrix'):
        f(_send(np.full((2, 2), -0.5)))


def test_checked_runs_are_undone():
    step = chainer.compile(Program(optimizers.Adam).step, check=True)
    for batch in _batches(8):
        step(*batch)  # raises an error if the plan does anything else than the function
    assert step.replays == 6


def test_loss_scales_are_tested_in_each_run():
    def make():
        program = Program(optimizers.SGD)
        program.optimizer.loss_scaling(interval=3)
        return program

    def batches():
        for i, (x, t) in enumerate(_batches(10)):
            yield (x * 1e38 if i == 6 else x), t

    with pytest.warns(UserWarning, match='Non finite number found'):
        plans = _compare(make, batches)
    assert sum(plan.submitted_count for plan in plans) > 0


def test_summary():
    step = chainer.compile(Program(optimizers.SGD).step)
    for batch in _batches(6):
        step(*batch)
    assert 'CUDA graphs: 1, submitted 3 times' in str(step.summary())
