"""Random numbers that functions draw outside of ChainerX, for arrays of ChainerX.

:func:`chainer.compile` draws them anew each time that it repeats a function.
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
    """Returns an array that ``make`` draws, of a form that depends on nothing but ``make``."""
    recording = local.recording
    return make() if recording is None else recording.draw(make)
