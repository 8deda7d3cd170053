"""Random programs that change one thing between calls, compiled and eagerly, bit by bit."""

from __future__ import annotations

import collections
import contextlib
import linecache
import random
import textwrap
from typing import Any

import numpy as np
from helpers.compiled import Pair, array, bits, state_of

import chainer
from tools.stress.guard import Finding
from tools.stress.more_programs import MORE_PARTS
from tools.stress.programs import PARTS, VALUES
from tools.stress.training_program import CHANGES, OPTIMIZERS, PROGRAM, STEPS

CALLS_PER_CASE = 500
_FILE = '<program>'
#: Entries of the configuration. Most calls have the first values.
MODES = {
    'train': (True, True, False),
    'enable_backprop': (True, True, True, False),
    'keep_graph_on_report': (False, False, True),
    'type_check': (True, False),
    'in_recomputing': (False, False, True),
}


class _OwnReporter(chainer.Reporter):
    """A reporter that adds to what it is told, and dislikes some of it."""

    def report(self, values: dict[str, Any], observer: Any = None) -> None:
        if 'mean' in values:
            raise LookupError('a mean is reported')
        super().report({'own': 1, **values}, observer)


class _Program:
    """A program of a source, whose parts may be replaced while it runs."""

    def __init__(self, source: str) -> None:
        self.names: dict[str, Any] = {'__name__': 'program'}
        exec(compile(source, _FILE, 'exec'), self.names)
        self.reporters = [chainer.Reporter(), chainer.Reporter(), _OwnReporter()]
        self.change('pass')

    def change(self, line: str) -> None:
        np.random.seed(0)
        exec(line, self.names)
        for reporter in self.reporters[::2]:  # the other one does not know of the model
            reporter.add_observer('main', self.names['program'].model)

    @property
    def step(self) -> Any:
        return self.names['program'].step

    def state(self) -> Any:
        program = self.names['program']
        state = state_of(program.model, program.optimizer, program.second)
        critic = state_of(program.critic)
        return state | {
            'critic': critic, 'last': bits(program.last),
            'reported': [bits(reporter.observation) for reporter in self.reporters],
            'lr': repr([vars(program.optimizer.hyperparam), vars(program.second.hyperparam)]),
        }  # fmt: skip


class _Pair(Pair):
    """Two programs, which report to the reporter of a number."""

    number: int | None = 0

    def around(self, program: _Program) -> contextlib.AbstractContextManager[Any]:
        if self.number is None:
            return super().around(program)
        reporter = program.reporters[self.number]
        reporter.observation = {}
        return reporter


def _write(rng: random.Random) -> tuple[str, list[str]]:
    """Writes a program; returns it with what may change in it."""
    chosen = rng.sample(PARTS + MORE_PARTS, rng.randint(1, 6))
    texts: dict[str, str] = {'outside': '', 'init': '', 'forward': ''}
    changes = list(CHANGES)
    for i, part in enumerate(chosen):
        for name, indent in (('outside', 0), ('init', 12), ('forward', 8)):
            text = textwrap.dedent(getattr(part, name)).format(i=i)
            texts[name] += textwrap.indent(text.strip() + '\n', ' ' * indent)
        changes += 3 * [
            change.replace('{i}', str(i)).replace('{{', '{').replace('}}', '}')
            for change in part.changes
        ]
    step = textwrap.indent(textwrap.dedent(rng.choice(STEPS)).strip(), ' ' * 8)
    first, second = rng.choices(OPTIMIZERS, k=2)
    return PROGRAM.format(**texts, step=step, optimizer=first, second=second), changes


def _draw(rng: random.Random) -> tuple[Any, Any]:
    """Draws the arguments of a call."""
    draw = np.random.RandomState(rng.getrandbits(31))
    n = rng.choice((3,) * 15 + (2, 4))
    x, t = draw.rand(n, 6).astype('f'), draw.randint(0, 3, n).astype('i')
    kind = rng.random()
    if kind < 0.02:
        x = x.astype('d')
    elif kind < 0.04:
        t = t[:1]  # an error
    elif kind < 0.05:
        t = t.astype('l')
    if kind > 0.85:
        return x, t  # which the program sends
    x, t = array(x), array(t)
    if 0.05 < kind < 0.08:
        x = x[:, ::-1]
    return x, t


def _run(pair: Pair, rng: random.Random, x: Any, t: Any, scale: float) -> None:
    """Runs a step, mostly with arguments of one form."""
    kind = rng.random()
    if kind < 0.9:
        pair.run(x, t, scale=scale)
    elif kind < 0.92:
        pair.run(x=x, t=t)
    elif kind < 0.94:
        pair.run(x, t, extra={'a': [scale]})
    elif kind < 0.96:
        pair.run(x, t, extra={'a': (x[:1],), 'b': x})
    elif kind < 0.98:
        b = chainer.Variable(x, requires_grad=False)
        pair.run(chainer.as_variable(x + 1), t, extra={'a': [scale], 'b': b})
    else:
        pair.run(x, t, 1.0)  # too many


def case(rng: random.Random) -> collections.Counter[str]:
    """Runs a program with random changes.

    Args:
        rng: Decides what the program is and what changes.

    Returns:
        Numbers of calls, and of those that ran a plan.

    Raises:
        Finding: If a compiled program differs from the usual one.

    """
    source, changes = _write(rng)
    linecache.cache[_FILE] = (len(source), None, source.splitlines(True), _FILE)
    pair = _Pair(lambda: _Program(source))
    function = pair.function
    history: list[str] = []
    modes = {'train': True}
    for _ in range(CALLS_PER_CASE):
        if rng.random() < 0.1:
            line = rng.choice(changes).replace('{v}', rng.choice(VALUES))
            history.append(line)
            for program in pair.programs:
                # Some lines do not suit the program, or what it has become.
                with contextlib.suppress(Exception):
                    program.change(line)
        if rng.random() < 0.05:
            name = rng.choice(list(MODES))
            modes[name] = rng.choice(MODES[name])
        if rng.random() < 0.05:
            pair.number = rng.choice((None, *[0] * 10, 1, 2))
        pair.has_seed ^= rng.random() < 0.03
        if rng.random() < 0.2:
            # Refused programs are tried again more often.
            function._budget.wait = function._budget.sleep = 0
        arguments = _draw(rng)
        scale = rng.choice((1.0,) * 15 + (1, 2.0))
        try:
            with contextlib.ExitStack() as stack:
                for name, value in modes.items():
                    stack.enter_context(chainer.using_config(name, value))
                _run(pair, rng, *arguments, scale=scale)
        except (AssertionError, RuntimeError) as error:
            lines = '\n'.join(history)
            raise Finding(
                f'{source}\n# changes\n{lines}\n{error!r}\n{function.report()}'
            ) from error
    return collections.Counter(calls=function.calls, replays=function.replays)
