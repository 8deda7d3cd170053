"""Debug mode: before each collective call, the ranks compare their arguments."""

from __future__ import annotations

import hashlib
import math
import os
import time
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.settings.debug import is_debug

if TYPE_CHECKING:
    from collections.abc import Callable

_BYTES = 512  # of a description


def timeout() -> float:
    """Seconds to wait for other ranks: ``CHAINERMN_TIMEOUT``, 60 by default; 0 for any number.

    Raises:
        ValueError: If it is not a number of at least 0.

    """
    text = os.environ.get('CHAINERMN_TIMEOUT', '60')
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not seconds >= 0:
        raise ValueError(f'CHAINERMN_TIMEOUT must be a number of seconds, at least 0, not {text!r}')
    return seconds


def check_rank(size: int, call: str, argument: str, rank: int) -> None:
    """Raises an error unless there is such a rank.

    Args:
        size: Number of ranks.
        call: Name of the call.
        argument: Name of its argument.
        rank: Value of the argument.

    Raises:
        ValueError: If there is none.

    """
    if not 0 <= rank < size:
        raise ValueError(f'{call}: {argument} must be a rank from 0 to {size - 1}, not {rank}')


class Checker:
    """Compares calls between ranks.

    Args:
        mpi_comm: Communicator, whose ranks all make a checker.

    """

    def __init__(self, mpi_comm: Any) -> None:
        self.mpi_comm: Any = mpi_comm.Dup()
        self._count = 0

    @staticmethod
    def is_on() -> bool:
        """Tells whether calls are checked: in Chainer's debug mode, or by ``CHAINERMN_DEBUG``."""
        return is_debug() or os.environ.get('CHAINERMN_DEBUG', '0') not in ('', '0')

    def check(self, call: str, details: Any) -> None:
        """Raises an error on all ranks if one makes another call, or none.

        Raises:
            RuntimeError: If the calls differ, or some rank makes none in time.

        """
        self._count += 1
        text = f'{call}{tuple(details)!r}'
        # The hash covers the whole text, of which the message holds only the beginning.
        data = (hashlib.sha256(text.encode()).hexdigest() + text).encode()[:_BYTES]
        own = numpy.frombuffer(data.ljust(_BYTES, b'\0'), numpy.uint8)
        all_data = numpy.empty((self.mpi_comm.size, _BYTES), numpy.uint8)
        request = self.mpi_comm.Iallgather(own, all_data)
        self._wait(request.Test, f'call {self._count} of this rank is {text[:200]}')
        if (all_data == own).all():
            return
        calls = [row.tobytes()[64:].rstrip(b'\0').decode(errors='replace') for row in all_data]
        lines = [f'  rank {rank}: {text[:200]}' for rank, text in enumerate(calls)]
        raise RuntimeError(
            '\n'.join([f'the ranks make different calls (number {self._count}):', *lines])
        )

    def wait_for_message(self, mpi_comm: Any, source: int, tag: int, call: str) -> None:
        """Waits until a message is there.

        Raises:
            RuntimeError: If none comes in time.

        """
        self._wait(lambda: mpi_comm.Iprobe(source, tag), f'{call} from rank {source}, tag {tag}')

    def _wait(self, test: Callable[[], bool], what: str) -> None:
        limit = timeout() or math.inf
        end = time.monotonic() + limit
        pause = 0.0
        while not test():
            if time.monotonic() > end:
                raise RuntimeError(
                    f'rank {self.mpi_comm.rank} waited {limit:g} seconds for the other ranks: '
                    f'{what}, and another rank has not made the matching call. The limit is '
                    'CHAINERMN_TIMEOUT.'
                )
            time.sleep(pause)
            pause = min(pause + 1e-5, 1e-3)
