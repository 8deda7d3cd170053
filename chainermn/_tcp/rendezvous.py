"""How ranks find each other: each tells the launcher its address and gets those of all.

A rank has a number in the job, which stays. Each keeps its connection to the launcher, which says
which rank is lost, or joins, and closes it, so that all meet again or end: in the middle of a
training, or while they still connect to each other.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import selectors
import socket
import time
from typing import TYPE_CHECKING, Any

from chainermn._supervisor import RANKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: The variable that tells ranks where to meet: JSON.
VARIABLE = 'CHAINERMN_RENDEZVOUS'
#: Seconds that the ranks have to come.
SECONDS = 120.0
_HELLO_BYTES = 4096
_HELLO_SECONDS = 10.0


class _MeetingOverError(Exception):
    """The launcher has said that the ranks meet again."""


class Rendezvous:
    """Where ranks meet, in the launcher.

    Anybody can connect; only who knows the token takes part. The ranks get an answer when all that
    are expected have come, each time.

    Args:
        numbers: Numbers of the ranks.
        addresses: Addresses of this host.

    Attributes:
        expected: Numbers of the ranks that meet.
        invited: Numbers of those that have been started late and have not met the others yet.

    """

    def __init__(self, numbers: Iterable[int], addresses: Sequence[str]) -> None:
        self.expected = {*numbers}
        self.invited: set[int] = set()
        self._token = secrets.token_hex(16)
        self._selector: selectors.BaseSelector | None = None
        is_alone = [*addresses] == ['127.0.0.1']
        self._server = socket.create_server(('127.0.0.1' if is_alone else '', 0), backlog=1024)
        self._server.setblocking(False)
        self._addresses = [*addresses]
        self._places: dict[int, tuple[str, int]] = {}
        self._connections: dict[int, socket.socket] = {}
        self._silent: set[socket.socket] = set()
        self._answered: list[socket.socket] = []  # of ranks that know where the others are

    def variable(self, seconds: float | None = SECONDS) -> dict[str, str]:
        """The environment variable for ranks.

        Args:
            seconds: Seconds that all others have to come, ``None`` for any number.

        """
        settings = {
            'seconds': seconds,
            'addresses': self._addresses,
            'port': self._server.getsockname()[1],
            'token': self._token,
        }
        return {VARIABLE: json.dumps(settings)}

    def register(self, selector: selectors.BaseSelector) -> None:
        """Answers ranks whenever the selector finds that they have come."""
        self._selector = selector
        selector.register(self._server, selectors.EVENT_READ, self._accept)

    def close(self) -> None:
        """Ends the meeting."""
        waiting = *self._silent, *self._connections.values(), *self._answered
        for connection in [self._server, *waiting]:
            connection.close()

    def forget(self, number: int) -> None:
        """Waits no longer for a rank, which has ended well; nobody joins any more."""
        for newcomer in self.invited:
            self.expected.discard(newcomer)
            self._dismiss(self._connections.get(newcomer))
            self._forget_place(newcomer)
        self.invited.clear()
        self._remove(number)

    def invite(self, number: int) -> None:
        """Lets another process of this number join: when it has come, the others meet it."""
        self.invited.add(number)

    def _remove(self, number: int) -> None:
        self.expected.discard(number)
        self._forget_place(number)
        self._answer()

    @staticmethod
    def _dismiss(connection: socket.socket | None) -> None:
        """Tells a process that it has come too late."""
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.send(b'[]\n')
            connection.close()

    def lose(self, number: int, is_replaced: bool) -> None:
        """Has the others meet again, since a rank is lost.

        Args:
            number: Number of the rank.
            is_replaced: Whether to wait for another process of this number.

        """
        self.invited.discard(number)
        if number in self.expected:
            self.tell_of(number)
        if is_replaced:
            self._forget_place(number)
        else:
            self._remove(number)

    def tell_of(self, number: int) -> None:
        """Tells all that have met which rank is lost."""
        self._call_again(f'rank {number} is lost')

    def _forget_place(self, number: int) -> None:
        self._places.pop(number, None)
        if number in self._connections:
            self._connections.pop(number).close()

    def _call_again(self, reason: str) -> None:
        """Tells all that have met that they meet again."""
        for connection in self._answered:
            with contextlib.suppress(OSError), connection:
                connection.send(reason.encode())
        self._answered.clear()

    def _accept(self, server: Any) -> None:
        assert self._selector is not None
        with contextlib.suppress(OSError):
            connection, (address, *_) = server.accept()
            connection.setblocking(False)
            self._silent.add(connection)
            self._selector.register(
                connection, selectors.EVENT_READ, lambda _: self._read(connection, address)
            )

    def _read(self, connection: socket.socket, address: str) -> None:
        assert self._selector is not None
        # A hello is one small write of the rank, so it comes as one piece.
        self._selector.unregister(connection)
        self._silent.remove(connection)
        try:
            hello = json.loads(connection.recv(_HELLO_BYTES))
            if not secrets.compare_digest(hello['token'], self._token):
                raise ValueError('this is no rank of this job')
            number, port = int(hello['rank']), int(hello['port'])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            connection.close()
            return
        if number not in self.expected | self.invited:
            self._dismiss(connection)
            return
        reason = 'has lost a connection' if number in self.expected else 'joins'
        self._call_again(f'rank {number} {reason}')
        self.expected.add(number)
        self._places[number], self._connections[number] = (address, port), connection
        self._answer()

    def _answer(self) -> None:
        """Tells all where all are, when they have come."""
        if not self.expected or self.expected - self._places.keys():
            return
        data = json.dumps([[i, *self._places[i]] for i in sorted(self._places)]).encode() + b'\n'
        for connection in self._connections.values():
            with contextlib.suppress(OSError):
                connection.setblocking(True)
                connection.sendall(data)
                connection.setblocking(False)
        self._answered = [*self._connections.values()]
        self.invited -= self.expected
        self._connections.clear()
        self._places.clear()


def own_number() -> int:
    """Returns the number of this process in the job.

    Raises:
        RuntimeError: If no launcher has given it one.

    """
    for name in RANKS:
        if name in os.environ:
            return int(os.environ[name])
    raise RuntimeError(f'this process has no rank: none of {", ".join(RANKS)} is set')


def connect(
    seconds: float | None = SECONDS,
) -> tuple[int, dict[int, socket.socket], socket.socket]:
    """Connects this process with all other ranks; all of them call this.

    Args:
        seconds: Seconds that they have to come, ``None`` for any number.

    Returns:
        tuple: The number of this rank, the connection to each other one, by number, and that to the
        launcher, which it closes when the ranks are to meet again.

    Raises:
        TimeoutError: If some do not come in time.
        SystemExit: If this process was to join the others, and all of them have ended.
        OSError: If the launcher has ended, or another rank cannot be reached.

    """
    end = None if seconds is None else time.monotonic() + seconds
    rank = own_number()
    while True:
        try:
            connections, launcher = _meet(rank, end)
        except _MeetingOverError:  # another rank was lost meanwhile
            continue
        except TimeoutError as error:
            limit = '' if seconds is None else f' in {seconds:g} seconds'
            raise TimeoutError(f'rank {rank} did not reach all ranks{limit}') from error
        for connection in *connections.values(), launcher:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setblocking(False)
        return rank, connections, launcher


def _left(end: float | None) -> float | None:
    """Seconds that are left."""
    return None if end is None else max(end - time.monotonic(), 0.001)


def _meet(rank: int, end: float | None) -> tuple[dict[int, socket.socket], socket.socket]:
    settings = json.loads(os.environ[VARIABLE])
    token = settings['token']
    connections: dict[int, socket.socket] = {}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(('', 0), backlog=1024))
        launcher = stack.enter_context(_reach(settings))
        stack.callback(_close, connections)
        hello = {'token': token, 'rank': rank, 'port': server.getsockname()[1]}
        launcher.sendall(json.dumps(hello).encode())
        places = _hear(launcher, end)
        for i, *place in places:
            if i < rank:
                connections[i] = _greet(tuple(place), token, rank, launcher)
        while len(connections) < len(places) - 1:
            _wait(server, launcher, end)
            _admit(server.accept()[0], token, connections)
        stack.pop_all()
        server.close()
    return connections, launcher


def _close(connections: dict[int, socket.socket]) -> None:
    for connection in connections.values():
        connection.close()


def _reach(settings: Any) -> socket.socket:
    """Connects to the launcher."""
    errors = []
    for address in settings['addresses']:
        try:
            return socket.create_connection((address, settings['port']), _HELLO_SECONDS)
        except OSError as error:
            errors.append(f'{address}: {error}')
    raise OSError('; '.join(errors))


def _hear(launcher: socket.socket, end: float | None) -> list[Any]:
    """Waits for the numbers and addresses of all ranks."""
    data = b''
    while b'\n' not in data:
        launcher.settimeout(_left(end))
        if not (new := launcher.recv(65536)):
            raise OSError('the launcher has ended')
        data += new
    line, _, rest = data.partition(b'\n')
    if rest:
        raise _MeetingOverError
    places = [*json.loads(line)]
    if not places:  # this process was to join the others, which have ended
        raise SystemExit
    return places


def start_seconds() -> float | None:
    """Returns the seconds that the others have to come when this process starts."""
    seconds: float | None = json.loads(os.environ[VARIABLE])['seconds']
    return seconds


def _wait(server: socket.socket, launcher: socket.socket, end: float | None) -> None:
    """Waits until another rank comes."""
    ready = select.select([server, launcher], [], [], _left(end))[0]
    if launcher in ready:
        raise _MeetingOverError
    if not ready:
        raise TimeoutError


def _greet(place: Any, token: str, rank: int, launcher: socket.socket) -> socket.socket:
    try:
        connection = socket.create_connection(place, _HELLO_SECONDS)
        connection.sendall(f'{token}{rank:8d}'.encode())
    except OSError:
        # If the other rank is lost, the launcher will say so.
        if select.select([launcher], [], [], _HELLO_SECONDS)[0]:
            raise _MeetingOverError from None
        raise
    return connection


def _admit(connection: socket.socket, token: str, connections: dict[int, socket.socket]) -> None:
    """Takes a connection of another rank; closes any other one."""
    size = len(token) + 8
    data = b''
    try:
        connection.settimeout(_HELLO_SECONDS)
        while len(data) < size and (new := connection.recv(size - len(data))):
            data += new
        if secrets.compare_digest(data[:-8], token.encode()):
            connections[int(data[-8:])] = connection
            return
    except (OSError, ValueError):
        pass
    connection.close()
