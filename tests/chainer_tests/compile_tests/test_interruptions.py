"""Python that runs in the middle of a plan finds all as in an eager call, also if it raises."""

import contextlib
import re
import sys

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, bits, state_of

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizer_hooks as hooks, optimizers

pytestmark = pytest.mark.chainerx


class Rule(optimizers.sgd.SGDRule):
    """An update rule of a program."""

    on_update = None

    def update_core(self, param):
        self.on_update()
        super().update_core(param)


class SGD(optimizers.SGD):
    def create_update_rule(self):
        return Rule(self.hyperparam)


class Notes:
    """What a watcher has found, what it does, and whether it fails."""

    def __init__(self, program):
        self.program = program
        self.fails = False
        self.action = None
        self.reporter = None  # in place of that of the program
        self.seen = []


NOTES = {}  # by the ids of watchers


def look(watcher):
    notes = NOTES[id(watcher)]
    notes.seen.append(notes.program.state())
    if notes.action is not None:
        notes.action(notes.program)
    if notes.fails:
        raise ValueError('the hook fails')


class Watcher:
    """Looks at the program, but not in the first call: plans watch what its code reads."""

    def __init__(self, program):
        self.is_on = False
        NOTES[id(self)] = Notes(program)

    def __call__(self, *args):
        if self.is_on:
            look(self)


@pytest.fixture(autouse=True)
def _forget():
    yield
    NOTES.clear()


def _hook_of_rule(program, watcher):
    program.model.l.b.update_rule.add_hook(watcher, 'own')


def _rule(program, watcher):
    for param in program.model.l.params():
        param.update_rule.on_update = watcher


def _clipping(program, watcher):
    program.opt.add_hook(hooks.GradientClipping(0.1))
    program.opt.add_hook(watcher, 'own')


#: Where the program's Python runs: the optimizer, and what makes it call a watcher.
PLACES = {
    'hook': (optimizers.Adam, lambda p, watcher: p.opt.add_hook(watcher, 'own')),
    'late hook': (optimizers.Adam, lambda p, watcher: p.opt.add_hook(watcher, 'own', 'post')),
    'hook after another': (optimizers.SGD, _clipping),
    'hook of a rule': (optimizers.SGD, _hook_of_rule),
    'rule': (SGD, _rule),
}


class Program:
    """Changes something of each kind before, between and after two updates.

    Args:
        kind: What it changes besides gradients, statistics and the optimizers.
        place: Where Python runs in the middle.
        update: The number of the update in which it does.
        goes_back: Whether it computes other gradients for the second update: `anew`, or `more`.

    """

    def __init__(self, kind, place, update, goes_back=''):
        self.model = chainer.Chain(l=L.Linear(2, 4), m=L.Linear(4, 4), bn=L.BatchNormalization(4))
        self.model.to_device(DEVICE)
        make, add = PLACES[place]
        self.opt = make().setup(self.model.l)
        self.other = optimizers.MomentumSGD().setup(self.model.m)
        self.model.state = self.model.second = None
        self.reporter = chainer.Reporter()
        self.reporter.add_observer('model', self.model)
        self.watcher = Watcher(self)
        add(self, self.watcher)
        self.goes_back = goes_back
        self.set = getattr(self, f'set_{kind}')
        self.order = (self.opt, self.other) if update == 0 else (self.other, self.opt)

    def set_array(self, h):
        self.model.state = h.array * 2

    def set_variable(self, h):
        self.model.state = F.tanh(h)

    def set_none(self, h):
        self.model.state = h.array if self.model.state is None else None

    def set_arrays(self, h):
        self.model.second = h.array * 3
        self.model.state = self.model.second

    def set_accumulated(self, h):
        if self.model.state is not None:
            h = h + self.model.state
        self.model.state = h.array

    def set_report(self, h):
        chainer.report({'mean': F.mean(h.array)}, self.model)
        chainer.report({'sum': F.sum(h.array), 'number': 1.5})

    def set_parts(self, h):
        if self.model.state is None or len(self.model.state) != len(h):
            self.model.state = h.array * 2

    def step(self, x):
        h = self.model.bn(self.model.m(self.model.l(x)))
        self.set(h)
        loss = F.sum(h * h * h)
        self.model.cleargrads()
        loss.backward()
        loss.unchain_backward()
        first, second = self.order
        first.update()
        self.set(h + 1)
        if self.goes_back:
            if self.goes_back == 'anew':
                self.model.cleargrads()
            F.sum(self.model.m(self.model.l(x)) ** 2).backward()
        self.model.l.W.grad *= 0.5
        second.update()
        self.set(h * 4)
        return loss

    def state(self):
        state = state_of(self.model, self.opt, self.other)
        return state | {'reported': bits(self.reporter.observation)}


