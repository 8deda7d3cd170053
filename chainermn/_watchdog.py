"""The watchdog of a rank, a thread that tells what the rank does.

Each rank of more than one has it. Under :mod:`chainermn.run` it writes a short line, a *beat*, to
the guard of the rank (:mod:`chainermn._supervisor`) at short intervals. The launcher collects the
beats, and :mod:`chainermn._judge` decides. Without the launcher, the thread prints by itself when
its rank waits for long; it cannot know what the others do.

The thread looks at the recorder (:mod:`chainermn._recorder`). It takes no lock that a forked
process may need, and calls no MPI.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import sys
import sysconfig
import threading
import time
from typing import TYPE_CHECKING, Any

from chainermn._checks import timeout
from chainermn._mpi import mpi, own_number
from chainermn._recorder import PARTNERS, recorder
from chainermn._supervisor import BEATS, interval

if TYPE_CHECKING:
    from types import FrameType

    from chainermn._recorder import Call

_LINE_BYTES = 3500  # of a beat; a write of at most 4096 bytes to a pipe is never mixed with others
_TEXT = 160  # letters of a text
_PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Files of these folders are not the user's program.
_LIBRARIES = (
    *(os.path.join(_PACKAGES, name) + os.sep for name in ('chainer', 'chainermn', 'chainerx')),
    *(sysconfig.get_path(name) + os.sep for name in ('stdlib', 'purelib', 'platlib')),
    '<frozen',
)
_started_in = 0  # number of the process that has the thread: a forked one has none


def start() -> None:
    """Starts the watchdog of this process, unless it has one or waits for nobody."""
    global _started_in
    limit = timeout()
    world = mpi().COMM_WORLD
    if _started_in == os.getpid() or world.size == 1 or not limit > 0:
        return
    _started_in = os.getpid()
    watchdog = _Watchdog(own_number(), world.size, limit, _open_pipe())
    threading.Thread(target=watchdog.run, name='chainermn watchdog', daemon=True).start()
    atexit.register(watchdog.end, _started_in)


def _open_pipe() -> int | None:
    """Returns the descriptor of the pipe to the guard, if there is one."""
    descriptor, _, identity = os.environ.get(BEATS, '').partition(':')
    try:
        # The variable may come from another process, in which the number means another file.
        if os.fstat(int(descriptor)).st_ino == int(identity):
            return int(descriptor)
    except (ValueError, OSError):
        pass
    return None


class _Watchdog:
    """What the thread does.

    Args:
        rank: This rank.
        size: Number of ranks.
        limit: Seconds after which waiting is long.
        pipe: Where beats go.

    """

    def __init__(self, rank: int, size: int, limit: float, pipe: int | None) -> None:
        self._rank = rank
        self._size = size
        self._limit = limit
        self._pipe = pipe
        self._ended = threading.Event()
        self._progress: list[int] = []
        self._since = 0.0
        self._next_report = 0.0

    def run(self) -> None:
        """Tells what this process does until it ends."""
        seconds = interval(self._limit)
        while True:
            try:
                self._look()
            except Exception as error:  # without a sign, the rank would pass for lost
                self._write({**self._head(), 'line': f'(unknown: {type(error).__name__})'})
            if self._ended.wait(seconds):
                return

    def end(self, pid: int) -> None:
        """Says farewell: after this, the rank waits for the others in MPI's own end."""
        if os.getpid() == pid:
            self._ended.set()
            self._write(_with_last_calls({**self._head(), 'ended': True}))

    def _head(self) -> dict[str, Any]:
        """Beat of a rank of which nothing is known."""
        known = {'rank': self._rank, 'size': self._size, 'progress': self._progress}
        return known | {'line': '', 'call': None, 'may_go_on': True}

    def _look(self) -> None:
        thread, call = _current()
        progress = [recorder.count, recorder.ticks, int(call is not None)]
        now = time.monotonic()
        if progress != self._progress:
            self._progress, self._since = progress, now
            self._next_report = now + self._limit / 2
        if self._pipe is not None:
            self._write(self._beat(thread, call))
        elif call is not None and now >= self._next_report:
            self._next_report = now + self._limit
            seconds = now - self._since
            _print(f'rank {self._rank} waits in {call}, at {_line(thread)}, for {seconds:.3g} s')

    def _beat(self, thread: int, call: Call | None) -> dict[str, Any]:
        beat = {
            **self._head(),
            'line': _line(thread),
            'call': None if call is None else _description(call),
            # If it computes, or if another thread may go on, then the rank may go on, too.
            'may_go_on': recorder.n_busy > 0 or len(recorder.inside) > 1,
        }
        return _with_last_calls(beat)

    def _write(self, beat: dict[str, Any]) -> None:
        if self._pipe is None:
            return
        try:
            os.write(self._pipe, json.dumps(beat).encode() + b'\n')
        except BlockingIOError:  # nobody has read for long
            pass
        except OSError:  # the guard has closed it, since it does not reach the launcher
            self._pipe = None


def _current() -> tuple[int, Call | None]:
    """A thread that is in a call, and the call; else the main thread.

    NCCL waits on the GPU, after its call. The program waits for the GPU somewhere else.
    """
    for thread, call in list(recorder.inside.items()):
        if call is not None:
            return thread, call
    return threading.main_thread().ident or 0, recorder.call_on_gpu()


def _with_last_calls(beat: dict[str, Any]) -> dict[str, Any]:
    """Adds the last calls to a beat, as many as there is room for."""
    texts: list[str] = []
    room = _LINE_BYTES - len(json.dumps(beat))
    for call in reversed(list(recorder.last)):
        text = f'{call} ({_duration(call)})'[:_TEXT]
        room -= len(json.dumps(text)) + 2
        if room < len('"last": []'):
            break
        texts.append(text)
    return beat | {'last': texts[::-1]}


def _duration(call: Call) -> str:
    return 'not complete' if call.seconds is None else f'{call.seconds:.3g} s'


def _description(call: Call) -> dict[str, Any]:
    peer = None if call.peer is None else call.calls.world_rank(call.peer)
    found: dict[str, Any] = {'text': str(call)[:_TEXT], 'name': call.name}
    if call.name in PARTNERS:
        return found | {'key': _digest(call.calls.name), 'peer': peer, 'tag': call.tag}
    # All ranks of a call have the same key. Only an allreduce has the same shape on each of them.
    argument = call.argument if call.name == 'allreduce' else None
    key = f'{call.name} {call.number} {peer} {call.calls.name} {argument}'
    ranks = call.calls.ranks
    return found | {
        'key': _digest(key),
        'size': call.calls.size,
        'ranks': ranks if len(ranks) <= _TEXT else '',
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _line(thread: int) -> str:
    """The line of the user's program that a thread executes, and its function."""
    innermost = frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        frame = frame.f_back
    if frame is None:
        return '' if innermost is None else _text(innermost)
    return _text(frame)


def _text(frame: FrameType) -> str:
    code = frame.f_code
    return f'{os.path.basename(code.co_filename)}:{frame.f_lineno} in {code.co_name}'[:_TEXT]


def _print(text: str) -> None:
    # One write to the descriptor: a process that is forked meanwhile must not get a locked file.
    try:
        os.write(2, f'chainermn: {text}\n'.encode(errors='replace'))
    except OSError:
        pass
