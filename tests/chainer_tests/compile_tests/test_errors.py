"""Errors of compiled calls are those of eager ones, and copies of compiled functions work."""

import builtins
import copy
import datetime
import pickle

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, bits, state_of

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks as hooks, optimizers

pytestmark = pytest.mark.chainerx


class Program:
    def __init__(self, optimizer, hook=None):
        self.model = L.Linear(2, 2)
        self.model.to_device(DEVICE)
        self.optimizer = optimizer().setup(self.model)
        if hook is not None:
            self.optimizer.add_hook(hook())
        self.rules = [param.update_rule for param in (self.model.W, self.model.b)]

    def step(self, x):
        self.model.cleargrads()
        F.sum(self.model(x)).backward()
        self.optimizer.update()

    def state(self):
        state = {name: bits(param) for name, param in self.model.namedparams()}
        grads = [bits(param.grad) for _, param in sorted(self.model.namedparams())]
        counts = [getattr(rule, 't', None) for rule in self.rules]
        return state | {'grads': grads, 't': self.optimizer.t, 'counts': counts}


def fail(*args, **kwargs):
    raise ValueError('the hook fails')


def _hyperparameter(value):
    def change(program):
        name = 'alpha' if isinstance(program.optimizer, optimizers.Adam) else 'lr'
        setattr(program.optimizer, name, value)

    return change


def _rate_of_hook(program):
    for hook in program.optimizer._pre_update_hooks.values():
        hook.rate = 'x'


CHANGES = {
    'hook': lambda p: p.optimizer.add_hook(fail, 'hook'),
    'late hook': lambda p: p.optimizer.add_hook(fail, 'hook', timing='post'),
    'hook of a rule': lambda p: p.rules[0].add_hook(fail, 'hook'),
    'rate of a hook': _rate_of_hook,
    'rate': _hyperparameter('x'),
    'no rate': _hyperparameter(None),
    'nan': _hyperparameter(float('nan')),
    'huge rate': _hyperparameter(10**400),
    'own rate': lambda p: setattr(p.rules[1].hyperparam, 'alpha', 'x'),
    'no hyperparameters': lambda p: setattr(p.optimizer, 'hyperparam', None),
    'no hyperparameters of a rule': lambda p: setattr(p.rules[0], 'hyperparam', None),
    'no target': lambda p: setattr(p.optimizer, 'target', None),
    'no rule': lambda p: setattr(p.model.W, 'update_rule', 3),
    'count': lambda p: setattr(p.optimizer, 't', 'x'),
    'count of a rule': lambda p: setattr(p.rules[1], 't', 'x'),
    'unequal counts': lambda p: setattr(p.rules[1], 't', -1),
    'no count': lambda p: vars(p.rules[0]).pop('t'),
    'enabled': lambda p: setattr(p.rules[0], 'enabled', np.ones(2)),
    'update': lambda p: setattr(p.rules[0], 'update', fail),
    'states': lambda p: vars(p.rules[0]).update(_state={'m': 3}),
    'no states': lambda p: vars(p.rules[0]).update(_state=None),
}


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('check', [False, True])
@pytest.mark.parametrize('hook', [None, lambda: hooks.WeightDecay(0.1)], ids=['', 'hook'])
@pytest.mark.parametrize('optimizer', [optimizers.SGD, optimizers.Adam])
@pytest.mark.parametrize('change', CHANGES)
def test_failing_updates(change, optimizer, hook, check):
    """An update that raises leaves what an eager one leaves, whoever finds the mistake first."""
    pair = Pair(lambda: Program(optimizer, hook), check=check)
    for i in range(5):
        pair.run(array([[1, i]], 'f'))
    assert pair.function.replays >= 3
    for program in pair.programs:
        CHANGES[change](program)
    for i in range(4):
        pair.run(array([[1, i]], 'f'))


