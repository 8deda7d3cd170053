"""Data that functions bring to ChainerX from outside.

A plan of :func:`chainer.compile` repeats the kernels of ChainerX only, so a recording has to know
where other data come from.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class _Local(threading.local):
    recording: Any = None


local = _Local()


def draw(make: Callable[[], Any]) -> Any:
    """Returns an array of random numbers.

    Plans draw it again in each run: its form must depend on nothing but ``make``, which should not
    refer to arrays.
    """
    recording = local.recording
    return make() if recording is None else recording.draw(make)
