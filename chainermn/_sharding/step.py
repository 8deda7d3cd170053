"""Messages of a step that travel while it computes: parameters ahead of use, gradients after it.

A :class:`Step` notes the order in which calls, and later their backward, need parameters. The next
step starts to gather along this order, as far as there is room, before the calls come. All ranks
make the same calls in the same order, so they start the same messages. A call that differs from
the order does so on all ranks: all drop what has come ahead, and from then on each call waits.
"""

from __future__ import annotations

import collections
import threading
from typing import TYPE_CHECKING, Any

from chainer._core.autograd import variable_gradient
from chainermn import _arrays
from chainermn._sharding import parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from chainer.variable import Parameter
    from chainermn._sharding.functions import Whole
    from chainermn._sharding.memory import Memory
    from chainermn.means import OwnMeans, Pending

#: Most bytes of whole parameters that are there before they are needed, and of whole gradients that
#: are on their way. Larger ones are waited for.
BYTES = 1 << 25
#: Bytes that travel together: a message for each of many small links costs more.
JOINED = 1 << 18


class Need:
    """Parameters that a call of a link, or its backward, needs.

    Args:
        whole: Parameters of the call.
        is_backward: Whether backward needs them.

    """

    def __init__(self, whole: Whole, is_backward: bool) -> None:
        self.params = whole.params
        self.own = whole.own
        self.n_bytes = sum([p.dtype.itemsize * part.size for p, part in zip(self.params, self.own)])
        self.call = whole.number
        self.is_backward = is_backward

    def matches(self, other: Need) -> bool:
        """Tells whether this is the same need of another step."""
        own = [self.call, self.is_backward, *map(id, self.own)]
        return own == [other.call, other.is_backward, *map(id, other.own)]


class _Arrival:
    """Parameters that come ahead of a need, or that are still there.

    Args:
        memory: Where they come.
        n_bytes: Their size.
        pairs: Parts with their arrays, of which they come; none if they are still there.

    Attributes:
        pending: What fills the memory, ``None`` if nothing does.

    """

    def __init__(
        self, memory: Memory, n_bytes: int, pairs: Sequence[tuple[parts.Part, Any]]
    ) -> None:
        self.memory = memory
        self.n_bytes = n_bytes
        self.pairs = pairs
        self.pending: Pending | None = None


class Step:
    """A forward and backward pass, in which the parameters do not change.

    Args:
        comm: Communicator.
        order: What the step before needed.

    Attributes:
        needs: What this step needs, in order.
        gradients: Gradients of the step.

    """

    def __init__(self, comm: Any, order: Sequence[Need] = ()) -> None:
        self.needs: list[Need] = []
        self.gradients = Departures(comm)
        self._comm = comm
        self._order = order
        # The calls so far; `None` for one whose backward does not gather its parameters again.
        self._calls: list[Whole | None] = []
        # For what comes next in the order, after as many needs as this step has had.
        self._queue: collections.deque[_Arrival] = collections.deque()
        self._room = BYTES  # that nothing in the queue takes
        self._is_running = False

    def __enter__(self) -> Self:
        stop(self._comm)  # an update within a step changes its parameters
        _running.steps.append(self)
        self._is_running = True
        if self._is_checked():
            self._order = ()
        return self

    def __exit__(self, *args: Any) -> None:
        _running.steps.remove(self)
        self._is_running = self.gradients.may_wait = False
        # After an error, nobody waits for what is on its way.
        self._order = ()
        self._queue.clear()
        self._calls.clear()  # which refer to this step

    def _is_checked(self) -> bool:
        """Tells whether the ranks compare calls, which they do when the calls are made."""
        result: bool = self._comm.reducer.channel.checker.is_on()
        return result

    def let_gradients_wait(self) -> None:
        """Lets gradients be there at :meth:`finish` only."""
        self.gradients.may_wait = not self._is_checked()

    def is_of(self, comm: Any) -> bool:
        """Tells whether this is a step of a communicator."""
        return self._comm is comm

    def take(self, whole: Whole, is_backward: bool) -> Memory | None:
        """Returns memory that has the parameters of a call already, if they came ahead; collective.

        Args:
            whole: Parameters of the call.
            is_backward: Whether its backward needs them.

        """
        if not self._is_running:
            return None
        need = Need(whole, is_backward)
        if not self._expects(need):
            self.stop()
        self.needs.append(need)
        if not self._queue:
            return None
        arrival = self._queue.popleft()
        self._room += arrival.n_bytes
        if arrival.pending is None:
            return None
        with self._comm.calls.watching(f'gather of {whole.label}'):
            arrival.pending.wait()
        arrival.memory.is_filled = True
        return arrival.memory

    def _expects(self, need: Need) -> bool:
        """Tells whether the order has this need next."""
        index = len(self.needs)
        return index < len(self._order) and self._order[index].matches(need)

    def number(self) -> int:
        """Returns the number of the next call of a link."""
        return len(self._calls)

    def entered(self, whole: Whole | None) -> None:
        """Notes a call that has its parameters, and goes on.

        Args:
            whole: Parameters of the call; ``None`` if backward does not gather them again.

        """
        if self._is_running:
            self._calls.append(whole)
            self.go_on()

    def go_on(self) -> None:
        """Starts to gather what comes next, if there is much room."""
        # MPI makes progress only during calls, and one for the next message does for all.
        if self._queue and self._queue[0].pending is not None:
            self._queue[0].pending.test()
        self.gradients.test()
        if self._room > BYTES // 2:  # then several small ones fit, which travel together
            self._start_next()

    def _start_next(self) -> None:
        """Fills the queue as far as there is room; small parameters travel together."""
        group: list[_Arrival] = []
        for i in range(len(self.needs) + len(self._queue), len(self._order)):
            need = self._order[i]
            arrival = self._arrival_of(need) if need.n_bytes <= self._room else None
            if arrival is None:
                break
            self._room -= arrival.n_bytes
            self._queue.append(arrival)
            if arrival.pairs:
                group.append(arrival)
            if sum([member.n_bytes for member in group]) >= JOINED:
                _start(group)
                group = []
        if group:
            _start(group)

    def _arrival_of(self, need: Need) -> _Arrival | None:
        """Prepares to gather for a need; ``None`` if the call that it is backward of is to come."""
        if not need.is_backward:
            arrays = [_arrays.plain(param.array) for param in need.params]
            memory = parts.memory_of(need.own, arrays)
            return _Arrival(memory, need.n_bytes, list(zip(need.own, arrays)))
        whole = self._calls[need.call] if need.call < len(self._calls) else None
        if whole is None:
            return None
        # Within the call, its parameters are there, and may stay.
        whole.is_kept = whole.memory.is_filled
        return _Arrival(whole.memory, need.n_bytes, [] if whole.is_kept else whole.pairs())

    def stop(self) -> None:
        """Forgets what comes next, and what has come for it; collective."""
        self._order = ()
        for arrival in self._queue:
            if arrival.pending is not None:
                with self._comm.calls.watching('gather ahead'):
                    arrival.pending.wait()
                arrival.memory.release()
        self._queue.clear()
        self._room = BYTES

    def finish(self) -> None:
        """Waits for all messages, and gives the parameters their gradients; collective."""
        self.stop()
        self.gradients.finish()