class ReportingPair(Pair):
    def around(self, program):
        program.reporter.observation = {}
        program.watcher.is_on = self.function.calls > 0
        return NOTES[id(program.watcher)].reporter or program.reporter

    def run(self, *args):
        super().run(*args)
        usual, compiled = self.notes
        assert usual.seen == compiled.seen

    @property
    def notes(self):
        return [NOTES[id(program.watcher)] for program in self.programs]


def batch(i):
    return array(np.random.RandomState(i).rand(3, 2), 'f')


KINDS = [name[len('set_') :] for name in vars(Program) if name.startswith('set_')]


@pytest.mark.parametrize('update', [0, 1])
@pytest.mark.parametrize('place', PLACES)
@pytest.mark.parametrize('kind', KINDS)
def test_failing_python(kind, place, update):
    pair = ReportingPair(lambda: Program(kind, place, update))
    for i in range(16):
        for notes in pair.notes:
            notes.fails = i > 8 and i % 3 == 0
        pair.run(batch(i))
    assert all(notes.seen for notes in pair.notes)
    # A value that comes and goes makes no slot.
    assert pair.function.replays >= 10 or kind in ('none', 'parts'), pair.function.report()


#: What Python may change in the middle, and the next part of the plan must not change back.
ACTIONS = {
    'constant': lambda p: setattr(p.model, 'state', None),
    'array': lambda p: setattr(p.model, 'state', array(np.ones((3, 4)), 'f')),
    'in place': lambda p: p.model.state.fill(7),
    'report': lambda p: chainer.report({'mean': 1.0}, p.model),
    'gradient': lambda p: setattr(p.model.m.b, 'grad', array(np.ones(4), 'f')),
    'frozen': lambda p: p.model.m.disable_update(),
    'rate': lambda p: setattr(p.other, 'lr', 0.5),
    'hook': lambda p: p.other.add_hook(hooks.WeightDecay(0.1), str(len(p.other._pre_update_hooks))),
    'statistics': lambda p: p.model.bn.avg_mean.fill(0),
}


@pytest.mark.parametrize('place', PLACES)
def test_hooks_that_report(place):
    pair = ReportingPair(lambda: Program('array', place, 0))
    for notes in pair.notes:
        notes.action = lambda program: chainer.report({'t': program.opt.t})
    for i in range(8):
        pair.run(batch(i))
    assert pair.function.replays >= 5, pair.function.report()


@pytest.mark.parametrize('action', ACTIONS)
@pytest.mark.parametrize('kind', ['array', 'report'])
@pytest.mark.parametrize('update, goes_back', [(0, ''), (0, 'anew'), (0, 'more'), (1, '')])
def test_changes_in_the_middle(update, goes_back, kind, action):
    pair = ReportingPair(lambda: Program(kind, 'hook', update, goes_back))
    for i in range(16):
        for notes in pair.notes:
            acts = i > 8 and i % 3 == 0 and (kind == 'array' or action != 'in place')
            notes.action = ACTIONS[action] if acts else None
        pair.run(batch(i))
    if goes_back == 'more':
        assert 'gradients add to those that an eager update may replace' in pair.function.report()
    else:
        assert pair.function.replays >= 6, pair.function.report()


# -- Python that finds another state in the middle than at the start of the call


class Switching:
    """Updates while something is changed, which it changes back."""

    def __init__(self, kind):
        self.model = L.Linear(2, 2)
        self.model.to_device(DEVICE)
        self.opt = optimizers.Adam().setup(self.model)
        self.model.number, self.model.state, self.model.errors = 1.0, None, 0
        self.reporter = chainer.Reporter()
        self.update = getattr(self, kind)
        self.watcher = Watcher(self)
        self.opt.add_hook(self.watcher, 'own')

    def step(self, x):
        loss = F.sum(self.model(x) ** 2)
        self.model.cleargrads()
        loss.backward()
        result = self.update(loss.array)
        return loss, result

    def configuration(self, loss):
        with chainer.using_config('train', False):
            self.opt.update()

    def mode(self, loss):
        with chainer.no_backprop_mode():
            self.opt.update()

    def attribute(self, loss):
        self.model.number = 2.0
        self.opt.update()
        self.model.number = 1.0

    def current_reporter(self, loss):
        with chainer.Reporter():
            self.opt.update()

    def handled(self, loss):
        try:
            self.opt.update()
        except ValueError:
            return loss * 3
        return loss * 2

    def suppressed(self, loss):
        with contextlib.suppress(ValueError):
            self.opt.update()
            return loss * 2
        return loss * 3

    def at_last(self, loss):
        try:
            self.opt.update()
        finally:
            self.model.state = loss * 5

    def called(self, loss):
        try:
            return (lambda: self.handled(loss))()
        finally:
            pass

    def not_around(self, loss):
        try:
            self.model.state = loss * 2
        finally:
            self.opt.update()
        with contextlib.nullcontext():
            return loss * 3

    def state(self):
        found = chainer.config.train, chainer.config.enable_backprop
        return state_of(self.model, self.opt) | {'found': found}


