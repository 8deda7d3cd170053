"""Memory whose contents go away and come back, while arrays refer to it."""

from __future__ import annotations

import contextlib
import mmap
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

_ALIGNMENT = 64  # bytes of a line of the cache
#: Bytes that are kept: messages to get them again would cost more than the memory is worth.
SMALL = 1 << 16
# Bytes of a huge page: the system clears and maps 512 small ones in 9 times its time.
_HUGE = 1 << 21


class Memory:
    """Arrays whose pages the system takes back when they are released.

    The graph keeps these arrays for backward. Their addresses stay valid, also for views of them
    and for kernels of ChainerX. Released, they read as zeros where the system has taken the pages.

    Args:
        specs: Shapes and dtypes of the arrays.

    Attributes:
        arrays: The arrays.
        is_filled: Whether the arrays have their contents.

    """

    def __init__(self, specs: Sequence[tuple[tuple[int, ...], numpy.dtype[Any]]]) -> None:
        sizes = [int(numpy.prod(shape)) for shape, _ in specs]
        strides = [
            -(-size * dtype.itemsize // _ALIGNMENT) * _ALIGNMENT
            for size, (_, dtype) in zip(sizes, specs)
        ]
        self._n_bytes = sum(strides)
        self.is_filled = False
        self._map: mmap.mmap | None = None
        if self._n_bytes > SMALL and hasattr(mmap, 'MADV_DONTNEED'):
            self._map, buffer = _map(self._n_bytes)
        else:
            buffer = numpy.zeros(self._n_bytes, numpy.uint8)
        starts = numpy.cumsum([0, *strides]).tolist()
        self.arrays: list[numpy.ndarray[Any, Any]] = [
            numpy.frombuffer(buffer, dtype, size, start).reshape(shape)
            for (shape, dtype), size, start in zip(specs, sizes, starts)
        ]
        self._first = buffer.ctypes.data

    def release(self) -> None:
        """Gives the pages back, if there are many."""
        if self._map is not None:
            self.is_filled = False
            self._map.madvise(mmap.MADV_DONTNEED)

    @property
    def can_release(self) -> bool:
        """Whether :meth:`release` takes the contents."""
        return self._map is not None

    def holds(self, address: int) -> bool:
        """Tells whether an address is in this memory."""
        return self._first <= address < self._first + self._n_bytes


def _map(n_bytes: int) -> tuple[mmap.mmap, numpy.ndarray[Any, Any]]:
    """Makes a map, and returns it with an array of so many bytes in it."""
    is_large = n_bytes >= _HUGE and hasattr(mmap, 'MADV_HUGEPAGE')
    # A shared map would keep its pages.
    memory = mmap.mmap(-1, n_bytes + is_large * _HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    array = numpy.frombuffer(memory, numpy.uint8)
    start = 0
    if is_large:
        with contextlib.suppress(OSError):  # a system without huge pages
            memory.madvise(mmap.MADV_HUGEPAGE)
        start = -array.ctypes.data % _HUGE  # where a huge page begins
    return memory, array[start : start + n_bytes]