def _start(group: Sequence[_Arrival]) -> None:
    """Starts to gather all of a group at once."""
    pairs = [pair for arrival in group for pair in arrival.pairs]
    arrays = [array for arrival in group for array in arrival.memory.arrays]
    pending = parts.start_gather(pairs, arrays)
    for arrival in group:
        arrival.pending = pending


class Departures:
    """Gradients that are on their way.

    Args:
        comm: Communicator.

    Attributes:
        may_wait: Whether gradients need not be there before :meth:`finish`.

    """

    def __init__(self, comm: Any) -> None:
        self.may_wait = False
        self._comm = comm
        self._unsent: list[tuple[Parameter, parts.Part, Any]] = []
        self._n_unsent = 0  # bytes
        self._sent: collections.deque[tuple[list[Parameter], OwnMeans]] = collections.deque()
        self._complete: list[tuple[Parameter, Any]] = []

    def means(self, label: str, grads: list[tuple[Parameter, parts.Part, Any]]) -> list[Any]:
        """Returns this rank's parts of the means of gradients; collective.

        Args:
            label: What they are gradients of, for reports.
            grads: Parameters, their parts, and gradients of whole parameters, on the host.

        Returns:
            The parts, or ``None`` in their place if :meth:`finish` will set them.

        """
        if not self.may_wait:
            return parts.mean_parts(label, [(part, grad) for _, part, grad in grads])
        self._unsent += grads
        self._n_unsent += sum([grad.nbytes for *_, grad in grads])
        if self._n_unsent >= JOINED:
            self._send()
        return [None] * len(grads)

    def _send(self) -> None:
        means = parts.start_means([(part, grad) for _, part, grad in self._unsent])
        self._sent.append(([param for param, *_ in self._unsent], means))
        self._unsent, self._n_unsent = [], 0
        while sum([means.n_bytes for _, means in self._sent]) > BYTES:
            self._wait_for_oldest()

    def _wait_for_oldest(self) -> None:
        params, means = self._sent.popleft()
        with self._comm.calls.watching('gradients'):
            self._complete += zip(params, means.wait())

    def test(self) -> None:
        """Makes progress without waiting."""
        for _, means in self._sent:
            means.test()

    def wait(self) -> None:
        """Waits for all of them; collective."""
        if self._unsent:
            self._send()
        while self._sent:
            self._wait_for_oldest()

    def take(self) -> list[tuple[Parameter, Any]]:
        """Waits for all of them; returns the parameters with this rank's parts; collective."""
        self.wait()
        complete, self._complete = self._complete, []
        return complete

    def finish(self) -> None:
        """Waits for all of them and adds them to those of the parameters; collective."""
        for param, grad in self.take():
            variable_gradient.clear_untouched(param)
            grad = _arrays.like(grad, param.array)
            param.grad = grad if param.grad is None else param.grad + grad


class _Running(threading.local):
    def __init__(self) -> None:
        self.steps: list[Step] = []


_running = _Running()


def current(comm: Any) -> Step:
    """Returns the innermost step if it is one of a communicator, else one that looks not ahead."""
    steps = _running.steps
    return steps[-1] if steps and steps[-1].is_of(comm) else Step(comm)


def stop(comm: Any) -> None:
    """Lets the steps of a communicator look ahead no more: parameters may change; collective."""
    for step in _running.steps:
        if step.is_of(comm):
            step.stop()
