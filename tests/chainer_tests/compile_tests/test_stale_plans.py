"""Calls whose arguments, methods of updates or states of links have changed run no stale plan."""

import inspect

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, bits, state_of

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizers

pytestmark = pytest.mark.chainerx


def test_attributes_of_arguments():
    def step(x):
        return x.array * getattr(x, 'tag', 2)

    compiled = chainer.compile(step)
    for i in range(9):
        x = chainer.Variable(array([1, 2], 'f'), requires_grad=False)
        if i % 3 == 2:
            x.tag = i
        assert bits(compiled(x)) == bits(step(x))
    assert compiled.replays == 4
    assert 'a variable with attributes of the program (3 times)' in compiled.report()


def test_signs_of_zeros_and_numbers_that_are_none():
    def step(x, by):
        return x * by

    compiled = chainer.compile(step)
    for by in (0.0, -0.0, float('nan')) * 4:
        x = array([1, 2], 'f')
        assert bits(compiled(x, float(by))) == bits(step(x, by))
    assert compiled.replays >= 3, compiled.report()


def test_flags_of_arguments():
    def step(x):
        return x.as_grad_stopped() * (2 if x.is_grad_required() else 3)

    compiled = chainer.compile(step)
    with chainer.no_backprop_mode():
        for i in range(12):
            x = array([1, 2], 'f')
            if i % 3 == 2:
                x.require_grad()
            assert bits(compiled(x)) == bits(step(x))
    assert compiled.replays >= 6


@pytest.mark.parametrize(
    'owner, name',
    [
        ('AdamRule', 'update_core'), ('AdamRule', '_scalars'), ('WeightDecay', '__call__'),
        ('Parameter', 'update'), ('GradientMethod', 'update'), ('GradientMethod', 'call_hooks'),
    ],
)  # fmt: skip
def test_patched_updates(owner, name, monkeypatch):
    from chainer.optimizers import adam

    classes = adam.AdamRule, chainer.optimizer_hooks.WeightDecay, chainer.Parameter
    (cls,) = (c for c in (*classes, chainer.GradientMethod) if c.__name__ == owner)
    link = L.Linear(2, 2).to_device(DEVICE)
    optimizer = optimizers.Adam().setup(link)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))

    def step(x):
        link.cleargrads()
        F.sum(link(x)).backward()
        optimizer.update()

    compiled = chainer.compile(step)
    x = array([[1, 2]], 'f')
    for _ in range(6):
        compiled(x)
    assert compiled.replays
    calls = []
    original = getattr(cls, name)

    def patched(*args, **kwargs):
        calls.append(1)
        return original(*args, **kwargs)

    monkeypatch.setattr(cls, name, patched)
    step(x)
    calls_of_a_step = len(calls)  # none where an eager update groups parameters
    for i in range(3):
        compiled(x)
        assert len(calls) == calls_of_a_step * (i + 2)


#: What a step may ask of a state of a link without a kernel.
QUESTIONS = [
    'len(h)', 'h.shape[-1]', 'h.size', 'h.ndim', 'h.dtype.itemsize', 'len(h.dtype.name)',
    'h.strides[0]', 'h.is_contiguous', 'h.nbytes', 'h.array.strides[-1]', 'h.requires_grad',
    'len(h.name or "")', 'h.device.index', 'getattr(h, "tag", 5)',
    'getattr(h, "array", h).is_grad_required()', 'getattr(h, "array", h).is_backprop_required()',
    'getattr(h, "array", h).is_grad_required() and getattr(h, "array", h).grad is None',
]  # fmt: skip


@pytest.mark.parametrize('question', QUESTIONS)
@pytest.mark.parametrize(
    'kept',
    [
        'x', 'F.relu(x)', 'chainer.Variable(x, requires_grad=False)',
        'chainer.Variable(x, name="abcd")',
    ],
)  # fmt: skip
def test_forms_of_states(question, kept):
    """Whether kernels use a state or not, its form tells which plan runs."""
    source = f"""
        def step(x):
            h = link.h
            link.h = {kept}
            return x * (2 + ({question}))
    """
    state = chainer.Variable(array(np.ones((3, 2)), 'f'), requires_grad=False)
    labelled = chainer.Variable(state.array, requires_grad=False, name='abc')
    named = chainer.Variable(state.array, requires_grad=False, name='abc')
    with_grad = chainer.Variable(state.array.copy(), grad=state.array.copy())
    with chainer.no_backprop_mode():
        hidden = chainer.Variable(state.array.copy())  # that needs a gradient, and hides it
    labelled.tag = 6
    states = [
        labelled, hidden, named, with_grad, with_grad.array, chainer.Variable(state.array), *[array(np.ones(shape), dtype)
        for shape, dtype in (((2, 2), 'f'), ((3, 2), 'd'), ((3, 2), 'i'), ((1, 3, 2), 'f'))],
        array(np.ones((3, 4)), 'f')[:, ::2], state.array.copy().require_grad(),
        chainerx.ones((3, 2), 'float32', device='native:1'),
    ]  # fmt: skip
    links, steps = [chainer.Link(), chainer.Link()], []
    for link in links:
        names = {'link': link, 'F': F, 'chainer': chainer, '__name__': 'program'}
        exec(inspect.cleandoc(source), names)
        link.h = state.array if 'array' not in question and kept == 'x' else state
        steps.append(names['step'])
    compiled = chainer.compile(steps[1])

    def run(count=1):
        for _ in range(count):
            results = []
            for step in steps[0], compiled:
                try:
                    results.append(bits(step(array(np.ones((3, 2)), 'f'))))
                except Exception as error:  # an array has no `array`
                    results.append(str(error))
            assert results[0] == results[1]
            a, b = (link.h for link in links)
            assert type(a) is type(b)
            if type(a) is chainer.Variable:
                assert (a.requires_grad, a.name) == (b.requires_grad, b.name)
        return type(results[0]) is not str

    has_result = run(6)
    if 'dtype.name' not in question:  # which NumPy computes in Python
        assert bool(compiled.replays) is has_result, compiled.report()
    for state in states * 2:
        for link in links:
            link.h = state
        compiled._budget.wait = compiled._budget.sleep = (
            0  # each state has a plan in the second round
        )
        run(3)


