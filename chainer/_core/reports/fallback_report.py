"""Reports of functions that ran on NumPy or CuPy although their inputs were ChainerX arrays."""

from __future__ import annotations

import atexit
import contextlib
import sys
import time
import typing as tp
import warnings
from typing import Any, TextIO

from chainer._core.names.set_module import set_module
from chainer._core.processes.forks import ProcessLock
from chainer._core.reports.profile_report import get_name
from chainer.configuration import config
from chainer.warnings import PerformanceWarning

if tp.TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from typing_extensions import Self


MODES = ('silent', 'warn', 'raise', 'report')

_reports: list[FallbackReport] = []  # active ones, of all threads
_process_report: FallbackReport | None = None
_warned: set[str] = set()
_lock = ProcessLock()


@set_module('chainer')
class FallbackReport:
    """Records which functions fell back from ChainerX to NumPy or CuPy, how often, and the time.

    A function falls back if it has no native path, or if its native path does not support the
    arguments of a call. The report is a context manager; it sees the functions of all threads.
    It costs nothing while no report is active, or for functions that run natively.

    ``chainer.config.chainerx_fallback`` sets the further effect of a fallback:

    - ``'silent'`` (the default): nothing.
    - ``'warn'``: the first fallback of each function issues a
      :class:`~chainer.warnings.PerformanceWarning`.
    - ``'raise'``: a fallback raises a :class:`RuntimeError` that names the function.
    - ``'report'``: a report records it. The process prints the report to the standard error
      output when it ends.

    The environment variable ``CHAINERX_FALLBACK`` sets the default.

    .. admonition:: Example

        >>> x = np.array([-1.5, .5], np.float32)
        >>> with chainer.FallbackReport() as report:
        ...     y = F.digamma(x)
        >>> report.summary()    # NumPy arrays do not fall back
        {}

    """

    def __init__(self) -> None:
        self._records: dict[Any, Any] = {}

    def __enter__(self) -> Self:
        """Starts recording.

        Raises:
            RuntimeError: If the report is already active.

        """
        with _lock:
            if self in _reports:
                raise RuntimeError('this FallbackReport is active already')
            _reports.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with _lock:
            _reports.remove(self)

    def _record(self, name: str, **figures: Any) -> None:
        reason = figures.pop('reason', None)
        with _lock:
            record = self._records.setdefault(
                name,
                {
                    'reason': reason,
                    'forward': 0,
                    'forward_time': 0.0,
                    'backward': 0,
                    'backward_time': 0.0,
                },
            )
            for key, value in figures.items():
                record[key] += value

    def summary(self) -> dict[str, dict[str, Any]]:
        """Returns the figures by function.

        Returns:
            dict: From names of functions to dictionaries of ``reason`` (that of the function's
            :data:`~chainer.Fallback`), the numbers of calls ``forward`` and ``backward``, and
            the times ``forward_time`` and ``backward_time`` in seconds.

        """
        with _lock:
            return {name: dict(record) for name, record in self._records.items()}

    def print_report(self, file: TextIO | None = None) -> None:
        """Prints the figures as a table, the slowest function first.

        Args:
            file: Text file to print to; standard output by default.

        """
        rows = [('Function', 'Reason', 'Forward', 'Seconds', 'Backward', 'Seconds')]
        rows += [
            (
                name,
                r['reason'],
                str(r['forward']),
                f'{r["forward_time"]:.6f}',
                str(r['backward']),
                f'{r["backward_time"]:.6f}',
            )
            for name, r in sorted(self.summary().items(), key=_time, reverse=True)
        ]
        widths = [max(map(len, column)) for column in zip(*rows)]
        for row in rows:
            cells = [
                text.ljust(n) if i < 2 else text.rjust(n)
                for i, (text, n) in enumerate(zip(row, widths))
            ]
            print('  '.join(cells), file=file or sys.stdout)


def _time(item: tuple[str, dict[str, Any]]) -> float:
    return item[1]['forward_time'] + item[1]['backward_time']


def _describe(arrays: Iterable[Any]) -> str:
    return ', '.join([f'{x.dtype}{list(x.shape)}' for x in arrays])


def notice(func: object, inputs: Iterable[Any], reason: str) -> None:
    """Acts by the configuration on the fallback of ``func``."""
    mode = config.chainerx_fallback
    if mode == 'silent':
        return
    name = get_name(func)
    if mode in ('warn', 'raise'):
        text = (
            f'{name} fell back from ChainerX to NumPy or CuPy ({reason}); '
            f'inputs: {_describe(inputs)}'
        )
        if mode == 'raise':
            raise RuntimeError(text)
        with _lock:
            seen = name in _warned
            _warned.add(name)
        if not seen:
            warnings.warn(text, PerformanceWarning, stacklevel=2)
    elif mode == 'report':
        _start_process_report()
    else:
        raise ValueError(
            f'invalid value of chainer.config.chainerx_fallback: {mode!r} '
            f'(must be one of {", ".join(MODES)})'
        )


def _start_process_report() -> None:
    global _process_report
    with _lock:
        if _process_report is None:
            _process_report = FallbackReport()
            _reports.append(_process_report)
            atexit.register(_print_process_report)


def _print_process_report() -> None:
    print('Functions that fell back from ChainerX:', file=sys.stderr)
    assert _process_report is not None
    _process_report.print_report(sys.stderr)


@contextlib.contextmanager
def _measure(func: object, part: str, reason: str) -> tp.Iterator[None]:
    start = time.perf_counter()
    yield
    elapsed = time.perf_counter() - start
    for report in tuple(_reports):
        report._record(get_name(func), reason=reason, **{part: 1, part + '_time': elapsed})


_nothing = contextlib.nullcontext()


def measuring(func: object, part: str, reason: str) -> AbstractContextManager[None]:
    """Context manager that tells active reports of a ``'forward'`` or ``'backward'``."""
    return _measure(func, part, reason) if _reports else _nothing
