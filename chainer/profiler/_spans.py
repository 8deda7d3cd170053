"""Spans: what ran from when to when, on which thread."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from chainer._core.processes import forks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Nanoseconds of a clock that the processes of a host share.
clock = time.perf_counter_ns


class Span(NamedTuple):
    """Stretch of time of a thread. Those of one thread nest."""

    category: str
    name: str
    depth: int  #: Number of spans that it runs inside of.
    start: int  #: Nanoseconds of :data:`clock`.
    end: int
    arguments: Any = None  #: Arrays of a function as pairs of shape and dtype, or a dictionary.


class _Open(NamedTuple):
    """A span that has not ended."""

    key: Any  # what ends it
    place: int  # among the spans
    category: str
    name: str
    start: int
    arguments: Any


class Track:
    """Spans of one thread.

    Args:
        number: Number of the thread among those of the recorder.
        name: Its name.

    """

    def __init__(self, number: int, name: str) -> None:
        self.number = number
        self.name = name
        self.open: list[_Open] = []
        self._spans: list[Span | None] = []

    @property
    def spans(self) -> list[Span]:
        """Those that have ended, in the order of their beginnings."""
        return [span for span in self._spans if span is not None]

    def begin(self, key: Any, category: str, name: str, arguments: Any) -> None:
        """Begins a span."""
        # The clock comes last here and first in `end`: what this costs is not in the span.
        self._spans.append(None)
        place = len(self._spans) - 1
        self.open.append(_Open(key, place, category, name, clock(), arguments))

    def end(self, now: int, name: str | None = None) -> Any:
        """Ends the innermost span, by another name perhaps; returns its key."""
        last = self.open.pop()
        depth = len(self.open)
        span = Span(last.category, name or last.name, depth, last.start, now, last.arguments)
        self._spans[last.place] = span
        return last.key


class Recorder:
    """Takes the beginnings and ends of spans from all threads."""

    def __init__(self) -> None:
        self.tracks: list[Track] = []
        self.is_active = False
        self.on_end: Callable[[int], None] | None = None  # gets the time
        self._local = threading.local()
        self._numbers = itertools.count()
        forks.register(self)

    def _after_fork(self) -> None:
        self.is_active = False  # nobody will ask a child for its spans

    def start(self) -> Track:
        """Takes spans from now on; returns the track of the current thread."""
        self.is_active = True
        return self.track()

    def track(self) -> Track:
        """Returns the track of the current thread."""
        try:
            return self._local.track
        except AttributeError:
            track = Track(next(self._numbers), threading.current_thread().name)
            self._local.track = track
            self.tracks.append(track)
            return track

    def begin(self, key: Any, category: str, name: str, arguments: Any = None) -> None:
        """Begins a span, which :meth:`end` ends for the same object ``key``."""
        if self.is_active:
            self.track().begin(key, category, name, arguments)

    def is_innermost(self, category: str, name: str) -> bool:
        """Tells whether such a span is the last that began and has not ended."""
        entries = self.track().open
        return bool(entries) and (entries[-1].category, entries[-1].name) == (category, name)

    def end(self, key: Any, name: str | None = None) -> None:
        """Ends a span, by another name perhaps, and those in it that an error has left open."""
        track = self.track()
        now = clock()
        if not any(entry.key is key for entry in reversed(track.open)):
            return  # it began before the recorder did
        while track.open[-1].key is not key:
            track.end(now)
        track.end(now, name)
        if self.on_end is not None and self.is_active:
            self.on_end(now)

    @contextlib.contextmanager
    def span(self, category: str, name: str, arguments: Any = None) -> Iterator[None]:
        """Records what a ``with`` statement does as a span."""
        key = object()
        self.begin(key, category, name, arguments)
        try:
            yield
        finally:
            self.end(key)

    def stop(self) -> None:
        """Ends everything, on all threads."""
        self.is_active = False
        now = clock()
        for track in list(self.tracks):
            while track.open:
                track.end(now)
