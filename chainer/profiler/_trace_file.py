"""Trace files, in the format of ``chrome://tracing`` and Perfetto."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chainer.profiler._memory import Sample
    from chainer.profiler._spans import Span


class Process(NamedTuple):
    """What is known of a process: picklable, as ranks send it to each other."""

    number: int
    name: str
    start: int  # nanoseconds, from which times count
    threads: list[tuple[int, str, list[Span]]]
    samples: list[Sample]


def events(process: Process) -> Iterator[dict[str, Any]]:
    """Yields the events of a process."""
    yield _meta(process, 0, 'process_name', process.name)
    for number, name, spans in process.threads:
        yield _meta(process, number, 'thread_name', name)
        for span in spans:
            yield {
                'ph': 'X',
                'cat': span.category,
                # The table has the row of what is in no other span.
                'name': 'profile' if span.category == 'profile' else span.name,
                'pid': process.number,
                'tid': number,
                'ts': (span.start - process.start) / 1e3,
                'dur': (span.end - span.start) / 1e3,
                'args': _arguments(span.arguments),
            }
    for sample in process.samples:
        yield {
            'ph': 'C',
            'name': 'memory',
            'pid': process.number,
            'tid': 0,
            'ts': (sample.time - process.start) / 1e3,
            'args': sample.sizes,
        }


def _meta(process: Process, thread: int, kind: str, name: str) -> dict[str, Any]:
    ids = {'pid': process.number, 'tid': thread}
    return {'ph': 'M', 'name': kind, 'ts': 0, **ids, 'args': {'name': name}}


def _arguments(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, list):
        return {'arrays': [f'{dtype}{list(shape)}' for shape, dtype in arguments]}
    return arguments or {}


def write(path: str, processes: Iterable[Process]) -> None:
    """Writes a trace of processes."""
    trace = {
        'displayTimeUnit': 'ms',
        'traceEvents': [event for process in processes for event in events(process)],
    }
    with open(path, 'w') as file:
        json.dump(trace, file)
