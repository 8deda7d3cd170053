"""How ranks find each other: each tells the launcher its address and gets those of all.

A rank has a number in the job, which stays; when another one is lost, the rest meet again.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
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


class Rendezvous:
    """Where ranks meet, in the launcher.

    Anybody can connect; only who knows the token takes part. The ranks get an answer when all that
    are expected have come, each time.

    Args:
        numbers: Numbers of the ranks.
        addresses: Addresses of this host.

    """

    def __init__(self, numbers: Iterable[int], addresses: Sequence[str]) -> None:
        self._expected = {*numbers}
        self._token = secrets.token_hex(16)
        self._selector: selectors.BaseSelector | None = None
        is_alone = [*addresses] == ['127.0.0.1']
        self._server = socket.create_server(('127.0.0.1' if is_alone else '', 0), backlog=1024)
        self._server.setblocking(False)
        self._addresses = [*addresses]
        self._places: dict[int, tuple[str, int]] = {}
        self._connections: dict[int, socket.socket] = {}
        self._silent: set[socket.socket] = set()

    def variable(self) -> dict[str, str]:
        """The environment variable for the ranks."""
        settings = {
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
        for connection in [self._server, *self._silent, *self._connections.values()]:
            connection.close()

    def forget(self, number: int) -> None:
        """Waits no longer for a rank, which has ended."""
        self._expected.discard(number)
        self.forget_place(number)
        self._answer()

    def forget_place(self, number: int) -> None:
        """Waits for another process of this number."""
        self._places.pop(number, None)
        if number in self._connections:
            self._connections.pop(number).close()

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
            if number not in self._expected:
                raise ValueError(f'nobody waits for rank {number}')
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            connection.close()
            return
        self._places[number], self._connections[number] = (address, port), connection
        self._answer()

    def _answer(self) -> None:
        """Tells all where all are, when they have come."""
        if not self._expected or self._expected - self._places.keys():
            return
        data = json.dumps([[i, *self._places[i]] for i in sorted(self._places)]).encode() + b'\n'
        for connection in self._connections.values():
            with contextlib.suppress(OSError):
                connection.setblocking(True)
                connection.sendall(data)
                connection.close()
        self._connections.clear()
        self._places.clear()


def _own_number() -> int:
    for name in RANKS:
        if name in os.environ:
            return int(os.environ[name])
    raise RuntimeError(f'this process has no rank: none of {", ".join(RANKS)} is set')


def connect(seconds: float = SECONDS) -> tuple[int, dict[int, socket.socket]]:
    """Connects this process with all other ranks; all of them call this.

    Args:
        seconds: Seconds that they have to come.

    Returns:
        tuple: The number of this rank, and the connection to each other one, by number.

    Raises:
        TimeoutError: If some do not come in time.
        OSError: If the launcher or another rank has ended.

    """
    settings = json.loads(os.environ[VARIABLE])
    rank, token = _own_number(), settings['token']
    end = time.monotonic() + seconds
    connections: dict[int, socket.socket] = {}
    try:
        with socket.create_server(('', 0), backlog=1024) as server:
            hello = {'token': token, 'rank': rank, 'port': server.getsockname()[1]}
            places = _ask(settings, hello, seconds)
            for i, *place in places:
                if i < rank:
                    connections[i] = _greet(tuple(place), token, rank)
            while len(connections) < len(places) - 1:
                server.settimeout(max(end - time.monotonic(), 0.001))
                _admit(server.accept()[0], token, connections)
    except OSError as error:
        for connection in connections.values():
            connection.close()
        if isinstance(error, TimeoutError):
            text = f'rank {rank} did not reach all ranks in {seconds:g} seconds'
            raise TimeoutError(text) from error
        raise
    for connection in connections.values():
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
    return rank, connections


def _ask(settings: Any, hello: Any, seconds: float) -> list[Any]:
    """Tells the launcher where this rank is; returns the numbers and addresses of all."""
    errors = []
    for address in settings['addresses']:
        try:
            connection = socket.create_connection((address, settings['port']), _HELLO_SECONDS)
        except OSError as error:
            errors.append(f'{address}: {error}')
            continue
        with connection, connection.makefile('rb') as answer:
            connection.settimeout(seconds)
            connection.sendall(json.dumps(hello).encode())
            line = answer.readline()
            if not line:
                raise OSError('the launcher has ended')
            return [*json.loads(line)]
    raise OSError('; '.join(errors))


def _greet(place: Any, token: str, rank: int) -> socket.socket:
    connection = socket.create_connection(place, _HELLO_SECONDS)
    connection.sendall(f'{token}{rank:8d}'.encode())
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