class Hostile:
    """Raises errors that nobody expects from such methods."""

    def __init__(self):
        self.s = 2

    def __getattr__(self, name):
        raise KeyError(name)

    def __eq__(self, other):
        raise KeyError('eq')

    def __hash__(self):
        raise KeyError('hash')

    def __bool__(self):
        raise KeyError('bool')

    def __len__(self):
        raise KeyError('len')

    def __repr__(self):
        raise KeyError('repr')

    @property
    def __class__(self):
        raise KeyError('class')


def test_objects_that_raise():
    own = Hostile()
    compiled = chainer.compile(lambda x, *args: x * own.s)
    x = array([1, 2], 'f')
    for args in [()] * 4 + [(own,)] * 4 + [([own],)] * 4:
        assert bits(compiled(x, *args)) == bits(x * 2)
    replays = compiled.replays
    assert replays
    own.s = 3
    assert bits(compiled(x, [own])) == bits(x * 3)
    assert compiled.replays == replays


def test_names_that_do_not_exist(monkeypatch):
    # What programs keep among the builtins, which modules hold, ends no plan.
    monkeypatch.setattr(builtins, 'capsule', datetime.datetime_CAPI, raising=False)

    def step(x):
        return F._no_such(x) if hasattr(F, '_no_such') else x * 2

    compiled = chainer.compile(step)
    for i in range(8):
        assert bits(compiled(array([i], 'f'))) == bits(array([2 * i], 'f'))
    assert compiled.replays, compiled.report()


def test_errors_of_recordings_are_reasons(monkeypatch):
    from chainer.compilation import _recording

    def raise_error(*args):
        raise LookupError('lost')

    compiled = chainer.compile(lambda x: x * 2)
    for name in 'prepare', '_make_plan':
        with monkeypatch.context() as patch:
            patch.setattr(_recording.Recording, name, raise_error)
            for _ in range(4):
                assert bits(compiled(array([1], 'f'))) == bits(array([2], 'f'))
    assert compiled.recordings == 0
    assert 'no plan: the recording fails: LookupError: lost' in compiled.report()


# -- copies


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(2, 2)
        self.run = chainer.compile(self.call, max_plans=3)

    def call(self, x):
        return self.l(x).array


@chainer.compile
def compiled_function(x):
    return x * 2


@pytest.mark.parametrize('make', [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_of_links(make):
    model = Model()
    model.to_device(DEVICE)
    with chainer.no_backprop_mode():
        for i in range(4):
            model.run(array([[1, i]], 'f'))
        assert model.run.replays == 2
        other = make(model)
        assert other.run.replays == 0
        model.l.W.array[...] = 0
        for i in range(4):
            x = array([[1, i]], 'f')
            assert bits(other.run(x)) == bits(other.l(x))
            assert chainerx.to_numpy(model.run(x)).tolist() == [[0, 0]]
        assert other.run.replays == 2 and other.run._max_plans == 3
        assert state_of(other).keys() == state_of(model).keys()


def test_copies_of_functions():
    for copied in (
        copy.copy(compiled_function),
        copy.deepcopy(compiled_function),
        pickle.loads(pickle.dumps(compiled_function)),
    ):
        assert copied is compiled_function
    inner = chainer.compile(lambda x: x * 2, check=True)
    other = copy.deepcopy(inner)
    assert other is not inner and other._check
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(inner)


@pytest.mark.parametrize('argument', ['numpy', 'unknown'])
def test_errors_without_a_plan_have_no_other_context(argument):
    """Eager calls do not run while a graph break is handled, of which no program knows."""

    def fail(x):
        x + unknown if argument == 'unknown' else x + 1
        raise ValueError('of the function')

    unknown = iter(())
    compiled = chainer.compile(fail)
    x = np.ones(2, 'f') if argument == 'numpy' else array(np.ones(2), 'f')
    for _ in range(4):
        with pytest.raises((ValueError, TypeError)) as caught:
            compiled(x)
        assert caught.value.__context__ is None
