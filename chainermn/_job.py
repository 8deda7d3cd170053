"""One run of a distributed job: starts, monitors and ends its processes."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from chainermn import _checks, _judge, _losses, _recorder, _supervisor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chainermn._hosts import Start

_END_SECONDS = 2.0  # for the guards to end the ranks, before this process kills all
# If one of them is set, mpiexec may use hosts that the command line does not name.
_HOST_VARIABLES = (
    *('HYDRA_HOST_FILE', 'SLURM_NODELIST', 'SLURM_JOB_NODELIST', 'PBS_NODEFILE'),
    *('PE_HOSTFILE', 'LSB_HOSTS', 'LSB_MCPU_HOSTS', 'COBALT_NODEFILE'),
)
_OUTSIDE = '192.0.2.1'  # reserved for documentation; nothing is sent to it
_BAD_LINES = ValueError, TypeError, KeyError, RecursionError  # anybody can connect and send a line


class _Rank:
    """Connection to the guard of a rank, see :mod:`chainermn._supervisor`.

    Args:
        connection: New connection; the first line says which rank it belongs to.

    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.number = -1
        self.name: str | None = None
        self.has_ended = False
        self._is_asked = False
        self._buffer = b''

    def read(self) -> list[dict[str, Any]]:
        """Reads lines.

        Raises:
            EOFError: If the guard has closed the connection.
            OSError: If the connection is broken.

        """
        try:
            data = self.connection.recv(4096)
        except BlockingIOError:
            return []
        if not data:
            raise EOFError('the process that watches it has ended')
        *lines, self._buffer = (self._buffer + data).split(b'\n')
        if len(self._buffer) > 4096:
            raise OSError('this is no guard')
        self._is_asked = False
        return [json.loads(line) for line in lines]

    def ask(self) -> None:
        """Asks for a report, unless the guard has not yet answered."""
        if not self._is_asked:
            self._is_asked = True
            self.send(_supervisor.ASK)

    def send(self, number: int) -> None:
        """Sends a signal. If the connection is broken, the next ``read`` raises."""
        try:
            self.connection.send(f'{number}\n'.encode())
        except OSError:
            pass

    def kill(self) -> None:
        """Has the guard end the rank and all that it has started."""
        try:
            self.connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Job:
    """Ranks, and what starts them. All end when one fails or this process gets a signal.

    The guard of each rank connects to this process. It reports how its rank ended and receives the
    signals for it. When the connection closes or breaks, it ends its rank.

    Args:
        starts: What starts the ranks, by their numbers; none if ``mpiexec`` chooses.
        environment: Environment variables of the ranks.
        hosts: Names of the hosts; if there are none, ``mpiexec`` chooses.
        grace: Seconds between a signal, or the end of a rank that fails, and ``SIGKILL``.
        link_timeout: Seconds without an answer of a host after which it is lost.
        signals: Signals that this process gets.
        folder: Where the last calls of the ranks are written if they cannot go on.
        plan: What is to happen if ranks are lost that connect over TCP; ``None`` if MPI connects
            them.

    """

    def __init__(
        self,
        starts: Mapping[tuple[int, ...], Start],
        environment: Mapping[str, str],
        hosts: Sequence[str],
        grace: float,
        link_timeout: float,
        signals: _supervisor.SignalReader,
        folder: str = '.',
        plan: _losses.Plan | None = None,
    ) -> None:
        self._starts = starts
        self._awaited: dict[int, subprocess.Popen[bytes]] = {}  # what has started these ranks
        self._environment = environment
        is_alone = not hosts and not any([name in environment for name in _HOST_VARIABLES])
        self._addresses = ['127.0.0.1'] if is_alone else _addresses(hosts)
        self._grace = grace
        self._link_timeout = link_timeout
        self._signals = signals
        self._folder = folder
        self._token = secrets.token_hex(16)
        self._losses = None if plan is None else _losses.Losses(plan, self._addresses)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._selector = selectors.DefaultSelector()
        self._ranks: list[_Rank] = []
        self._deadline: float | None = None
        self._is_killed = False
        self._is_spared = False
        self._is_cut = False  # whether a host was lost
        self._failure: int | None = None
        self._judge = _judge.Judge(_checks.timeout())
        self._next_look = 0.0
        #: The signal that has ended the job.
        self.signal: int | None = None

    def run(self) -> int:
        """Returns the exit status."""
        start = time.time()
        _supervisor.adopt_orphans()
        with self._selector, self._listen() as server, contextlib.ExitStack() as stack:
            settings = json.dumps(self._settings(server.getsockname()[1]))
            self._environment = {**self._environment, _supervisor.VARIABLE: settings}
            if self._losses is not None:
                meeting = stack.enter_context(contextlib.closing(self._losses.meeting))
                meeting.register(self._selector)
                self._environment |= meeting.variable()
            self._selector.register(server, selectors.EVENT_READ, self._accept)
            self._selector.register(self._signals, selectors.EVENT_READ, self._forward)
            self._start(self._starts, self._environment)
            self._wait()
            for process in self._processes:
                process.kill()
                _supervisor.kill_descendants(process.pid)
            self._disconnect()
        _supervisor.remove_shared_memory(start)
        statuses = [process.wait() for process in self._processes][: len(self._starts)]
        return self._exit_status(next(filter(None, statuses), 0))

    def _start(
        self, starts: Mapping[tuple[int, ...], Start], environment: Mapping[str, str]
    ) -> None:
        """Starts ranks."""
        for numbers, start in starts.items():
            process = start.run(environment)
            self._processes.append(process)
            self._awaited.update(dict.fromkeys(numbers, process))

    def _start_new(self, losses: _losses.Losses) -> None:
        """Starts the processes that take the place of others."""
        if self._is_ending:
            return
        for number in losses.next_starts():
            # The others may be busy when it comes.
            variable = losses.meeting.variable(seconds=None)
            self._start(losses.plan.hosts.starts([number]), {**self._environment, **variable})

    def _look_for_missing(self, losses: _losses.Losses) -> None:
        """Loses the ranks that a host has not started."""
        for number, process in [*self._awaited.items()]:
            status = process.poll()
            if status is None or self._is_ending:
                continue
            del self._awaited[number]
            if status == 0:
                continue
            name = f'rank {number} on {losses.plan.hosts.name_of(number)}'
            losses.plan.hosts.move(number)
            text = f'was not started (exit status {status})'
            if not self._go_on_without(number, name, text):
                self._fail(name, text, 1)
                self._kill()

    def _disconnect(self) -> None:
        for rank in self._ranks:
            rank.connection.close()

    def _settings(self, port: int) -> dict[str, Any]:
        """What the guards of the ranks need to connect."""
        return {
            'addresses': self._addresses,
            'host': socket.gethostname(),
            'port': port,
            'token': self._token,
            'grace': self._grace,
            'link_timeout': self._link_timeout,
            'timeout': self._judge.limit,
        }

    def _exit_status(self, status: int) -> int:
        if self.signal is not None:
            return 128 + self.signal
        if self._is_spared and self._failure is None:
            return 0  # the ranks that were left have ended well
        # mpiexec may end well although a rank has failed, or by the kill of this object. The own
        # starter ends as any rank that has failed, maybe since another one was lost.
        is_own = self._losses is not None
        if self._failure is not None and (is_own or status in (0, -signal.SIGKILL)):
            status = self._failure
        return status if status >= 0 else 128 - status

    def _listen(self) -> socket.socket:
        address = '127.0.0.1' if self._addresses == ['127.0.0.1'] else ''
        server = socket.create_server((address, 0), backlog=1024)
        server.setblocking(False)
        return server

    def _is_running(self) -> bool:
        return None in [process.poll() for process in self._processes]

    def _wait(self) -> None:
        """Waits until all have ended, or until killed ones have had time to end."""
        while (is_running := self._is_running()) or self._ranks:
            if not is_running:
                self._kill()
            elif self._is_killed and not self._ranks:
                self._limit(1)  # only mpiexec is left
            elif self._is_cut and not self._ranks and not self._awaited:
                self._limit(self._link_timeout)  # ssh waits for the host forever
            events = self._selector.select(0.1)
            for key, _ in events:
                key.data(key.fileobj)
            self._watch()
            if self._losses is not None:
                if not events:  # all that have come are known
                    self._look_for_missing(self._losses)
                self._start_new(self._losses)
            if self._deadline is not None and time.monotonic() >= self._deadline:
                if self._is_killed:
                    return
                self._kill()

    @property
    def _is_ending(self) -> bool:
        return self._is_killed or self._failure is not None or self.signal is not None

    def _watch(self) -> None:
        """Asks what the ranks do, and ends them if they cannot go on."""
        limit, now = self._judge.limit, time.monotonic()
        if not limit or self._is_ending or now < self._next_look:
            return
        self._next_look = now + _supervisor.interval(limit)
        for rank in self._ranks:
            rank.ask()
        line, reason = self._judge.look()
        if line is not None:
            _print(line)
        lost = next((rank for rank in self._ranks if rank is self._judge.lost), None)
        if reason is not None and lost is not None and self._spare(lost, f'is lost ({reason})'):
            lost.has_ended = True
            lost.kill()
        elif reason is not None:
            lines = f'{reason}, so all ranks end (CHAINERMN_TIMEOUT)', *self._judge.table()
            _print('\n'.join(lines))
            self._write_records()
            self._failure = 1
            self._kill()

    def _write_records(self) -> None:
        """Writes the last calls of each rank to a file, and tells where."""
        path = os.path.abspath(os.path.join(self._folder, 'chainermn_calls.{}.txt'))
        try:
            for rank in self._ranks:
                with open(path.format(rank.number), 'w', encoding='utf-8') as f:
                    f.write('\n'.join([*self._judge.record(rank), '']))
        except OSError as error:  # the job ends all the same
            _print(f'the last calls of the ranks cannot be written: {error}')
            return
        ranks = _recorder.describe_ranks([rank.number for rank in self._ranks])
        _print(f'the last calls of each rank are in {path.format("<rank>")} for ranks {ranks}')

    def _limit(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        if self._deadline is None or deadline < self._deadline:
            self._deadline = deadline

    def _kill(self) -> None:
        if not self._is_killed:
            self._is_killed = True
            self._deadline = None
            self._limit(_END_SECONDS)
            for rank in self._ranks:
                rank.kill()

    def _forward(self, source: object) -> None:
        for number in self._signals.read():
            if number == signal.SIGCHLD:
                continue  # it has ended the wait for events
            if number in _supervisor.ENDING:
                if self.signal is not None or not self._ranks:
                    self._kill()
                if self.signal is None:
                    self.signal = number
                    self._limit(self._grace)
            for rank in self._ranks:
                rank.send(_for_ranks(number))

    def _accept(self, server: socket.socket) -> None:
        try:
            connection, _ = server.accept()
        except OSError:  # it has gone again
            return
        connection.setblocking(False)
        _supervisor.limit_silence(connection, self._link_timeout)
        rank = _Rank(connection)
        self._selector.register(connection, selectors.EVENT_READ, lambda _: self._read(rank))

    def _read(self, rank: _Rank) -> None:
        try:
            for values in rank.read():
                self._take(rank, values)
        except (EOFError, OSError, *_BAD_LINES) as error:
            self._is_cut |= isinstance(error, OSError)
            self._selector.unregister(rank.connection)
            rank.connection.close()
            if rank in self._ranks:
                self._ranks.remove(rank)
                text = f'is lost: {error}'
                if not (rank.has_ended or self._is_killed or self._spare(rank, text)):
                    self._fail(rank.name, text, 1)
                    self._kill()

    def _admit(self, rank: _Rank, values: dict[str, Any]) -> None:
        if not secrets.compare_digest(values['token'], self._token):
            raise ValueError('this is no guard of this job')
        rank.number = int(values['rank'])
        rank.name = f'rank {rank.number} on {values["host"]}'
        self._ranks.append(rank)
        self._awaited.pop(rank.number, None)
        self._judge.add(rank, rank.name)
        # It connects late, so it has missed what the others were told.
        if self._is_killed:
            rank.kill()
        elif self.signal is not None:
            rank.send(_for_ranks(self.signal))

    def _take(self, rank: _Rank, values: dict[str, Any]) -> None:
        if rank.name is None:
            self._admit(rank, values)
            return
        status = values.get('status')
        if status is not None and not rank.has_ended:
            rank.has_ended = True
            self._judge.end(rank)
            if self._losses is not None and status == 0:
                self._losses.end(rank.number)
        if status and self.signal is None and not self._is_killed:
            text = values.get('text', _describe(status))
            if not self._spare(rank, text):
                self._fail(rank.name, text, status if status > 0 else 128 - status)
                self._limit(self._grace)
        elif 'report' in values:
            self._judge.hear(rank, values['report'])
        elif status is None:
            _print(f'{rank.name} {values["text"]}')

    def _spare(self, rank: _Rank, text: str) -> bool:
        """Tells whether the others go on without a rank, and lets them."""
        if not self._go_on_without(rank.number, rank.name, text):
            return False
        self._judge.remove(rank)
        return True

    def _go_on_without(self, number: int, name: str | None, text: str) -> bool:
        if self._losses is None or self._failure is not None:
            return False
        consequence = self._losses.lose(number)
        if consequence is None:
            self._losses.meeting.tell_of(number)
            return False
        self._is_spared = True
        _print(f'{name} {text}; {consequence}')
        return True

    def _fail(self, name: str | None, text: str, status: int) -> None:
        if self._failure is None:
            self._failure = status
            _print(f'{name} {text}')


def _print(text: str) -> None:
    print(f'chainermn.run: {text}', file=sys.stderr, flush=True)


def _describe(status: int) -> str:
    """Describes the exit status of a failed process."""
    if status > 0:
        return f'ended with exit status {status}'
    try:
        return f'was killed by signal {-status} ({signal.Signals(-status).name})'
    except ValueError:  # a signal without a name
        return f'was killed by signal {-status}'


def _for_ranks(number: int) -> int:
    """The signal that ranks get. UCX, by which MPICH sends, takes SIGHUP for its own purpose."""
    return signal.SIGTERM if number == signal.SIGHUP else number


def _addresses(hosts: Sequence[str]) -> list[str]:
    """Addresses by which other hosts may reach this one."""
    found = []
    for host in (*hosts, socket.gethostname(), _OUTSIDE):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((host, 9))  # sends nothing
            except OSError:
                continue  # unknown, which mpiexec will report, or not reachable
            address = probe.getsockname()[0]
        if address not in found:
            found.append(address)
    # Loopback addresses, which other hosts cannot reach, come last.
    return sorted(found, key=lambda address: address.startswith('127.'))