class Remembering:
    """Keeps an array, which the program may take away."""

    def step(self, x):
        if hasattr(self, 'kept'):
            self.kept = self.kept + x
        else:
            self.kept = x * 2
        return self.kept * 1

    def state(self):
        return {'kept': bits(vars(self).get('kept'))}


def test_states_that_come_and_go():
    pair = Pair(Remembering)
    for i in range(40):
        pair.run(array([1, 2 + i], 'f'))
        if i % 9 == 8 or 20 < i < 25:
            for program in pair.programs:
                del program.kept
    assert pair.function.replays > 5, pair.function.report()


class Twins:
    """Two states that are one array, until they are two."""

    def __init__(self):
        self.model = chainer.Link()
        self.model.a = self.model.b = array([1, 2], 'f')

    def step(self, x):
        model = self.model
        y = x + model.a + model.b * 2
        model.a = model.b = y * 0.5
        return y

    def state(self):
        return state_of(self.model)


def test_states_that_are_one_array():
    pair = Pair(Twins)
    x = array([3, 4], 'f')
    pair.settle(x)
    assert pair.run(x)
    for program in pair.programs:
        program.model.b = program.model.b + 1
    assert not pair.run(x)
    assert pair.run(x)


class Gated:
    """A state that goes on, or stays and gets a gradient."""

    def __init__(self):
        self.model = chainer.Link()
        self.model.h = chainer.Variable(array([1, 2], 'f'))
        self.goes_on = True

    def step(self, x):
        h = self.model.h
        h.cleargrad()
        y = F.sum(h * h * x)
        y.backward()
        if self.goes_on:
            self.model.h = chainer.Variable((h * 0.5 + 1).array)
        return y.array

    def state(self):
        return state_of(self.model) | {'grad': bits(self.model.h.grad_var)}


def test_gradient_of_a_state_that_stays():
    pair = Pair(Gated)
    pair.settle(array([3, 4], 'f'))
    for program in pair.programs:
        program.goes_on = False
    for i in range(6):
        assert not pair.run(array([i, 4], 'f'))
    assert 'the gradient of h of Link changes' in pair.function.report()


@pytest.mark.parametrize('retains', [True, False])
def test_gradient_of_a_new_state(retains):
    class Retaining(Gated):
        def step(self, x):
            self.model.h = h = self.model.h * x
            F.sum(h * h).backward(retain_grad=retains)
            h.unchain_backward()

    pair = Pair(Retaining)
    for i in range(6):
        pair.run(array([i, 4], 'f'))
    assert (pair.function.replays == 0) is retains, pair.function.report()


def test_what_a_compiled_function_within_reads():
    numbers = [2]
    inner = chainer.compile(lambda x: x * numbers[0])
    outer = chainer.compile(lambda x: inner(x) + 1)
    x = array([1, 2], 'f')
    for number in 2, 3:
        numbers[0] = number
        before = outer.replays
        for _ in range(4):
            assert bits(outer(x)) == bits(x * number + 1)
        assert outer.replays > before


def test_attributes_of_the_class_of_compiled_functions(monkeypatch):
    inner = chainer.compile(lambda x: x + 1)
    outer = chainer.compile(lambda x: inner(x) * inner.factor)
    x = array([1, 2], 'f')
    for factor in 2, 3:
        monkeypatch.setattr(type(inner), 'factor', factor, raising=False)
        before = outer.replays
        for _ in range(4):
            assert bits(outer(x)) == bits((x + 1) * factor)
        assert outer.replays > before, outer.report()


class Unrolled:
    """A recurrent link whose graph goes on into the next call, until somebody cuts it."""

    def __init__(self):
        self.model = L.LSTM(3, 3)
        self.model.to_device(DEVICE)

    def step(self, x):
        self.model.cleargrads()
        F.sum(self.model(x)).backward()

    def state(self):
        return state_of(self.model)


def test_graphs_that_are_cut_between_calls():
    pair = Pair(Unrolled)
    for i in range(8):
        pair.run(array([[1, 2, i]], 'f'))
        for program in pair.programs if i < 6 else ():
            program.model.h.unchain_backward()
            program.model.c.unchain_backward()
    assert 'of LSTM belongs to a graph' in pair.function.report()
