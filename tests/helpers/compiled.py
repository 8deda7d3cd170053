"""Running a program eagerly and under ``chainer.compile``, and comparing all that it leaves."""

import contextlib

import numpy as np

import chainer
import chainerx
from chainer.compilation import CompiledFunction

DEVICE = 'native:0'


def array(values, dtype=None):
    """Makes a ChainerX array."""
    return chainerx.array(np.asarray(values, dtype), device=DEVICE)


def bits(value):
    """Returns values in a form that is equal only if they are so to the last bit."""
    if isinstance(value, chainer.Variable):
        value = value._array
    if isinstance(value, chainerx.ndarray):
        value = chainerx.to_numpy(value.as_grad_stopped())
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, (tuple, list)):
        return [bits(v) for v in value]
    if isinstance(value, dict):
        return {key: bits(v) for key, v in value.items()}
    return repr(value)


def state_of(link, *optimizers):
    """Returns parameters, persistent values, states of links, gradients, states of optimizers."""
    state = {}
    for name, part in link.namedlinks():
        for key, value in vars(part).items():
            if isinstance(value, (chainer.Variable, chainerx.ndarray, int, float)):
                state[name, key] = bits(value)
            # Not of one that is not initialized.
            if isinstance(value, chainer.Variable) and value._array is not None:
                state[name, key, 'grad'] = bits(value._get_known_grad())
    for name, param in link.namedparams():
        # A variable has none, nor has what a program has replaced by ``None``.
        rule = getattr(param, 'update_rule', None)
        if rule is not None:
            state[name, 'rule'] = bits([rule.t, rule.state, rule._fp32_param])
    for i, optimizer in enumerate(optimizers):
        state['optimizer', i] = optimizer.t, optimizer.epoch
    return state


class Pair:
    """Two equal programs, one of which runs under ``chainer.compile``.

    A program has ``step(*args)`` and ``state()``.
    """

    def __init__(self, make, **options):
        np.random.seed(0)
        self.usual = make()
        np.random.seed(0)
        self.compiled = make()
        self.function = chainer.compile(self.compiled.step, **options)
        assert isinstance(self.function, CompiledFunction)
        #: Whether ``chainerx.random`` draws by its own generator, or by that of NumPy.
        self.has_seed = True

    @property
    def programs(self):
        return self.usual, self.compiled

    def around(self, program):
        """Returns a context manager for a step of a program, such as its reporter."""
        return contextlib.nullcontext()

    def run(self, *args, **kwargs):
        """Runs a step of both and compares; returns whether a plan ran."""
        before = self.function.replays
        seed = self.function.calls
        results = []
        for program, step in zip(self.programs, (self.usual.step, self.function)):
            chainerx.random.seed(seed)
            np.random.seed(seed)
            if not self.has_seed:
                chainerx.random.seed(None)
            with self.around(program):
                outcome = _outcome(step, args, kwargs)
            results.append((outcome, bits(chainerx.random.rand(3))))
        self.outcome = results[1][0]
        assert results[0] == results[1]
        a, b = (program.state() for program in self.programs)
        assert a.keys() == b.keys()
        for key in a:
            assert a[key] == b[key], key
        return self.function.replays > before

    def settle(self, *args, calls=8, **kwargs):
        """Runs steps until a plan runs; fails with the report if none does."""
        for _ in range(calls):
            if self.run(*args, **kwargs):
                return
        raise AssertionError(self.function.report())


def _outcome(step, args, kwargs):
    try:
        return 'result', bits(step(*args, **kwargs))
    except Exception as error:
        return type(error), str(error)
