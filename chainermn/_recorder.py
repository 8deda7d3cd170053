"""The flight recorder: the last calls of this process, and the one that each thread is in."""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import time
from threading import get_ident
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from chainermn._mpi import mpi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    _P = ParamSpec('_P')
    _R = TypeVar('_R')

#: Names of the calls that one rank answers, and of those that answer them.
PARTNERS = {'send': 'recv', 'recv': 'send', 'send_obj': 'recv_obj', 'recv_obj': 'send_obj'}
_N_CALLS = 64
_ARRAYS = 'data', 'x', 'xs'  # names of arguments


class Call:
    """One call.

    Attributes:
        number: Which one of its communicator it is, counting calls of all ranks together;
            0 for a message between two ranks.
        argument: The shape and the dtype of the first array, or ``None``.
        peer: The other rank, or the root, in the communicator; ``None`` if there is none.
        tag: Tag of a message, ``None`` for any.

    """

    __slots__ = 'argument', 'calls', 'name', 'number', 'peer', 'seconds', 'start', 'tag', 'thread'

    def __init__(self, calls: Calls, name: str, argument: Any, peer: int | None, tag: int | None):
        self.calls = calls
        self.name = name
        self.argument = argument
        self.peer = peer
        self.tag = tag
        self.seconds: float | None = None
        if name in PARTNERS:
            self.number = 0
        else:
            calls.count += 1
            self.number = calls.count
        self.start = time.monotonic()

    def __str__(self) -> str:
        if self.name not in PARTNERS:
            text = f'{self.name} number {self.number}'
            if not self.calls.is_world:
                text += f' of ranks {self.calls.ranks}'
            if self.peer is not None:
                text += f' with rank {self.calls.world_rank(self.peer)} as root'
        else:
            other = 'any rank' if self.peer is None else f'rank {self.calls.world_rank(self.peer)}'
            text = f'{self.name} {"from" if "recv" in self.name else "to"} {other}'
            text += '' if self.tag is None else f', tag {self.tag}'
        if self.argument is not None:
            shape, dtype = self.argument
            text += f', {getattr(dtype, "name", dtype)} {shape}'
        return text


class Recorder:
    """What this process does.

    Attributes:
        last: The last calls.
        inside: For each thread that has made calls, the one that it is in, or ``None``.
        count: Number of calls.
        ticks: Number of steps within calls, such as parts of large messages.
        n_busy: Number of calls that compute, so that others wait for them.
        is_gpu_done: Tells, in any thread, whether the GPU has done what calls have left to it;
            ``None`` if they have left nothing.

    """

    def __init__(self) -> None:
        self.last: collections.deque[Call] = collections.deque(maxlen=_N_CALLS)
        self.inside: dict[int, Call | None] = {}
        self.count = 0
        self.ticks = 0
        self.n_busy = 0
        self.is_gpu_done: Callable[[], bool] | None = None

    def call_on_gpu(self) -> Call | None:
        """Returns the last call if the GPU still works for calls that are over, else ``None``."""
        is_done = self.is_gpu_done
        if is_done is None or is_done():
            return None
        return self.last[-1] if self.last else None

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Context in which a call computes: it makes progress, even if that takes long."""
        self.n_busy += 1
        try:
            yield
        finally:
            self.n_busy -= 1
            self.ticks += 1


#: That of this process.
recorder = Recorder()
# How many communicators of the same ranks there have been.
_n_made: collections.Counter[str] = collections.Counter()


def forget_communicators() -> None:
    """Counts communicators from zero, as a process that has just joined does."""
    _n_made.clear()


class Calls:
    """Calls of a communicator.

    Args:
        mpi_comm: Communicator of MPI.

    Attributes:
        ranks: Ranks of the world, such as ``0-2,5``.
        name: The ranks, and which communicator of them this is: the same on all of them.
        size: Number of ranks.
        is_world: Whether these are all ranks of the job.
        count: Number of calls that all ranks make together.

    """

    def __init__(self, mpi_comm: Any) -> None:
        group, world = mpi_comm.Get_group(), mpi().COMM_WORLD.Get_group()
        self.size: int = group.size
        self._ranks = mpi().Group.Translate_ranks(group, range(self.size), world)
        self.ranks: str = describe_ranks(self._ranks)
        self.is_world: bool = self.size == world.size
        group.Free()
        world.Free()
        _n_made[self.ranks] += 1
        self.name: str = f'{self.ranks}#{_n_made[self.ranks]}'
        self.count = 0

    def world_rank(self, rank: int) -> int:
        """Rank in the world; -1 for one that does not exist."""
        return self._ranks[rank] if 0 <= rank < self.size else -1

    @contextlib.contextmanager
    def watching(self, name: str) -> Iterator[None]:
        """Context that counts as a call of all ranks together."""
        inside, thread = recorder.inside, get_ident()
        if inside.get(thread) is not None:  # a call within a call
            yield
            return
        call = inside[thread] = Call(self, name, None, None, None)
        recorder.count += 1
        recorder.last.append(call)
        try:
            yield
        finally:
            inside[thread] = None
            call.seconds = time.monotonic() - call.start


def watched(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Makes the recorder note a method of an object with an attribute ``calls``.

    It costs about a microsecond: what a report needs besides, such as the line of the program, is
    found when it is made.
    """
    name = method.__name__
    parameters = inspect.signature(method).parameters
    names = [*parameters][1:]
    has_array = bool(names) and names[0] in _ARRAYS
    find_peer = _finder(parameters, 'dest', 'source', 'root')
    find_tag = _finder(parameters, 'tag')
    inside, last = recorder.inside, recorder.last

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        thread = get_ident()
        if inside.get(thread) is not None:  # a call within a call
            return method(self, *args, **kwargs)
        argument = _describe(args[0]) if has_array and args else None
        new = Call(self.calls, name, argument, find_peer(args, kwargs), find_tag(args, kwargs))
        recorder.count += 1
        last.append(new)
        inside[thread] = new
        try:
            return method(self, *args, **kwargs)
        finally:
            inside[thread] = None
            new.seconds = time.monotonic() - new.start

    return cast('Callable[_P, _R]', call)


def _finder(parameters: Any, *wanted: str) -> Callable[[Sequence[Any], Any], Any]:
    """Returns a function that finds an argument that may have one of some names."""
    names = [*parameters][1:]
    name = next((name for name in names if name in wanted), None)
    if name is None:
        return lambda args, kwargs: None
    position = names.index(name)
    default = parameters[name].default

    def find(args: Sequence[Any], kwargs: Any) -> Any:
        value = args[position] if len(args) > position else kwargs.get(name, default)
        return value if type(value) is int and value >= 0 else None

    return find


def _describe(data: Any) -> Any:
    if isinstance(data, (tuple, list)):
        data = data[0] if data else None
    try:
        return data.shape, data.dtype
    except AttributeError:  # ``None`` where another rank has it, or a wrong argument
        return None


def describe_ranks(ranks: Sequence[int]) -> str:
    """Writes ranks as ranges, such as ``0-2,5``."""
    texts = []
    ranks = sorted(ranks)
    start = 0
    for i in range(1, len(ranks) + 1):
        if i == len(ranks) or ranks[i] != ranks[i - 1] + 1:
            first, last = ranks[start], ranks[i - 1]
            texts.append(f'{first}' if first == last else f'{first}-{last}')
            start = i
    return ','.join(texts)
