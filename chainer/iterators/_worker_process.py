"""Main function of the processes that read examples."""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import select
import signal
import threading
import traceback
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer.iterators import _worker_memory
from chainerx import _internal

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from chainer.types import Dataset


def run(conn: Connection, dataset: Dataset, shared_mem: int | None) -> None:
    """Answers requests for chunks of the dataset, until the other end closes."""
    threading.Thread(target=_end_with_parent, args=(conn,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    slots = _worker_memory.Slots(shared_mem)
    with contextlib.suppress(EOFError, OSError):  # the other end has closed
        while (message := conn.recv()) is not None:
            reply, memory = answer(dataset, slots, *message)
            conn.send(reply)
            if memory is not None:
                _worker_memory.send_file(conn, memory)
                os.close(memory)


def answer(dataset, slots, indices, seed):
    """Returns the reply to a request, and the file to send after it, if there is one."""
    indices = numpy.frombuffer(indices, numpy.int64).tolist()
    _seed(seed)
    try:
        buffers: list[Any] = []
        data = pickle.dumps([dataset[i] for i in indices], 5, buffer_callback=buffers.append)
        return slots.pack(data, [buffer.raw() for buffer in buffers], len(indices))
    except Exception as e:
        try:
            pickled = pickle.dumps(e)
        except Exception:
            pickled = b''
        return ('error', pickled, traceback.format_exc()), None


def _seed(seed):
    numpy.random.seed(seed)
    random.seed(seed)
    if chainerx.is_available():
        # ChainerX's own generator only: chainerx.random may also draw from NumPy's.
        _internal.random_seed(seed)


def _end_with_parent(conn):
    """Ends the worker with the other end of the pipe, also while it reads an example."""
    poll = select.poll()
    poll.register(conn, 0)  # for nothing but the end
    poll.poll()
    os._exit(0)
