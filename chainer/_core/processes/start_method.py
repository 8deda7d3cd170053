"""The start method of the processes that Chainer starts."""

from __future__ import annotations

import multiprocessing
import sys
from typing import Any


def context(default: str | None = 'fork' if sys.platform == 'linux' else None) -> Any:
    """Returns the context of :mod:`multiprocessing` to start a process with.

    It is what the program chose with :func:`multiprocessing.set_start_method`. Otherwise Linux
    forks whatever the version of Python, as Python 3.14 no longer does by itself: a forked process
    needs no picklable arguments and no ``if __name__ == '__main__'``, which programs lack that
    were written for Chainer 7.

    Args:
        default (str): Method unless the program chose one; ``None`` for Python's.

    """
    # multiprocessing itself would make its default the choice of the program.
    return multiprocessing.get_context(multiprocessing.get_start_method(allow_none=True) or default)
