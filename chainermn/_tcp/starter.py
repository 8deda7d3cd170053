"""Starts ranks on this host, in place of ``mpiexec``: ``python starter.py NUMBERS COMMAND ...``.

Each line that a rank prints begins with its number, of such as ``0,1,2``. The exit status is that
of the first rank that failed. On another host than that of the launcher, ``python starter.py -``
reads the numbers, the command and the environment variables from its input, in a line of JSON.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from typing import IO, Any


def main(numbers: list[str], command: list[str], stdin: int | None) -> int:
    """Starts the ranks, prints what they print, and returns the exit status.

    Args:
        numbers: Numbers of the ranks.
        command: Command of a rank.
        stdin: Input of the first rank of all.

    """
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, signal.SIG_IGN)  # the launcher tells the ranks
    ranks = [
        subprocess.Popen(
            command,
            stdin=stdin if rank == '0' else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, 'CHAINERMN_RANK': rank},
            preexec_fn=_restore_signals,
        )
        for rank in numbers
    ]
    with selectors.DefaultSelector() as selector:
        for rank, process in zip(numbers, ranks):
            for source, target in (process.stdout, sys.stdout), (process.stderr, sys.stderr):
                assert source is not None
                os.set_blocking(source.fileno(), False)
                line = _Lines(f'[{rank}] '.encode(), source, target.buffer)
                selector.register(source, selectors.EVENT_READ, line)
        while selector.get_map():
            for key, _ in selector.select():
                if not key.data.copy():
                    selector.unregister(key.fileobj)
    statuses = [process.wait() for process in ranks]
    first = next((status for status in statuses if status), 0)
    return first if first >= 0 else 128 - first


def _restore_signals() -> None:
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)


class _Lines:
    """Copies lines with a prefix."""

    def __init__(self, prefix: bytes, source: IO[bytes], target: Any) -> None:
        self._prefix = prefix
        self._source = source
        self._target = target
        self._rest = b''

    def copy(self) -> bool:
        """Copies what there is; returns whether there may be more."""
        try:
            data = os.read(self._source.fileno(), 65536)
        except BlockingIOError:
            return True
        *lines, self._rest = (self._rest + data).split(b'\n')
        if not data and self._rest:
            lines.append(self._rest)
        if lines:
            self._target.write(b''.join([self._prefix + line + b'\n' for line in lines]))
            self._target.flush()
        return bool(data)


if __name__ == '__main__':
    if sys.argv[1] == '-':
        settings = json.loads(sys.stdin.readline())
        os.environ.update(settings['environment'])
        sys.exit(main(settings['numbers'], settings['command'], subprocess.DEVNULL))
    sys.exit(main(sys.argv[1].split(','), sys.argv[2:], None))
