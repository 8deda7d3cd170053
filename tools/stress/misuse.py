"""Wrong calls of everything: errors, but no signals, no hangs, nothing changed halfway."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import math
import os
import pickle
import random
import signal
import sys
import traceback
from typing import Any

import numpy as np

import chainerx
from tools.stress import calls, guard, hostile

LINES_PER_CASE = 300
LIMIT = 30  # seconds after which a call hangs
PATIENCE = 3  # seconds after which a loop in Python is left, as it does what it was told
# What a wrong call of ChainerX may raise, besides its own errors.
EXPECTED = (
    TypeError,
    ValueError,
    IndexError,
    OverflowError,
    MemoryError,
    BufferError,
    AttributeError,
    ZeroDivisionError,
    StopIteration,
    np.linalg.LinAlgError,
    KeyError,
    RecursionError,
    pickle.PickleError,
)


class _Slow(Exception):
    """A call that takes long in Python."""


def _stop(signum: int, frame: Any) -> None:
    raise _Slow


def _contents(x: Any) -> bytes | None:
    """Returns the memory of an array, to see whether it changes."""
    is_array = chainerx.is_available() and type(x) is chainerx.ndarray
    try:
        return bytes(memoryview(x.as_grad_stopped())) if is_array else None
    except (ValueError, MemoryError):  # new, or too large for this
        return None


def _check(result: Any) -> None:
    for x in result if isinstance(result, (list, tuple)) else [result]:
        if isinstance(x, chainerx.ndarray):
            if x.size != math.prod(x.shape) or x.nbytes != x.size * x.itemsize:
                raise guard.Finding(f'an array of shape {x.shape} has {x.nbytes} bytes')
            if x.size < 100:
                repr(x)


def _run(make: str, line: str, expected: tuple[type[BaseException], ...]) -> bool:
    """Runs a line; returns whether it raises no error."""
    names = dict(vars(hostile))
    before = None
    try:
        exec(make, names)
        before = _contents(names.get('x'))
        exec(line, names)
        _check(names.get('y'))
        return True
    except guard.Finding:
        raise
    except SystemError as error:  # an extension module returned nonsense
        raise guard.Finding(traceback.format_exc()) from error
    except (*expected, _Slow) as error:
        if before is not None and _contents(names['x']) != before:
            raise guard.Finding(f'an error has changed x: {ascii(error)}') from None
        if isinstance(error, MemoryError) and not str(error) and chainerx.ChainerxError in expected:
            raise guard.Finding('a MemoryError without a text') from error
        return False
    except BaseException as error:
        raise guard.Finding(traceback.format_exc()) from error
    finally:
        hostile.SCOPES.clear()


def case(rng: random.Random) -> dict[str, int]:
    """Runs lines of one of the packages."""
    package = rng.choice(['chainer', 'chainerx'] if chainerx.is_available() else ['chainer'])
    expected: tuple[type[BaseException], ...] = (Exception,)
    writer: Any = calls.ChainerWriter(rng)
    if package == 'chainerx':
        expected = (chainerx.ChainerxError, *EXPECTED)
        writer = calls.ChainerxWriter(rng)
    guard.forbid_network()
    guard.limit_memory(3 << 30)
    signal.signal(signal.SIGALRM, _stop)
    sys.unraisablehook = lambda _: None  # errors of __del__
    counts = {f'calls of {package}': LINES_PER_CASE, 'without error': 0}
    for i in range(LINES_PER_CASE):
        gc.set_threshold(1 if i % 50 == 0 else 700)
        make, line = writer.line()
        print(ascii(f'{make}; {line}' if make else line), flush=True)
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        signal.alarm(PATIENCE)
        with open(os.devnull, 'w') as nowhere, contextlib.redirect_stdout(nowhere):
            counts['without error'] += _run(make, line, expected)
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
    return counts
