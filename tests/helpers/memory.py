"""Limits of the memory that a test takes."""

import contextlib
import tracemalloc

MEGABYTE = 1 << 20


@contextlib.contextmanager
def little_memory():
    """Checks that a block allocates at most four megabytes at a time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 4 * MEGABYTE
    finally:
        tracemalloc.stop()
