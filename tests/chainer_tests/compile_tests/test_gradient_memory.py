"""Gradients lie in the memory of intermediate arrays, and are nobody else's while somebody has them."""

import gc

import numpy as np
import pytest
from helpers.compiled import array, bits

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks

pytestmark = pytest.mark.chainerx

UNITS = 200  # so that gradients of weights are large


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(UNITS, UNITS)
            self.l2 = L.Linear(UNITS, UNITS)

    def forward(self, x):
        return F.tanh(self.l2(F.tanh(self.l1(x))))


class WideModel(chainer.Chain):
    """Large activations and small weights first, then the other way round."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(3, 16, 3, pad=1)
            self.norm = L.BatchNormalization(16)
            self.conv2 = L.Convolution2D(16, 128, 3, stride=8)
            self.conv3 = L.Convolution2D(128, 128, 3, pad=1)
            self.fc = L.Linear(9 * 128, 20)

    def forward(self, x):
        h = F.relu(self.norm(self.conv1(x)))
        return self.fc(F.relu(self.conv3(F.relu(self.conv2(h)))))


class Program:
    """A step of training, and an inference by the same function."""

    def __init__(self, compiled, model=Model, **kwargs):
        np.random.seed(0)
        self.model = model()
        self.model.to_device('native:0')
        self.optimizer = chainer.optimizers.MomentumSGD(0.1).setup(self.model)
        self.run = chainer.compile(self.step, **kwargs) if compiled else self.step

    def step(self, x, trains=True):
        loss = F.sum(self.model(x) ** 2)
        if trains:
            self.model.cleargrads()
            loss.backward()
            self.optimizer.update()
        return loss.array

    @property
    def grads(self):
        return [param.grad for param in self.model.params()]


def data(n=30, seed=0):
    return array(np.random.RandomState(seed).rand(n, UNITS), 'f')


def all_bits(arrays):
    return [bits(a) for a in arrays]


@pytest.fixture
def programs():
    return Program(False), Program(True)


def run(programs, *args):
    eager, compiled = [bits(program.run(*args)) for program in programs]
    assert eager == compiled
    eager, compiled = [all_bits(program.grads) for program in programs]
    assert eager == compiled


def warm_up(programs):
    for i in range(4):
        run(programs, data(seed=i))


def plan_of(program):
    return program.run._plans.in_order[0].plan


def test_gradients_take_the_place_of_activations(programs):
    warm_up(programs)
    plan = plan_of(programs[1])
    last = plan.call_count - 1
    size = UNITS * UNITS * 4
    assert sum(b[1] == last and b[3] == size for b in plan.blocks) == 2
    replays = programs[1].run.replays
    for i in range(5):
        run(programs, data(seed=10 + i))
    assert programs[1].run.replays == replays + 5
    assert programs[1].run._plans.scratch.bytes == plan.scratch_bytes


@pytest.mark.parametrize('hook', [None, optimizer_hooks.GradientClipping(0.1)], ids=str)
def test_gradients_of_wide_layers_wait(hook):
    """They need memory when that of large activations is free, and are read all the same."""
    programs = Program(False, WideModel), Program(True, WideModel)
    for program in programs:
        if hook is not None:
            program.optimizer.add_hook(hook)
    for i in range(6):
        run(programs, array(np.random.RandomState(i).rand(4, 3, 24, 24), 'f'))
    assert programs[1].run.replays > 2
    plan = plan_of(programs[1])
    kernels = [line.split()[1] for line in plan.describe().splitlines()]
    (backward,) = [i for i, name in enumerate(kernels) if name == 'batch_norm_grad']
    size = programs[1].model.conv3.W.array.nbytes
    (begin,) = [b[0] for b in plan.blocks if b[1] == len(kernels) - 1 and b[3] == size]
    assert begin > backward
    for eager, compiled in zip(*[program.model.params() for program in programs]):
        assert bits(eager) == bits(compiled)


@pytest.mark.parametrize('is_view', [False, True], ids=['array', 'numpy'])
def test_kept_gradients_stay_as_they_are(programs, is_view):
    warm_up(programs)
    kept = []
    for i in range(6):
        run(programs, data(seed=i))
        grads = programs[1].grads
        if is_view:
            grads = [chainerx.to_numpy(grad, copy=False) for grad in grads]
        kept.append((grads, [np.array(a.tobytes()) if is_view else bits(a) for a in grads]))
    for grads, wanted in kept:
        assert [np.array(a.tobytes()) if is_view else bits(a) for a in grads] == wanted
    assert programs[1].run.replays > 5
    # From the second kept gradient on, those of each run have memory of their own.
    memory = programs[1].run._plans.scratch.bytes
    del grads, kept
    gc.collect()
    for i in range(3):
        run(programs, data(seed=i))
    assert programs[1].run._plans.scratch.bytes == memory


def test_inferences_leave_gradients_alone(programs):
    warm_up(programs)
    for i in range(3):
        run(programs, data(i + 1), False)
    for i in range(12):
        run(programs, data(seed=i))
        for n in (30, 60, 30):  # less and more memory than the training
            run(programs, data(n, i), False)
    assert programs[1].run.replays > 30
    memory = programs[1].run._plans.scratch.bytes
    for i in range(6):
        run(programs, data(seed=i))
        run(programs, data(seed=i), False)
    assert programs[1].run._plans.scratch.bytes == memory


def test_shapes_that_come_and_go(programs):
    for i in range(30):
        run(programs, data((30, 7, 64)[i % 3], i))
    assert programs[1].run.replays > 15
    largest = max(plan.plan.scratch_bytes for plan in programs[1].run._plans.in_order)
    assert programs[1].run._plans.scratch.bytes == largest


def test_gradients_outlive_the_function(programs):
    warm_up(programs)
    grads = programs[1].grads
    wanted = all_bits(grads)
    programs[1].run.clear()
    del programs[1].run
    gc.collect()
    others = [array(np.ones((UNITS, UNITS)), 'f') for _ in range(20)]
    assert all_bits(grads) == wanted
    assert len(others) == 20


def test_gradients_as_arguments(programs):
    warm_up(programs)
    compiled = programs[1]
    for i in range(5):
        for program in programs:
            program.x = program.model.l1.W.grad[:30]
        eager, got = [bits(program.run(program.x)) for program in programs]
        assert eager == got, i
        assert all_bits(programs[0].grads) == all_bits(compiled.grads)


def test_check():
    program = Program(True, check=True)
    for i in range(6):
        program.run(data(seed=i))
    assert program.run.replays >= 3


def test_gradients_that_add_up():
    """Those that a step adds to are read at its start and are no free memory."""
    programs = Program(False), Program(True)
    for program in programs:

        def step(x, program=program):
            loss = F.sum(program.model(x) ** 2)
            loss.backward()
            return loss.array

        program.run = chainer.compile(step) if program is programs[1] else step
    for i in range(12):
        if i % 4 == 0:
            for program in programs:
                program.model.cleargrads()
        run(programs, data(seed=i))


def test_gradients_of_cross_entropies_overwrite_the_scores():
    n, classes = 50, 400

    def step(x, t, keeps):
        x = chainer.Variable(x)
        scores = x * 2
        loss = F.softmax_cross_entropy(scores, t)
        loss.backward()
        return loss.array, x.grad, scores.array if keeps else None

    compiled = chainer.compile(step)
    rng = np.random.RandomState(0)
    needed: dict[bool, int] = {}
    for keeps in (False, True):
        for _ in range(5):
            x = array(rng.randn(n, classes), 'f')
            t = array(rng.randint(-1, classes, n), 'i')
            assert bits(compiled(x, t, keeps)) == bits(step(x, t, keeps))
        needed[keeps] = compiled._plans.in_order[0].plan.unshared_scratch_bytes
    assert compiled.replays >= 4
    # The scores lie in the memory of the result.
    assert needed[False] < n * classes * 4
