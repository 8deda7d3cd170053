"""Memory that a worker process shares with the main process: blocks of files without names."""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection


@contextlib.contextmanager
def _socket_of(conn):
    """Lends the socket of a connection, to send files.

    The functions of ``multiprocessing.reduction`` duplicate its descriptor. A process forked
    meanwhile would keep the duplicate, and a worker would not see its parent end. Since Python 3.14
    the receiver also answers, between the messages of the connection.
    """
    sock = socket.socket(fileno=conn.fileno())
    try:
        yield sock
    finally:
        sock.detach()


def send_file(conn: Connection, file: int) -> None:
    """Sends a file to the other process."""
    with _socket_of(conn) as sock:
        socket.send_fds(sock, [b'f'], [file])  # a message must have data


def receive_memory(conn: Connection) -> mmap.mmap:
    """Maps the file that :func:`send_file` sends.

    Raises:
        EOFError: If the other process has ended.
        OSError: If the connection is broken.

    """
    with _socket_of(conn) as sock:
        data, files, _, _ = socket.recv_fds(sock, 1, 1)
    if not data:
        raise EOFError
    try:
        return mmap.mmap(files[0], 0)
    finally:
        os.close(files[0])


def _aligned(size):
    return -(-size // 64) * 64


def copy_slot(memory: mmap.mmap, start: int, sizes: Sequence[int]) -> list[memoryview]:
    """Copies the buffers of a result: the worker overwrites the slot soon."""
    block = numpy.empty(sum(map(_aligned, sizes)), numpy.uint8)
    block[:] = numpy.frombuffer(memory, numpy.uint8, len(block), start)
    view = memoryview(block)
    buffers = []
    offset = 0
    for size in sizes:
        buffers.append(view[offset : offset + size])
        offset += _aligned(size)
    return buffers


class Slots:
    """Shared memory of a worker: two slots for alternating results.

    The memory is a file without a name, so nothing is left of it after the processes.
    """

    def __init__(self, shared_mem: int | None) -> None:
        self._shared_mem = shared_mem
        self._memory: mmap.mmap | None = None
        self._slot_size = 0
        self._slot = 0

    def pack(self, data: Any, buffers: Any, n_examples: int) -> Any:
        """Returns a message with a pickle and its buffers, and the file to send after it."""
        self._slot = 1 - self._slot
        sizes = [buffer.nbytes for buffer in buffers]
        total = sum(map(_aligned, sizes))
        memory = None
        if total > self._slot_size:
            memory = self._allocate(total, n_examples)
        if self._memory is None or total > self._slot_size or total == 0:
            return ('inline', data, [bytes(buffer) for buffer in buffers]), None
        start = offset = self._slot * self._slot_size
        for buffer, size in zip(buffers, sizes):
            self._memory[offset : offset + size] = buffer
            offset += _aligned(size)
        return ('shared', data, memory is not None, start, sizes), memory

    def _allocate(self, total, n_examples):
        """Makes larger slots, if allowed and possible; returns the file."""
        size = self._new_size(total, n_examples)
        if size is None:
            return None
        fd = None
        try:
            fd = os.memfd_create('chainer-batch')
            # Reserves the space: writing without memory is a bus error.
            os.posix_fallocate(fd, 0, 2 * size)
            self._memory = mmap.mmap(fd, 2 * size)
        except OSError:
            if fd is not None:
                os.close(fd)
            return None
        self._slot_size = size
        return fd

    def _new_size(self, total, n_examples):
        if self._shared_mem is None:
            size = total + total // 4
        else:
            size = self._shared_mem * n_examples
            if self._memory is not None or size < total:
                return None
        return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
