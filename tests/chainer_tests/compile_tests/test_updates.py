"""Updates of optimizers in plans, compared with usual ones bit by bit."""

import collections
import types
import warnings

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, state_of

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizer_hooks as hooks, optimizers
from chainer.compilation._effects.eager_update import EagerUpdate
from chainer.compilation._effects.planned_update import PlannedUpdate

pytestmark = pytest.mark.chainerx


class Training:
    """A small model with an optimizer."""

    def __init__(self, optimizer, dtype='f'):
        with chainer.using_config('dtype', np.dtype(dtype)):
            self.model = chainer.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 2))
        self.model.to_device(DEVICE)
        self.optimizer = optimizer.setup(self.model)

    def step(self, x):
        loss = F.sum(self.model(x) ** 2)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss

    def state(self):
        return state_of(self.model, self.optimizer)

    @property
    def rules(self):
        return [param.update_rule for param in self.model.params()]


def batch(seed, dtype='f'):
    return array(np.random.RandomState(seed).rand(5, 3), dtype)


def kinds(pair):
    """Returns the classes of the updates of the plan used last."""
    found = map(type, pair.function._plans.in_order[0].effects)
    return [kind for kind in found if kind in (EagerUpdate, PlannedUpdate)]


ADAM = optimizers.Adam
OPTIMIZERS = {
    'AdaBound': optimizers.AdaBound,
    'AdaDelta': optimizers.AdaDelta,
    'AdaGrad': optimizers.AdaGrad,
    'Adam': ADAM,
    'Adam with decay': lambda: ADAM(weight_decay_rate=0.1, eta=0.5),
    'AdamW': optimizers.AdamW,
    'AMSBound': optimizers.AMSBound,
    'AMSGrad': optimizers.AMSGrad,
    'CorrectedMomentumSGD': optimizers.CorrectedMomentumSGD,
    'MomentumSGD': optimizers.MomentumSGD,
    'MSVAG': optimizers.MSVAG,
    'NesterovAG': optimizers.NesterovAG,
    'RMSprop': optimizers.RMSprop,
    'RMSprop inside': lambda: optimizers.RMSprop(eps_inside_sqrt=True),
    'RMSpropGraves': optimizers.RMSpropGraves,
    'SGD': optimizers.SGD,
    'SMORMS3': optimizers.SMORMS3,
}


@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
@pytest.mark.parametrize('name', OPTIMIZERS)
def test_kernels_of_optimizers(name, dtype):
    pair = Pair(lambda: Training(OPTIMIZERS[name](), dtype))
    for i in range(40):
        for program in pair.programs:
            hyperparam = program.optimizer.hyperparam
            key = next(k for k in ('alpha', 'lr', 'rho') if hasattr(hyperparam, k))
            setattr(hyperparam, key, 0.5 / (i + 1))
            if i % 10 == 9:
                program.optimizer.new_epoch()
        pair.run(batch(i, dtype))
    assert kinds(pair) == [PlannedUpdate]
    assert pair.function.replays == 38
    assert pair.function.recordings == 1
    assert pair.function.summary().split('\n')[0].endswith('kernels in 1 parts, ran 38 times')


@pytest.mark.parametrize('optimizer', [optimizers.SGD, ADAM])
def test_many_steps(optimizer):
    pair = Pair(lambda: Training(optimizer(0.01)))
    for i in range(1000):
        pair.run(batch(i % 7))
    assert pair.function.replays == 998
    assert pair.compiled.optimizer.t == 1000


def test_hyperparameters_of_groups():
    def make():
        training = Training(ADAM())
        for i, rule in enumerate(training.rules):
            if i % 2:
                rule.hyperparam.alpha = 0.1
        return training

    pair = Pair(make)
    for i in range(12):
        for program in pair.programs:
            program.optimizer.alpha = 0.1 / (i + 1)
            program.rules[1].hyperparam.alpha = 0.01 * i
        pair.run(batch(i))
    assert kinds(pair) == [PlannedUpdate]
    assert pair.function.recordings == 1


def _of_optimizer(name, value):
    return lambda program: setattr(program.optimizer.hyperparam, name, value)