@pytest.mark.parametrize(
    'kind', [name for name in vars(Switching) if name not in ('step', 'state') and '__' not in name]
)
def test_other_states_in_the_middle(kind):
    pair = ReportingPair(lambda: Switching(kind))
    for i in range(16):
        for notes in pair.notes:
            notes.fails = i > 8 and i % 3 == 0
        pair.run(batch(i))
    is_planned = pair.function.replays >= 10
    # Code of Python 3.10 does not tell where a handler begins and ends.
    can_be_planned = kind == 'not_around' and sys.version_info >= (3, 11)
    assert is_planned == can_be_planned, pair.function.report()


# -- reporters


class OwnReporter(chainer.Reporter):
    def report(self, values, observer=None):
        if 'mean' in values:
            raise ValueError('a mean is reported')
        super().report(values, observer)


def _refuse(values, observer=None):
    raise ValueError('nothing is reported')


def _patched():
    reporter = chainer.Reporter()
    reporter.report = _refuse
    return reporter


@pytest.mark.parametrize('make', [chainer.Reporter, OwnReporter, _patched])
def test_reporters_that_raise(make):
    """They raise in the middle of the call, as in eager calls, whether a plan exists or not."""
    pair = ReportingPair(lambda: Program('report', 'hook', 0))
    for i in range(12):
        for notes in pair.notes:
            notes.reporter = make() if i in (0, 5, 6, 8) else None
        pair.run(batch(i))
    assert pair.function.replays >= 4
    for notes in pair.notes:
        notes.reporter = make()
    with pytest.raises(AssertionError, match='ran a plan'):
        pair.settle(batch(0), calls=4)


class Scoped:
    """Reports to a dict of its own, as far as the current reporter knows it."""

    def __init__(self, has_observer):
        self.observer = L.Linear(2, 2) if has_observer else None
        self.reporter = chainer.Reporter()
        self.reporter.add_observer('observer', self.observer)

    def step(self, x):
        seen = {}
        with chainer.report_scope(seen):
            chainer.report({'mean': F.mean(x)}, self.observer)
        return x * 2

    def state(self):
        return bits(self.reporter.observation)


class ScopedPair(Pair):
    def around(self, program):
        return self.reporter or program.reporter


@pytest.mark.parametrize('has_observer', [True, False])
@pytest.mark.parametrize('make', [chainer.Reporter, OwnReporter, _patched])
def test_reporters_around_a_scope(make, has_observer):
    """What a scope keeps from a reporter, the reporter may refuse nevertheless."""
    pair = ScopedPair(lambda: Scoped(has_observer))
    pair.reporter = None
    pair.settle(batch(0))
    pair.reporter = make()
    assert pair.run(batch(1)) == (make is chainer.Reporter and not has_observer)
    pair.reporter = None
    assert pair.run(batch(2))


def _put(observation, x):
    observation['sum'] = F.sum(x)
    return x


def _count(observation, x):
    return x * len(observation)


def _find(observation, x):
    return x + observation.get('sum', 1)


class Observing:
    """Does with the observation of the current reporter what its function does."""

    def __init__(self, function):
        self.function = function
        self.current = chainer.Reporter()

    def step(self, x):
        return self.function(chainer.reporter.get_current_reporter().observation, x)

    def state(self):
        return bits(self.current.observation)


class ObservingPair(Pair):
    def around(self, program):
        return program.current


@pytest.mark.parametrize('function', [_put, _count, _find])
def test_observations_of_the_current_reporter(function):
    """Nothing tells what the program does with it, so each call is eager."""
    pair = ObservingPair(lambda: Observing(function))
    for i in range(8):
        for program in pair.programs:
            program.current.observation = {'sum': 2} if i > 5 else {}
        assert not pair.run(batch(i))
    assert re.search(
        r'observation of the current reporter is read \(test_\w+\.py:\d+\)', pair.function.report()
    )
