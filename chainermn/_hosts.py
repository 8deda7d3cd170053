"""Where ranks over TCP run, and what starts them: on this host, or by ssh on others."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from chainermn import _supervisor
from chainermn._tcp import starter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Start(NamedTuple):
    """What starts ranks.

    Attributes:
        command: Command.
        host: Name of the other host on which it starts them; ``None`` if it is this one.
        line: What it reads first.

    """

    command: Sequence[str]
    host: str | None = None
    line: dict[str, Any] | None = None

    def run(self, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Starts it.

        Args:
            environment: Environment variables of the ranks.

        """
        stdin = None if self.line is None else subprocess.PIPE
        process = subprocess.Popen(
            self.command, env=environment, stdin=stdin, preexec_fn=self._prepare
        )
        if process.stdin is not None:
            # The variables have secrets, which all users of a host see in a command line.
            text = json.dumps({**(self.line or {}), 'environment': {**environment}})
            with contextlib.suppress(OSError):
                process.stdin.write(text.encode() + b'\n')
                process.stdin.flush()
        return process

    def _prepare(self) -> None:
        _supervisor.die_with_parent()
        if self.host is not None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the launcher tells the ranks


class Hosts:
    """Hosts of ranks.

    Args:
        names: Names of the hosts; if there are none, all ranks run on this one.
        n: Number of ranks, which are divided between the hosts.
        ssh: Command that runs a command line on a host; these two are its last arguments.
        command: Command of a rank.

    """

    def __init__(self, names: Sequence[str], n: int, ssh: str, command: Sequence[str]) -> None:
        self._names = [*names] or ['localhost']
        self._per_host = -(-n // len(self._names))
        self._ssh = shlex.split(ssh)
        self._command = [*command]
        self._moves: dict[int, int] = {}

    def starts(self, numbers: Iterable[int]) -> dict[tuple[int, ...], Start]:
        """Returns what starts ranks, by their numbers."""
        by_host: dict[str, list[int]] = {}
        for number in numbers:
            by_host.setdefault(self.name_of(number), []).append(number)
        return {tuple(own): self._start(host, own) for host, own in by_host.items()}

    def name_of(self, number: int) -> str:
        """Returns the name of the host of a rank."""
        index = number // self._per_host + self._moves.get(number, 0)
        return self._names[index % len(self._names)]

    def move(self, number: int) -> None:
        """Lets a rank start on the next host: its own one does not start it."""
        self._moves[number] = self._moves.get(number, 0) + 1

    def _start(self, host: str, numbers: Sequence[int]) -> Start:
        words = [sys.executable, '-IS', starter.__file__]
        texts = [*map(str, numbers)]
        if host in ('localhost', socket.gethostname()):
            return Start([*words, ','.join(texts), *self._command])
        line = f'cd {shlex.quote(os.getcwd())} && exec {shlex.join([*words, "-"])}'
        settings = {'numbers': texts, 'command': self._command}
        return Start([*self._ssh, host, line], host, settings)
