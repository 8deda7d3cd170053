"""Plans of a function share guards and the memory of their intermediate arrays."""

import contextlib
import gc
import os
import threading
import weakref

import numpy as np
import pytest
from helpers.compiled import Pair, array, bits

import chainer
import chainer.functions as F
import chainerx
from chainer.compilation._scope import Scope, Scopes
from tests.chainer_tests.compile_tests import test_guards
from tests.chainer_tests.compile_tests.test_training import MLP, Training, batch

pytestmark = pytest.mark.chainerx

STATM = '/proc/self/statm'
SIZES = [5, 2, 9, 3, 17, 4, 1, 33, 8, 16]


def resident_bytes():
    with open(STATM) as file:
        return int(file.read().split()[1]) * 4096


def compute(x):
    """Needs memory for two intermediate arrays that nothing fuses."""
    return F.sum(F.matmul(F.tanh(F.matmul(x, x)), x), axis=0).array


def square(n, seed=0):
    return array(np.random.RandomState(seed).rand(n, n), 'f')


@pytest.mark.parametrize('sizes', [SIZES, sorted(SIZES), sorted(SIZES)[::-1]], ids=len)
def test_as_much_as_the_largest_plan_needs(sizes):
    """Results stay as they are while plans of other shapes run in the same memory."""
    compiled = chainer.compile(compute)
    rng, results = np.random.RandomState(0), []
    for n in sizes:
        for seed in range(3):
            compiled(square(n, seed))
    plans = compiled._plans
    for i in range(60):
        x = square(sizes[rng.randint(len(sizes))], i)
        results.append((compiled(x), bits(compute(x))))
    assert compiled.replays >= 60 + len(sizes)
    assert all([bits(result) == wanted for result, wanted in results])
    needed = [plan.plan.scratch_bytes for plan in plans.in_order]
    assert len({*needed}) > 4
    assert plans.scratch.bytes == max(needed)
    own = sum(plan.plan.own_bytes for plan in plans.in_order)
    last = f'{len(sizes)} plans share {max(needed)} bytes and take {own} themselves'
    assert compiled.summary().endswith('\n\n' + last)
    # The largest plan still fits after a smaller one, and the other way round.
    compiled.clear()
    assert compiled._plans.scratch.bytes == 0 and compiled.summary() == ''
    for n in (2, 2, 40, 40, 2, 40):
        assert bits(compiled(square(n))) == bits(compute(square(n)))


def test_training_of_many_shapes():
    """One scope serves all plans: a change that it sees ends all, and no other."""
    pair = Pair(lambda: Training(MLP(), chainer.optimizers.Adam()))
    for _ in range(3):
        for n in SIZES[:6]:
            pair.run(*batch(n + 1))
    plans = pair.function._plans.in_order
    assert len(plans) == 6
    assert len({id(plan.scope) for plan in plans}) == 1
    for program in pair.programs:
        program.optimizer.alpha = 0.5  # which plans read
    assert all([pair.run(*batch(n + 1)) for n in SIZES[:6]])
    for program in pair.programs:
        program.model.dropout = 0.5
    assert not any([pair.run(*batch(n + 1)) for n in SIZES[:6]])
    assert all([pair.run(*batch(n + 1)) for n in SIZES[:6]])
    for program in pair.programs:
        program.model.l1.W.update_rule.enabled = False
    assert not any([pair.run(*batch(n + 1)) for n in SIZES[:6]])
    assert all([pair.run(*batch(n + 1)) for n in SIZES[:6]])


def contents(scope):
    """Returns what a walk found."""
    lists = [[id(value) for value in part] for part in scope._lists[:3] + scope._lists[4:]]
    slots = [(id(owner), name) for owner, name in scope.slots]
    parts = scope.labels, scope._entries, [*scope.known], lists, slots, scope._found
    return *parts, scope.names, scope.reads_any, scope.passes_loss_scales, [*scope.scaling]


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('seed', range(3))
def test_scopes_that_serve_again(seed, monkeypatch):
    """A scope serves another recording only if another walk finds the same."""
    find, served = Scopes.find, []

    def compare(scopes, environment, roots):
        last = scopes._last
        branch = find(scopes, environment, roots)
        if last is scopes._last:
            served.append(contents(last) == contents(Scope(roots, scopes.codes, scopes._slots, {})))
        return branch

    monkeypatch.setattr(Scopes, 'find', compare)
    test_guards.fuzz(seed, 60)
    assert len(served) > 5 and all(served)


def test_loss_scales_that_come_and_go():
    """Scopes do not watch the loss scales that plans read again."""

    class Scaled(Training):
        def step(self, x, t):
            self.optimizer.update(self.loss, x, t)

        def loss(self, x, t):
            return F.softmax_cross_entropy(self.model(x), t)

    pair = Pair(lambda: Scaled(MLP(), chainer.optimizers.SGD()))
    for scale in (None, 4.0, 2, None, 8.0):
        for program in pair.programs:
            program.optimizer._loss_scale = scale
        for n in SIZES[:4] * 2:
            pair.run(*batch(n + 1))
        assert all([pair.run(*batch(n + 1)) for n in SIZES[:4]])


