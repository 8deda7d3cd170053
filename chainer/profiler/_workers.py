"""Spans of the worker processes of iterators, which write them to files."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

from chainer.iterators import _worker_process
from chainer.profiler import _spans

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.profiler._replacements import Replacements

_run = _worker_process.run


class Workers:
    """Watches worker processes that begin while a profile runs, which add lines to one file."""

    def __init__(self) -> None:
        handle, self._path = tempfile.mkstemp(prefix='chainer-profiler-')
        os.close(handle)

    def start(self, replacements: Replacements) -> None:
        """Lets new processes run :func:`run`."""
        replacements.replace(
            _worker_process, 'run', lambda function: functools.partial(run, self._path)
        )

    def stop(self) -> dict[int, list[_spans.Span]]:
        """Returns the spans of each process so far."""
        spans: dict[int, list[_spans.Span]] = {}
        with open(self._path) as file:
            os.remove(self._path)
            for line in file:
                pid, start, end, examples = json.loads(line)
                span = _spans.Span(
                    'iterator', 'read examples', 0, start, end, {'examples': examples}
                )
                spans.setdefault(pid, []).append(span)
        return spans


def run(path: str, conn: Any, dataset: Any, shared_mem: int | None) -> None:
    """Main function of a watched process: it also writes a line for each chunk it reads."""
    with contextlib.suppress(FileNotFoundError):  # the profile has ended
        _worker_process.answer = _watch(os.open(path, os.O_WRONLY | os.O_APPEND))
    _run(conn, dataset, shared_mem)


def _watch(file: int) -> Callable[..., Any]:
    original = _worker_process.answer

    def answer(dataset: Any, slots: Any, indices: bytes, seed: int) -> Any:
        start = _spans.clock()
        reply = original(dataset, slots, indices, seed)
        end = _spans.clock()
        if os.fstat(file).st_nlink:  # the profile has not ended
            line = json.dumps([os.getpid(), start, end, len(indices) // 8]) + '\n'
            os.write(file, line.encode())  # at once, so that lines of processes do not mix
        return reply

    return answer
