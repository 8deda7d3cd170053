"""Random programs that change one thing between calls, compiled and eagerly, bit by bit."""

from __future__ import annotations

import collections
import contextlib
import linecache
import random
import sys
import textwrap
import types
from typing import TYPE_CHECKING, Any

import numpy as np
from helpers.compiled import Pair, array, bits, state_of

import chainer
import chainerx
from tools.stress.guard import Finding
from tools.stress.more_programs import MORE_PARTS
from tools.stress.programs import PARTS, VALUES
from tools.stress.training_program import CHANGES, FIRST, OPTIMIZERS, PROGRAM, STEPS
from tools.stress.user_programs import USER_PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLS_PER_CASE = 2000
MAX_ERRORS = 10
MAX_IDLE = 40
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
        module = types.ModuleType('program')
        sys.modules[module.__name__] = module  # which dataclasses look up
        self.names = vars(module)
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
    outcome: Any = None, ''

    def around(self, program: _Program) -> contextlib.AbstractContextManager[Any]:
        if self.number is None:
            return super().around(program)
        reporter = program.reporters[self.number]
        reporter.observation = {}
        return reporter

    def has_lost_graph(self) -> bool:
        """Tells whether the last call went back through what a plan had left, as no program may."""
        kind, text = self.outcome
        return kind is chainerx.GradientError and 'a plan of chainer.compile has left' in text

    def cut_graphs(self) -> None:
        """Cuts the graphs of states that a failed call has left; a plan leaves none."""
        for program in self.programs:
            for link in program.names['program'].model.links():
                for value in list(vars(link).values()):
                    if type(value) is chainer.Variable:
                        value.unchain_backward()


def _write(rng: random.Random) -> tuple[str, list[str]]:
    """Writes a program; returns it with what may change in it."""
    chosen = rng.sample(PARTS + MORE_PARTS + USER_PARTS, rng.randint(1, 6))
    texts: dict[str, str] = {'outside': '', 'init': '', 'forward': ''}
    changes = list(CHANGES)
    for i, part in enumerate(chosen):
        for name, indent in (('outside', 0), ('init', 12), ('forward', 8)):
            text = textwrap.dedent(getattr(part, name)).format(i=i)
            texts[name] += textwrap.indent(text.strip() + '\n', ' ' * indent)
        changes += 3 * [
            change.replace('{i}', str(i)).replace('{{', '{').replace('}}', '}')
            for change in part.all_changes()
        ]
    step = textwrap.indent(textwrap.dedent(rng.choice(STEPS)).strip(), ' ' * 8)
    first, second = rng.choices(OPTIMIZERS, k=2)
    program = PROGRAM.format(
        **texts, step=step, optimizer=first, second=second, first=rng.choice(FIRST)
    )
    return program, changes


def _draw(form: random.Random, values: np.random.RandomState) -> tuple[Any, Any]:
    """Draws the arguments of a call, of a form."""
    n = form.choice((3,) * 15 + (2, 4))
    x, t = values.rand(n, 6).astype('f'), values.randint(0, 3, n).astype('i')
    kind = form.random()
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


def _run(pair: Pair, form: random.Random, values: np.random.RandomState) -> bool:
    """Runs a step, mostly with arguments of one form; returns whether a plan ran."""
    x, t = _draw(form, values)
    scale = form.choice((1.0,) * 15 + (1, 2.0))
    kind = form.random()
    if kind < 0.9:
        return pair.run(x, t, scale=scale)
    if kind < 0.92:
        return pair.run(x=x, t=t)
    if kind < 0.94:
        return pair.run(x, t, extra={'a': [scale]})
    if kind < 0.96:
        return pair.run(x, t, extra={'a': (x[:1],), 'b': x})
    if kind < 0.98:
        b = chainer.Variable(x, requires_grad=False)
        return pair.run(chainer.as_variable(x + 1), t, extra={'a': [scale], 'b': b})
    return pair.run(x, t, 1.0)  # too many


class _Modes:
    """What a program finds around it: the configuration, the reporter, the generator."""

    def __init__(self) -> None:
        self._values = {'train': True}

    def change(self, rng: random.Random, pair: _Pair) -> None:
        """Changes one of them."""
        kind = rng.random()
        if kind < 0.4:
            name = rng.choice(list(MODES))
            self._values[name] = rng.choice(MODES[name])
        elif kind < 0.8:
            pair.number = rng.choice((None, *[0] * 10, 1, 2))
        else:
            pair.has_seed = not pair.has_seed

    @contextlib.contextmanager
    def apply(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for name, value in self._values.items():
                stack.enter_context(chainer.using_config(name, value))
            yield


def _change(rng: random.Random, pair: _Pair, changes: list[str]) -> str:
    """Changes one thing in both programs; returns the line that does."""
    line = rng.choice(changes).replace('{v}', rng.choice(VALUES))
    for program in pair.programs:
        # Some lines do not suit the program, or what it has become.
        with contextlib.suppress(Exception):
            program.change(line)
    return line


def case(rng: random.Random) -> collections.Counter[str]:
    """Runs programs with random changes.

    Args:
        rng: Decides what the programs are and what changes.

    Returns:
        Numbers of programs, of calls, and of those that ran a plan.

    Raises:
        Finding: If a compiled program differs from the usual one.

    """
    counts: collections.Counter[str] = collections.Counter()
    while counts['calls'] < CALLS_PER_CASE:
        counts['programs'] += 1
        vars(chainer.config).clear()  # what changes of the last program have left there
        counts += _run_program(rng, CALLS_PER_CASE - counts['calls'])
    return counts


def _run_program(rng: random.Random, calls: int) -> collections.Counter[str]:
    source, changes = _write(rng)
    linecache.cache[_FILE] = (len(source), None, source.splitlines(True), _FILE)
    pair = _Pair(lambda: _Program(source))
    function = pair.function
    history: list[str] = []
    modes = _Modes()
    form = rng.getrandbits(32)
    values = np.random.RandomState(rng.getrandbits(31))
    errors = idle = 0  # calls in a row that raise, and that run no plan
    # Many changes leave a program that raises at each call, or that falls back at each.
    while function.calls < calls and errors < MAX_ERRORS and idle < MAX_IDLE:
        # A change tests most where it makes a plan stale that has just run.
        often = 0.2 if idle else 1.0
        if rng.random() < 0.15 * often:
            history.append(_change(rng, pair, changes))
        if rng.random() < 0.03 * often:
            modes.change(rng, pair)
        if rng.random() < 0.05 * often:
            form = rng.getrandbits(32)
        if rng.random() < 0.2:
            # Refused programs are tried again more often.
            function._budget.wait = function._budget.sleep = 0
        try:
            with modes.apply():
                idle = 0 if _run(pair, random.Random(form), values) else idle + 1
        except (AssertionError, RuntimeError) as error:
            if pair.has_lost_graph():
                break
            lines = '\n'.join(history)
            raise Finding(
                f'{source}\n# changes\n{lines}\n{error!r}\n{function.report()}'
            ) from error
        if pair.outcome[0] == 'result':
            errors = 0
        else:
            errors += 1
            pair.cut_graphs()
    return collections.Counter(calls=function.calls, replays=function.replays)