def _of_rule(name, value):
    return lambda program: setattr(program.rules[1].hyperparam, name, value)


def _new_hooks(program):
    found = hooks.WeightDecay(0.1)
    program.optimizer._pre_update_hooks = collections.OrderedDict({found.name: found})


def _new_hyperparam(program):
    old = program.optimizer.hyperparam
    new = chainer.optimizer.Hyperparameter()
    new.__dict__.update(vars(old), alpha=0.25)
    program.optimizer.hyperparam = new
    for rule in program.rules[:2]:
        rule.hyperparam = chainer.optimizer.Hyperparameter(new)


def _new_rule(program):
    param = next(iter(program.model.params()))
    param.update_rule = optimizers.SGD(0.5).create_update_rule()


def _count(program):
    program.optimizer.t = 100
    for rule in program.rules:
        rule.t = 50


def _count_one(program):
    program.rules[2].t = 7


def _new_states(program):
    for rule in program.rules:
        rule._state = {name: value.copy() for name, value in rule.state.items()}


def _write_states(program):
    for rule in program.rules:
        rule.state['m'] += 1


def _no_states(program):
    program.rules[1]._state = None


def _numpy_states(program):
    rule = program.rules[1]
    rule._state = {k: np.ones(v.shape, 'f') for k, v in rule.state.items()}


def _hook(hook, timing='auto'):
    return lambda program: program.optimizer.add_hook(hook, timing=timing)


def _call(*_args):
    pass


def _rule_hook(program):
    program.rules[0].add_hook(lambda rule, param: param.grad.fill(1), 'fill')


def _freeze(program):
    program.rules[0].enabled = False


def _no_rule(program):
    next(iter(program.model.params())).update_rule = None


def _setup(program):
    program.optimizer = optimizers.MomentumSGD().setup(program.model)


def _per_element(program):
    program.rules[1].hyperparam.alpha = np.linspace(0, 1, program.rules[1].state['m'].size)


def _method(program):
    program.optimizer.call_hooks = lambda timing: program.model.cleargrads()


# What a program changes between calls, and whether the update is in the plan afterwards; `None`: all steps raise errors,
# or none is recorded.
CHANGES = {
    'alpha': (_of_optimizer('alpha', 0.5), True),
    'an integer': (_of_optimizer('alpha', 1), True),
    'a bool': (_of_optimizer('alpha', True), True),
    "numpy's number": (_of_optimizer('alpha', np.float32(0.1)), True),
    'a 0-dimensional array': (_of_optimizer('alpha', np.array(0.1)), True),
    'decay': (_of_optimizer('weight_decay_rate', 0.1), True),
    'amsgrad': (_of_optimizer('amsgrad', True), None),
    'adabound, which rules lack': (_of_optimizer('adabound', True), None),
    'eps that vanishes': (_of_optimizer('eps', 1e-300), True),
    'no number': (_of_optimizer('alpha', 'text'), True),
    'a value of a rule': (_of_rule('beta1', 0.5), True),
    'values of elements': (_per_element, False),
    'new hyperparameters': (_new_hyperparam, True),
    'a new rule': (_new_rule, True),
    'new hooks': (_new_hooks, True),
    'counts': (_count, True),
    'a count': (_count_one, True),
    'new states': (_new_states, True),
    'written states': (_write_states, True),
    'no states': (_no_states, True),
    "numpy's states": (_numpy_states, True),
    'frozen': (_freeze, True),
    'no rule': (_no_rule, True),
    'another optimizer': (_setup, True),
    'weight decay': (_hook(hooks.WeightDecay(0.1)), True),
    'Lasso': (_hook(hooks.Lasso(0.1)), True),
    'clipping': (_hook(hooks.GradientClipping(0.1)), True),
    'a hook afterwards': (_hook(hooks.WeightDecay(0.1), 'post'), True),
    'a function': (lambda p: p.optimizer.add_hook(_call, 'call'), False),
    'a hook of a rule': (_rule_hook, False),
    'a method': (_method, None),
    'a constant loss scale': (lambda p: p.optimizer.loss_scaling(scale=4), None),
    'a loss scale': (lambda p: p.optimizer.loss_scaling(), None),
}


