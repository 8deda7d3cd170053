"""Ctrl-C and SIGTERM while a training runs."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any

# What the interpreter does unless a program decides otherwise.
_DEFAULTS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class Interrupts:
    """Context that puts off the first Ctrl-C or SIGTERM until its end.

    It leaves signals alone that have handlers of the program, and all signals in other threads
    than the main one, which cannot have handlers. A second signal acts at once.

    Attributes:
        received: Number of the signal that is put off, ``None`` if there is none.

    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._replaced: dict[int, Any] = {}
        self._pid = os.getpid()

    def __enter__(self) -> Interrupts:
        with contextlib.suppress(ValueError):  # not the main thread
            for signum, default in _DEFAULTS.items():
                if signal.getsignal(signum) == default:
                    signal.signal(signum, self._put_off)
                    self._replaced[signum] = default
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._restore()
        if self.received is not None:
            signal.raise_signal(self.received)
            # The first process of a container survives it.
            raise SystemExit(128 + self.received)

    def _restore(self):
        for signum, handler in self._replaced.items():
            if signal.getsignal(signum) == self._put_off:  # else the program has set another
                signal.signal(signum, handler)
        self._replaced = {}

    def _put_off(self, signum, frame):
        self._restore()
        if os.getpid() != self._pid:  # a forked process
            signal.raise_signal(signum)
            return
        self.received = signum
        with contextlib.suppress(Exception):  # the signal may have come amid other output
            sys.stderr.write(
                f'{signal.Signals(signum).name}: the training stops after this iteration; '
                'repeat it to stop at once\n'
            )
            sys.stderr.flush()
