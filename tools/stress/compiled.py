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
from tools.stress.programs import PARTS, VALUES
from tools.stress.training_program import CHANGES, OPTIMIZERS, PROGRAM

CALLS_PER_CASE = 500
_FILE = '<program>'


class _Program:
    """A program of a source, whose parts may be replaced while it runs."""

    def __init__(self, source: str, reporter: chainer.Reporter) -> None:
        self.names: dict[str, Any] = {'__name__': 'program'}
        exec(compile(source, _FILE, 'exec'), self.names)
        self.reporter = reporter

    def change(self, line: str) -> None:
        np.random.seed(0)
        exec(line, self.names)
        # Each program reports as an observer of its own.
        self.reporter.add_observer(str(id(self)), self.names['program'].model)

    @property
    def step(self) -> Any:
        return self.names['program'].step

    def state(self) -> Any:
        state = state_of(self.names['program'].model, self.names['optimizer'])
        mean = self.reporter.observation.pop(f'{id(self)}/mean', None)
        return state | {'reported': bits(mean)}


def _write(rng: random.Random) -> tuple[str, list[str]]:
    """Writes a program; returns it with what may change in it."""
    chosen = [part for part in PARTS if rng.random() < 0.12]
    rng.shuffle(chosen)
    chosen = chosen[:6] or [PARTS[1]]
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
    return PROGRAM.format(**texts, optimizer=rng.choice(OPTIMIZERS)), changes


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
    reporter = chainer.Reporter()
    pair = Pair(lambda: _Program(source, reporter))
    function = pair.function
    history: list[str] = []
    train = is_reporting = True
    for program in pair.programs:
        program.change('pass')
    for _ in range(CALLS_PER_CASE):
        if rng.random() < 0.1:
            line = rng.choice(changes).replace('{v}', rng.choice(VALUES))
            history.append(line)
            for program in pair.programs:
                # Some lines do not suit the program, or what it has become.
                with contextlib.suppress(Exception):
                    program.change(line)
        train ^= rng.random() < 0.03
        is_reporting ^= rng.random() < 0.03
        pair.has_seed ^= rng.random() < 0.03
        if rng.random() < 0.2:
            # Refused programs are tried again more often.
            function._budget.wait = function._budget.sleep = 0
        arguments = _draw(rng)
        scale = rng.choice((1.0,) * 15 + (1, 2.0))
        try:
            reporting = reporter if is_reporting else contextlib.nullcontext()
            with chainer.using_config('train', train), reporting:
                pair.run(*arguments, scale=scale)
        except (AssertionError, RuntimeError) as error:
            lines = '\n'.join(history)
            raise Finding(
                f'{source}\n# changes\n{lines}\n{error!r}\n{function.report()}'
            ) from error
    return collections.Counter(calls=function.calls, replays=function.replays)