@pytest.mark.parametrize('name', CHANGES)
def test_changes(name):
    change, is_planned = CHANGES[name]
    pair = Pair(lambda: Training(ADAM()))
    for i in range(5):
        pair.run(batch(i))
    assert kinds(pair) == [PlannedUpdate]
    for program in pair.programs:
        change(program)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        for i in range(8):
            pair.run(batch(i))
    if is_planned is not None:
        assert pair.function.replays >= 8, pair.function.report()
        assert kinds(pair) == [PlannedUpdate if is_planned else EagerUpdate]


@pytest.mark.parametrize('name', CHANGES)
def test_changes_between_recordings(name):
    """Recordings share what they find out of an update, until it is another one."""
    change, is_planned = CHANGES[name]
    pair = Pair(lambda: Training(ADAM()))
    for n in range(2, 6):
        pair.run(batch(n)[:n])
    assert pair.function.recordings == 3
    plans = pair.function._plans.in_order
    assert len({id(plan.scope) for plan in plans}) == 1
    for program in pair.programs:
        change(program)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        for n in range(1, 6):
            for _ in range(1 if n > 1 else 3):
                pair.run(batch(n)[:n])
    if is_planned is not None:
        assert kinds(pair) == [PlannedUpdate if is_planned else EagerUpdate]


def test_rates_of_hooks():
    pair = Pair(lambda: Training(optimizers.MomentumSGD()))
    for program in pair.programs:
        program.optimizer.add_hook(hooks.WeightDecay(0.1))
        program.optimizer.add_hook(hooks.Lasso(0.1))
    for i in range(12):
        for program in pair.programs:
            for hook in program.optimizer._pre_update_hooks.values():
                hook.rate = np.float64(0.5) if i == 7 else 0.1 * i
        pair.run(batch(i))
    assert kinds(pair) == [PlannedUpdate]
    assert pair.function.replays == 10
    assert pair.function.recordings == 1


def test_saving_and_loading(tmp_path):
    pair = Pair(lambda: Training(ADAM()))
    for i in range(6):
        pair.run(batch(i))
    replays = pair.function.replays
    paths = []
    for number, program in enumerate(pair.programs):
        paths.append(str(tmp_path / f'{number}.npz'))
        chainer.serializers.save_npz(paths[-1], program.optimizer)
    assert pair.run(batch(1))
    assert pair.function.replays == replays + 1  # the arrays are the same
    for path, program in zip(paths, pair.programs):
        chainer.serializers.load_npz(path, program.optimizer)
    assert pair.compiled.optimizer.t == 6
    pair.settle(batch(2))
    assert pair.compiled.optimizer.t == pair.usual.optimizer.t > 6
    assert kinds(pair) == [PlannedUpdate]


class ReadsByMadeNames(Training):
    """Reads attributes of its optimizer by names that its code does not have."""

    names = 'factor', 'shift'

    def step(self, x):
        for name in self.names:
            x = x * getattr(self.optimizer, name, 1.0)
        return super().step(x)


def test_attributes_of_optimizers_that_code_reads_by_any_name():
    pair = Pair(lambda: ReadsByMadeNames(optimizers.Adam()))
    pair.settle(batch(0))
    for value in 2.0, 3.0:
        for program in pair.programs:
            program.optimizer.factor = value
        assert not pair.run(batch(1))
        pair.settle(batch(2))


RAND = np.random.rand  # which no recording replaces


class DrawsUnseen(Training):
    def step(self, x):
        return super().step(x * RAND())


def test_draws_before_an_update():
    pair = Pair(lambda: DrawsUnseen(optimizers.SGD()))
    for i in range(6):
        assert not pair.run(batch(i))
    # The call itself is seen of a function in C, which NumPy 1 has, but not of NumPy 2's method.
    in_c = isinstance(RAND, types.BuiltinFunctionType)
    reason = 'a call of rand' if in_c else 'random numbers of NumPy are drawn'
    assert reason in pair.function.report()