def test_check():
    pair = Pair(lambda: Training(MLP(0.5), chainer.optimizers.Adam()), check=True)
    for i in range(3):
        for n in SIZES[:5]:
            pair.run(*batch(n + 1, i))
    assert pair.function.replays >= 9


def test_compiled_functions_within_compiled_functions():
    """Each has memory of its own, also where one runs between two parts of a plan of the other."""
    inner = chainer.compile(compute)
    noted = []

    def hook(optimizer):
        noted.append(bits(inner(square(len(noted) % 3 + 2))))

    class Hooked(Training):
        def __init__(self):
            super().__init__(MLP(), chainer.optimizers.SGD())
            self.optimizer.add_hook(hook)

    pair = Pair(Hooked)
    for i in range(30):
        pair.run(*batch(i % 4 + 2, i))
    assert pair.function.replays > 15 and inner.replays > 30
    assert noted == [bits(compute(square(i % 3 + 2))) for i in range(len(noted))]

    @chainer.compile
    def outer(x):
        return inner(x) + 1

    for n in SIZES * 4:
        assert bits(outer(square(n))) == bits(compute(square(n)) + 1)


def test_threads():
    """The plans of all threads share memory, so one call runs a plan at a time."""
    compiled, wrong = chainer.compile(compute), []
    wanted = {n: bits(compute(square(n))) for n in SIZES}

    def run(seed):
        for n in np.random.RandomState(seed).choice(SIZES, 200):
            if bits(compiled(square(n))) != wanted[n]:
                wrong.append(n)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and compiled.replays > 50


def test_errors_in_the_middle_of_a_plan():
    pair = Pair(lambda: Training(MLP(), chainer.optimizers.SGD()))
    for _ in range(3):
        for n in (3, 6, 4):
            pair.run(*batch(n))
    for n in (3, 6, 4, 6, 3):
        x, t = batch(n)
        for model in (pair.usual.model, pair.compiled.model):
            model.cleargrads()
        wrong = array(np.full(n, 99), 'i')
        for step in pair.usual.step, pair.function:
            with pytest.raises(chainerx.ChainerxError, match='99'):
                step(x, wrong)
        # The optimizers are as before, whereas statistics of batches have gone on in both.
        replays = pair.function.replays
        for _ in range(3):
            for m in (4, 3, 6):
                pair.run(*batch(m))
        assert pair.function.replays > replays + 5


def test_memory_of_a_dropped_function():
    """Neither a scope nor a plan outlives its function, or ``clear``."""

    def make():
        training = Training(MLP(), chainer.optimizers.Adam())
        return training, chainer.compile(training.step)

    training, compiled = make()
    for n in SIZES * 2:
        compiled(*batch(n + 1))
    plans = [weakref.ref(plan) for plan in compiled._plans.in_order]
    scopes = [weakref.ref(plan.scope) for plan in compiled._plans.in_order]
    model = weakref.ref(training.model)
    assert len(plans) == len(SIZES)
    compiled.clear()
    gc.collect()
    assert not any(ref() for ref in plans + scopes)
    for n in SIZES * 2:
        compiled(*batch(n + 1))
    plans = [weakref.ref(plan) for plan in compiled._plans.in_order]
    assert plans and model() is training.model
    del compiled, training
    gc.collect()
    assert not any(ref() for ref in plans) and model() is None


@pytest.mark.parametrize('error', [None, ValueError])
def test_graphs_of_traced_calls_go_away(error):
    """What the first call and recordings note keeps no graph, however they end."""
    losses = []
    model = MLP()
    model.to_device('native:0')

    @chainer.compile
    def step(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        losses.append(weakref.ref(loss))
        loss.backward()
        if error is not None:
            raise error
        return loss.array

    for _ in range(3):
        with contextlib.nullcontext() if error is None else pytest.raises(error):
            step(*batch(4))
        gc.collect()
        assert all(ref() is None for ref in losses)
    assert len(losses) >= 2


@pytest.mark.skipif(not os.path.exists(STATM), reason='it tells of memory on Linux')
def test_memory_of_many_shapes():
    """Forty plans take the scratch memory of one, and keep no results and arguments."""
    rows = 1 << 16

    def compute(x):
        return F.matmul(F.tanh(F.matmul(x, w)), w).array

    w = array(np.eye(16), 'f')
    compiled = chainer.compile(compute)
    shapes = [(rows + i, 16) for i in range(40)]  # of 4 MiB each
    x = array(np.ones(shapes[0]), 'f')
    for _ in range(3):
        compiled(x)
    before = resident_bytes()
    for shape in shapes * 2:
        compiled(array(np.ones(shape), 'f'))
    assert compiled.replays > 40
    assert compiled._plans.scratch.bytes < 20 << 20
    assert resident_bytes() - before < 80 << 20
