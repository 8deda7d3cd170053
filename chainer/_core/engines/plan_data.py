"""Data that functions bring to ChainerX from outside.

A plan of :func:`chainer.compile` repeats the kernels of ChainerX only, so a recording has to know
where other data come from.
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

import chainerx

if TYPE_CHECKING:
    from collections.abc import Callable


class _Local(threading.local):
    recording: Any = None


local = _Local()


#: Why no plan follows objects of a class, and of those derived from it.
refused: dict[type, str] = {}


def reason_to_refuse(kind: type) -> str | None:
    """Returns why no plan follows objects of a class, if that is so."""
    return next((reason for base, reason in refused.items() if issubclass(kind, base)), None)


def draw(make: Callable[[], Any]) -> Any:
    """Returns an array of random numbers.

    Plans draw it again in each run: its form must depend on nothing but ``make``, which should not
    refer to arrays.
    """
    recording = local.recording
    return make() if recording is None else recording.draw(make)


if chainerx.is_available():
    from chainerx import _random_source

    # Which is below this package, and does not know of it.
    _random_source.draw = draw


def backward(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a backward pass of ChainerX of which a recording is told."""
    if local.recording is None:
        return function
    return functools.partial(local.recording.backward, function)