def test_two_optimizers():
    class Two(Training):
        def __init__(self):
            super().__init__(optimizers.SGD(0.1))
            self.other = Training(ADAM())

        def step(self, x):
            losses = [super().step(x), self.other.step(x), super().step(-x)]
            return losses

        def state(self):
            return [super().state(), self.other.state()]

    class States(Two):
        def state(self):
            first, second = super().state()
            return {'first': first, 'second': second}

    pair = Pair(States)
    for i in range(10):
        if i == 6:
            for program in pair.programs:
                program.other.optimizer.add_hook(_call, 'call')
        pair.run(batch(i))
    assert kinds(pair) == [PlannedUpdate, EagerUpdate, PlannedUpdate]
    assert pair.function.replays == 7
    assert 'in 2 parts' in pair.function.summary()


def test_methods_that_a_program_replaces():
    class Doubling(Training):
        def __init__(self):
            super().__init__(ADAM())
            self.optimizer.update = self.update

        def update(self):
            for param in self.model.params():
                param.grad *= 2
            type(self.optimizer).update(self.optimizer)

    pair = Pair(Doubling)
    for i in range(6):
        pair.run(batch(i))
    assert kinds(pair) == [PlannedUpdate]
    assert all('update' in vars(program.optimizer) for program in pair.programs)


@pytest.mark.parametrize('updates', [False, True])
def test_hooks_with_effects_that_recordings_note(updates):
    class Hooked(Training):
        def __init__(self):
            super().__init__(ADAM())
            self.other = Training(optimizers.SGD(0.1))
            self.optimizer.add_hook(self.hook)

        def hook(self, optimizer):
            for param, other in zip(self.model.params(), self.other.model.params()):
                param.grad = other.grad = F.dropout(param.grad.as_grad_stopped()).array
            if updates:
                self.other.optimizer.update()

        def state(self):
            return super().state() | {'other': self.other.state()}

    pair = Pair(Hooked)
    for i in range(6):
        pair.run(batch(i))
    assert kinds(pair) == [EagerUpdate]


def test_errors_in_the_middle_count_no_update():
    class Labels(Training):
        def step(self, x, t):
            loss = F.softmax_cross_entropy(self.model(x), t)
            self.model.cleargrads()
            loss.backward()
            self.optimizer.update()

    pair = Pair(lambda: Labels(ADAM()))
    labels = array([0, 1, 0, 1, 0], 'i')
    for i in range(5):
        pair.run(batch(i), labels)
    before = [pair.compiled.optimizer.t, *[rule.t for rule in pair.compiled.rules]]
    wrong = array([0, 1, 0, 1, 5], 'i')
    for step in pair.usual.step, pair.function:
        with pytest.raises(IndexError, match='^softmax_cross_entropy: label 5 is out of range'):
            step(batch(0), wrong)
    assert before == [pair.compiled.optimizer.t, *[rule.t for rule in pair.compiled.rules]]
    # A run gives up the memory of gradients that it renews, so the next call finds none.
    assert all(param.grad is None for param in pair.compiled.model.params())
    assert not pair.run(batch(0), labels)
    assert pair.run(batch(1), labels)


def test_parameters_without_gradients():
    class Unused(Training):
        def step(self, x):
            loss = F.sum(self.model[0](x))
            self.model.cleargrads()
            loss.backward()
            self.optimizer.update()

    pair = Pair(lambda: Unused(optimizers.MomentumSGD()))
    for i in range(8):
        pair.run(batch(i))
    assert kinds(pair) == [EagerUpdate]
    assert pair.function.replays > 4


def test_gradients_of_before():
    class Update(Training):
        def step(self, x):
            self.optimizer.update()
            return x * 2

    pair = Pair(lambda: Update(optimizers.MomentumSGD()))
    for i in range(8):
        for program in pair.programs:
            for param in program.model.params():
                param.grad = array(np.full(param.shape, i), 'f')
        pair.run(batch(i))
    assert kinds(pair) == [PlannedUpdate]
    assert pair.function.replays == 6


def test_check():
    pair = Pair(lambda: Training(ADAM()), check=True)
    for i in range(8):
        pair.run(batch(i))
    assert pair.function.replays == 6
    assert kinds(pair) == [PlannedUpdate]
