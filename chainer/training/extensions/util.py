from __future__ import annotations

import os
import re
import sys
import time
from typing import IO, Any

_SECONDS_BETWEEN_LINES = 10


def is_redirected(out: IO[Any]) -> bool:
    """Tells whether a file is not a terminal, which understands control codes.

    Files in memory do not count as redirected: they may represent a terminal.

    Args:
        out: File.

    .. admonition:: Example

        >>> import tempfile
        >>> from chainer.training.extensions import util
        >>> with tempfile.TemporaryFile() as file:
        ...     util.is_redirected(file)
        True

    """
    try:
        return not os.isatty(out.fileno())
    except (AttributeError, OSError, TypeError, ValueError):
        return False


class ProgressBar:
    r"""Base of progress bars on a terminal; each update overwrites the bar.

    Where the output goes to a file or a pipe, it writes a line every ten seconds in its place,
    without control codes.

    Args:
        bar_length (int): Number of characters of a bar, 50 by default.
        out: File to write to, the standard output by default.

    .. admonition:: Example

        >>> import io
        >>> from chainer.training.extensions import util
        >>> class Bar(util.ProgressBar):
        ...     def get_lines(self):
        ...         return [self._format_bar('total', 0.5)]
        >>> Bar(bar_length=10, out=io.StringIO()).get_lines()
        ['     total [#####.....] 50.00%\n']

    """

    def __init__(self, bar_length: int | None = None, out: IO[Any] | None = None) -> None:
        self._bar_length = 50 if bar_length is None else bar_length
        self._out = sys.stdout if out is None else out
        self._recent_timing: list[tuple[int, float, float]] = []
        self._is_redirected = is_redirected(self._out)
        self._last_line_time = time.time()

    def update_speed(self, iteration: int, epoch_detail: float) -> tuple[float, float]:
        """Records the progress and returns the recent iterations and epochs per second.

        Args:
            iteration (int): Number of completed iterations.
            epoch_detail (float): Number of completed epochs.

        """
        now = time.time()
        self._recent_timing.append((iteration, epoch_detail, now))
        old_iteration, old_epoch_detail, old_time = self._recent_timing[0]
        span = now - old_time
        if len(self._recent_timing) > 100:
            del self._recent_timing[0]
        if span == 0:
            return float('inf'), float('inf')
        return (iteration - old_iteration) / span, (epoch_detail - old_epoch_detail) / span

    def _format_bar(self, title: str, rate: float) -> str:
        """Returns the line with the bar of a fraction."""
        marks = '#' * int(rate * self._bar_length)
        return '{:>10} [{}{}] {:6.2%}\n'.format(
            title, marks, '.' * (self._bar_length - len(marks)), rate
        )

    def get_lines(self) -> list[str]:
        """Returns the lines to show; subclasses implement it."""
        raise NotImplementedError

    def update(self) -> None:
        """Shows the current lines."""
        if self._is_redirected:
            self._write_line()
            return
        self.erase_console()
        lines = self.get_lines()
        for line in lines:
            self._out.write(line)
        self.move_cursor_up(len(lines))
        self.flush()

    def _write_line(self):
        lines = self.get_lines()  # which also measures the speed
        now = time.time()
        if now - self._last_line_time >= _SECONDS_BETWEEN_LINES:
            self._last_line_time = now
            words = ', '.join(' '.join(line.split()) for line in lines)
            self._out.write(re.sub(r'\[[#.]*\] ', '', words) + '\n')
            self.flush()

    def close(self) -> None:
        """Erases the lines."""
        self.erase_console()
        self.flush()

    def erase_console(self) -> None:
        """Erases everything from the cursor to the end of the screen, if it is a terminal's."""
        if self._is_redirected:
            return
        _enable_windows_terminal()
        self._out.write('\033[J')

    def move_cursor_up(self, n: int) -> None:
        """Moves the cursor up.

        Args:
            n (int): Number of lines.

        """
        if not self._is_redirected:
            self._out.write(f'\033[{n:d}A')

    def flush(self) -> None:
        """Flushes the file, if possible."""
        if hasattr(self._out, 'flush'):
            self._out.flush()


def _enable_windows_terminal():
    # The console of Windows understands escape sequences once this mode is set.
    if sys.platform == 'win32':
        import ctypes

        kernel32 = ctypes.windll.kernel32
        kernel32.SetConsoleMode(kernel32.GetStdHandle(-11), 7)
