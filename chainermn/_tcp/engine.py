"""Messages between ranks on TCP connections, matched with receives as MPI matches them."""

from __future__ import annotations

import collections
import contextlib
import select
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_HEAD = struct.Struct('<QiQ')  # communicator, tag, bytes
_FAREWELL = 2**64 - 1  # in place of a communicator
_PIECE = 1 << 22  # most bytes that one call takes from a connection before it looks at others
# Seconds until a thread looks again: another one may have done what it waits for.
_LOOK = 0.02
# Seconds in which the launcher tells which rank was lost first: others leave because of that one.
_NEWS_SECONDS = 2.0


class RankLostError(RuntimeError):
    """Another rank has ended, or the connection to it is cut; or one joins, so all start again."""


class Request:
    """A send or a receive that may still run."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def is_done(self) -> bool:
        """Tells whether it is complete, without a look at the connections."""
        raise NotImplementedError

    def sources(self) -> Sequence[int]:
        """Returns the ranks whose messages it waits for, negative for any."""
        return ()

    def Test(self) -> bool:
        """Tells whether it is complete."""
        return self.Testall([self])

    def Wait(self) -> None:
        """Waits until it is complete."""
        self.Waitall([self])

    @staticmethod
    def Testall(requests: Iterable[Request]) -> bool:
        """Tells whether all are complete."""
        requests = [request for request in requests if not request.is_done()]
        if requests:
            requests[0]._engine.advance()
        if all([request.is_done() for request in requests]):
            return True
        requests[0]._engine.check(lambda: [i for request in requests for i in request.sources()])
        return False

    @staticmethod
    def Waitall(requests: Iterable[Request]) -> None:
        """Waits until all are complete."""
        for request in requests:
            request._engine.wait(request.is_done, request.sources)


class _Send(Request):
    def __init__(self, engine: Engine, peer: _Peer | None, end: int) -> None:
        super().__init__(engine)
        self._peer = peer
        self._end = end

    def is_done(self) -> bool:
        return self._peer is None or self._peer.n_sent >= self._end


class Receive(Request):
    """A receive.

    Args:
        engine: Engine.
        source: Rank that sends, negative for any.
        tag: Tag of the message, negative for any.
        buffer: Bytes to fill; the message may be shorter.

    """

    def __init__(self, engine: Engine, source: int, tag: int, buffer: memoryview) -> None:
        super().__init__(engine)
        self.source = source
        self.tag = tag
        self.buffer = buffer
        self.message: Message | None = None
        self._is_done = False

    def is_done(self) -> bool:
        message = self.message
        if not self._is_done and message is not None and message.is_complete:
            if message.data.obj is not self.buffer.obj:
                message.copy_to(self.buffer)
            self._is_done = True
        return self._is_done

    def sources(self) -> Sequence[int]:
        return (self.source,) if self.message is None else ()


class Message:
    """A message that comes or has come.

    Attributes:
        source: Rank that sends it.
        tag: Its tag.
        data: Its bytes.
        is_complete: Whether all have come.

    """

    def __init__(self, source: int, tag: int, data: memoryview) -> None:
        self.source = source
        self.tag = tag
        self.data = data
        self.is_complete = False

    def fits(self, source: int, tag: int) -> bool:
        """Tells whether a receive takes it."""
        return (source < 0 or source == self.source) and (tag < 0 or tag == self.tag)

    def copy_to(self, buffer: memoryview) -> None:
        """Copies its bytes.

        Raises:
            ValueError: If there is not enough room.

        """
        n = len(self.data)
        if n > len(buffer):
            raise ValueError(
                f'a message of {n} bytes from rank {self.source}, tag {self.tag}, does not fit '
                f'into {len(buffer)} bytes'
            )
        buffer[:n] = self.data


class _Peer:
    """Connection to another rank."""

    def __init__(self, rank: int, connection: socket.socket) -> None:
        self.rank = rank
        self.connection = connection
        self.outgoing: collections.deque[memoryview] = collections.deque()
        self.n_queued = 0
        self.n_sent = 0
        self.head = memoryview(bytearray(_HEAD.size))
        self.target = self.head  # what comes next fills it
        self.n_got = 0
        self.message: Message | None = None
        self.has_left = False
        self.error: str | None = None

    def write(self) -> None:
        """Sends what the connection takes."""
        while self.outgoing:
            # Several at once: a header is too small for a packet of its own.
            pieces = [self.outgoing[i] for i in range(min(len(self.outgoing), 16))]
            try:
                n = self.connection.sendmsg(pieces)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._lose(str(error))
                return
            self.n_sent += n
            while n and n >= len(self.outgoing[0]):
                n -= len(self.outgoing.popleft())
            if n:
                self.outgoing[0] = self.outgoing[0][n:]

    def read(self, begin: Callable[[_Peer, int, int, int], Message]) -> None:
        """Takes what has come; calls ``begin`` for the message that a header announces."""
        n_read = 0
        while n_read < _PIECE and self.error is None:
            try:
                n = self.connection.recv_into(self.target[self.n_got :])
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._lose(str(error))
                return
            if n == 0:
                self._lose('it has ended')
                return
            self.n_got += n
            n_read += n
            while self.n_got == len(self.target):  # a message may be empty
                self._turn(begin)

    def _turn(self, begin: Callable[[_Peer, int, int, int], Message]) -> None:
        """Goes on behind a complete header or message."""
        self.n_got = 0
        if self.message is not None:
            self.message.is_complete = True
            self.message, self.target = None, self.head
            return
        comm, tag, size = _HEAD.unpack(self.head)
        if comm == _FAREWELL:
            self.has_left = True
            return
        self.message = begin(self, comm, tag, size)
        self.target = self.message.data

    def _lose(self, error: str) -> None:
        self.outgoing.clear()
        self.error = error


class Engine:
    """All messages of this process.

    Messages from one rank in one communicator keep their order, as far as the receives take them.

    Args:
        rank: Number of this rank in the job.
        connections: A connection to each other rank, by number, which does not block.
        launcher: That to the launcher, which it closes when the ranks are to meet again.

    """

    def __init__(
        self,
        rank: int,
        connections: dict[int, socket.socket],
        launcher: socket.socket | None = None,
    ) -> None:
        self.rank = rank
        self._launcher = launcher
        self._news: str | None = None  # why this rank cannot go on
        self.ranks = sorted([rank, *connections])
        self._peers = {i: _Peer(i, connection) for i, connection in connections.items()}
        self._by_number = {peer.connection.fileno(): peer for peer in self._peers.values()}
        self._lock = threading.RLock()
        self._posted: dict[int, list[Receive]] = {}  # by communicators
        self._unexpected: dict[int, list[Message]] = {}

    def send(self, comm: int, dest: int, tag: int, data: memoryview) -> Request:
        """Starts to send bytes, which must not change until the request is complete."""
        with self._lock:
            if dest == self.rank:
                message = self._begin(self.rank, comm, tag, len(data))
                message.data[:] = data
                message.is_complete = True
                return _Send(self, None, 0)
            return self._queue(self._peers[dest], _HEAD.pack(comm, tag, len(data)), data)

    def _queue(self, peer: _Peer, head: bytes, data: memoryview) -> Request:
        for piece in memoryview(head), data:
            if len(piece):
                peer.outgoing.append(piece)
                peer.n_queued += len(piece)
        end = peer.n_queued
        peer.write()
        return _Send(self, peer, end)

    def receive(self, comm: int, source: int, tag: int, buffer: memoryview) -> Receive:
        """Starts to receive bytes."""
        request = Receive(self, source, tag, buffer)
        with self._lock:
            request.message = self.take(comm, source, tag)
            if request.message is None:
                self._posted.setdefault(comm, []).append(request)
        return request

    def find(self, comm: int, source: int, tag: int) -> Message | None:
        """Returns a message that has begun to come and that no receive has taken."""
        messages = self._unexpected.get(comm, ())
        return next((message for message in messages if message.fits(source, tag)), None)

    def take(self, comm: int, source: int, tag: int) -> Message | None:
        """Returns it, and removes it."""
        with self._lock:
            message = self.find(comm, source, tag)
            if message is not None:
                self._unexpected[comm].remove(message)
        return message

    def _begin(self, source: int, comm: int, tag: int, size: int) -> Message:
        """Makes room for a message, where a receive wants it if there is one."""
        posted = self._posted.get(comm, [])
        message = Message(source, tag, memoryview(b''))
        request = next((r for r in posted if message.fits(r.source, r.tag)), None)
        if request is not None and size <= len(request.buffer):
            message.data = request.buffer[:size]
        else:
            message.data = memoryview(bytearray(size))
        if request is None:
            self._unexpected.setdefault(comm, []).append(message)
        else:
            posted.remove(request)
            request.message = message
        return message

    def advance(self, seconds: float = 0) -> None:
        """Sends and receives what is possible.

        Args:
            seconds: How long to wait until something is.

        Raises:
            RankLostError: If a rank is lost.

        """
        poll = select.poll()
        with self._lock:
            for number, peer in self._by_number.items():
                if peer.error is None:
                    poll.register(number, select.POLLIN | (select.POLLOUT if peer.outgoing else 0))
            if self._launcher is not None and self._news is None:
                poll.register(self._launcher, select.POLLIN)
        # Without the lock, so that other threads may send meanwhile.
        for number, events in poll.poll(seconds * 1000):
            with self._lock:
                if number not in self._by_number:
                    self._hear()
                    continue
                peer = self._by_number[number]
                if events & select.POLLOUT:
                    peer.write()
                if events & ~select.POLLOUT:
                    peer.read(lambda peer, *head: self._begin(peer.rank, *head))

    def _hear(self) -> None:
        """Takes the news of the launcher."""
        if self._launcher is None:
            return
        try:
            self._news = self._launcher.recv(4096).decode() or 'the launcher has ended'
        except BlockingIOError:
            pass
        except OSError as error:
            self._news = f'the launcher is lost: {error}'

    def wait(self, is_done: Callable[[], bool], sources: Callable[[], Sequence[int]]) -> None:
        """Sends and receives until something is true.

        Args:
            is_done: Tells whether it is.
            sources: Returns the ranks whose messages are missing, negative for any.

        Raises:
            RankLostError: If a rank is lost before, or those ranks have ended.

        """
        while not is_done():
            self.check(sources)
            self.advance(_LOOK)

    def check(self, sources: Callable[[], Sequence[int]]) -> None:
        """Raises :class:`RankLostError` if a rank is lost, or some have ended; see :meth:`wait`."""
        lost = next((peer for peer in self._peers.values() if peer.error is not None), None)
        if lost is not None:
            self._wait_for_news()
            self._news = self._news or f'rank {lost.rank} is lost: {lost.error}'
        if self._news is not None:
            raise RankLostError(self._news)
        # These have sent their last message. So first find them, then what is missing.
        ended = {peer.rank for peer in self._peers.values() if peer.has_left}
        if ended:
            for source in sources():
                if source in ended or (source < 0 and len(ended) == len(self._peers)):
                    names = f'rank {source} has' if source >= 0 else 'all other ranks have'
                    raise RankLostError(f'{names} ended, and this one waits for a message')

    def _wait_for_news(self) -> None:
        end = time.monotonic() + _NEWS_SECONDS
        while self._launcher is not None and self._news is None and time.monotonic() < end:
            self.advance(_LOOK)

    def leave(self) -> None:
        """Ends all connections when all ranks are ready to: before, messages could be lost."""
        with self._lock:
            for peer in self._peers.values():
                self._queue(peer, _HEAD.pack(_FAREWELL, 0, 0), memoryview(b''))
        # A lost rank says nothing, and the launcher tells of it.
        self._wait_for_farewells()
        self._close_connections()

    def close(self) -> None:
        """Ends all connections at once, so that all ranks learn that one is lost."""
        with self._lock:
            self._close_connections()
            for peer in self._peers.values():
                peer.outgoing.clear()
                peer.error = peer.error or 'this rank has left, since another one was lost'

    def _close_connections(self) -> None:
        for peer in self._peers.values():
            with contextlib.suppress(OSError), peer.connection:
                # A forked process may have it, too.
                peer.connection.shutdown(socket.SHUT_RDWR)
        if self._launcher is not None:
            self._launcher.close()
            self._launcher = None

    def _wait_for_farewells(self) -> None:
        def is_ready(peer: Any) -> bool:
            return peer.error is not None or (peer.has_left and not peer.outgoing)

        while not all([is_ready(peer) for peer in self._peers.values()]):
            self.advance(_LOOK)
