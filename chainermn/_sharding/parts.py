"""Parts of parameters: each rank keeps some elements of each parameter."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

import numpy

from chainermn import _arrays
from chainermn._mpi import mpi
from chainermn._sharding.memory import Memory
from chainermn.means import Pending
from chainermn.means.buckets import ALONE, bounds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chainer.variable import Parameter
    from chainermn.means import OwnMeans
    from chainermn.means.transport import Steps


class Part:
    """What a rank keeps of a parameter: some elements of the flat array, as an array of one axis.

    Args:
        comm: Communicator.
        shape: Shape of the whole parameter.
        bounds: Where the parts of the ranks begin in the flat array, and its end. By default, the
            parts are equal.

    """

    def __init__(
        self, comm: Any, shape: tuple[int, ...], bounds: Sequence[int] | None = None
    ) -> None:
        self.comm = comm
        self.shape = shape
        self.size = int(numpy.prod(shape))
        self._bounds = bounds_of(self.size, comm.size) if bounds is None else bounds

    def __reduce__(self) -> Any:
        raise TypeError(
            'a parameter that is divided between ranks cannot be copied or pickled: do that '
            'within `with chainermn.gathered_parameters(link)`'
        )

    @property
    def own(self) -> slice:
        """Elements of this rank."""
        return self.slice_of(self.comm.rank)

    def slice_of(self, rank: int) -> slice:
        """Elements of a rank."""
        return slice(self._bounds[rank], self._bounds[rank + 1])

    def cut(self, array: Any) -> Any:
        """Copies this rank's elements of a whole array."""
        return _arrays.flat(array)[self.own].copy()

    def check_saving(self, name: str) -> None:
        """Raises an error outside of :func:`saving_parts`.

        Args:
            name: Name of the parameter in its link.

        Raises:
            ValueError: If a file would have a part in the place of the parameter.

        """
        if not _saving.takes_parts:
            raise ValueError(
                f"parameter '{name}' of shape {self.shape} is divided between {self.comm.size} "
                'ranks: save and load within `with chainermn.gathered_parameters(link)`, or use '
                'chainermn.create_multi_node_checkpointer'
            )


def divide_jointly(comm: Any, shapes: Sequence[tuple[int, ...]]) -> list[Part]:
    """Divides parameters as if they were one array, so that few of them have several owners."""
    sizes = [int(numpy.prod(shape)) for shape in shapes]
    bounds = numpy.array(bounds_of(sum(sizes), comm.size))
    starts = numpy.cumsum([0, *sizes]).tolist()
    return [
        Part(comm, shape, (bounds - start).clip(0, size).tolist())
        for shape, size, start in zip(shapes, sizes, starts)
    ]


class _Saving(threading.local):
    takes_parts = False


_saving = _Saving()


@contextlib.contextmanager
def saving_parts() -> Iterator[None]:
    """Context in which parts are saved and loaded, by what knows how they belong together."""
    before, _saving.takes_parts = _saving.takes_parts, True
    try:
        yield
    finally:
        _saving.takes_parts = before


def part_of(param: Parameter) -> Part | None:
    """Returns which part of a parameter its array is, or ``None`` for all of it."""
    part: Part | None = param._part
    return part


def divide(param: Parameter, comm: Any) -> None:
    """Gives each rank its part of the parameter of rank 0; collective."""
    part = Part(comm, param.shape)
    outgoing = {}
    result = part.cut(param.array)
    if comm.rank == 0:
        flat = _arrays.to_host(param.array).reshape(-1)
        outgoing = {i: flat[part.slice_of(i)] for i in range(1, comm.size)}
        incoming = {}
    else:
        incoming = {0: _arrays.plain(result)}
    _exchange(comm, outgoing, incoming)
    _set(param, result, part)


def cut(param: Parameter, part: Part) -> None:
    """Replaces the whole array of a parameter by this rank's part of it."""
    _set(param, part.cut(param.array), part)


def join(param: Parameter, array: Any) -> None:
    """Replaces this rank's part of a parameter by the whole array."""
    _set(param, array, None)


def _set(param: Parameter, array: Any, part: Part | None) -> None:
    param.cleargrad()
    param.array = array
    param._part = part
    # An earlier graph keeps its node, which has the shape of the other array.
    param._node = None


def memory_of(own: Sequence[Part], arrays: Sequence[Any]) -> Memory:
    """Makes memory for the whole parameters of parts."""
    return Memory([(part.shape, array.dtype) for part, array in zip(own, arrays)])


def gather(label: str, pairs: Sequence[tuple[Part, Any]], arrays: Sequence[Any]) -> None:
    """Fills arrays with whole parameters; collective.

    Args:
        label: What is gathered, for reports.
        pairs: Parts with their arrays.
        arrays: NumPy arrays of the shapes of the parameters.

    """
    comm = pairs[0][0].comm
    _check(comm, 'gather', label, [(part.shape, array.dtype.name) for part, array in pairs])
    with comm.calls.watching(f'gather of {label}'):
        start_gather(pairs, arrays).wait()


def start_gather(pairs: Sequence[tuple[Part, Any]], arrays: Sequence[Any]) -> Pending:
    """Starts to fill arrays with whole parameters; collective.

    Args:
        pairs: Parts with their arrays, which must not change until all is there.
        arrays: NumPy arrays of the shapes of the parameters.

    """
    return Pending(_gathering(pairs[0][0].comm, pairs, arrays))


def _gathering(comm: Any, pairs: Sequence[tuple[Part, Any]], arrays: Sequence[Any]) -> Steps:
    requests: list[Any] = []
    joined: list[tuple[Any, dict[int, Any]]] = []
    others = comm.reducer.channel.others
    for (part, array), whole in zip(pairs, arrays):
        own = _arrays.to_host(array)
        flat = whole.reshape(-1)
        flat[part.own] = own
        incoming = {i: flat[part.slice_of(i)] for i in others}
        if flat.nbytes < ALONE:  # not those of the part, which differ between the ranks
            joined.append((own, incoming))
        else:
            requests += _start(comm, dict.fromkeys(others, own), incoming)
    data = _arrays.to_host_bytes([own for own, _ in joined])
    sizes = {i: sum([incoming[i].nbytes for _, incoming in joined]) for i in others}
    received = {i: numpy.empty(size, numpy.uint8) for i, size in sizes.items()}
    yield requests + _start(comm, dict.fromkeys(others, data), received)
    for i, theirs in received.items():
        _arrays.from_host_bytes(theirs, [incoming[i] for _, incoming in joined])


def mean_parts(label: str, pairs: Sequence[tuple[Part, Any]]) -> list[Any]:
    """Returns this rank's parts of the means of gradients; collective.

    Args:
        label: What they are gradients of, for reports.
        pairs: Parts with gradients of whole parameters, on the host.

    """
    comm = pairs[0][0].comm
    _check(comm, 'gradients', label, [(part.size, grad.dtype.name) for part, grad in pairs])
    with comm.calls.watching(f'gradients of {label}'):
        return start_means(pairs).wait()


def prepare_means(comm: Any) -> None:
    """Makes memory that the ranks share for means of gradients, at the first call; collective.

    Not at the first mean: backward of other ranks may wait for what this one does after it.
    """
    if not comm.reducer.has_prepared:
        with comm.calls.watching('update'):
            comm.reducer.prepare_own_means()


def start_means(pairs: Sequence[tuple[Part, Any]]) -> OwnMeans:
    """Starts to compute this rank's parts of the means of gradients; collective.

    Args:
        pairs: Parts with gradients of whole parameters, on the host.

    """
    comm = pairs[0][0].comm
    grads = [_arrays.to_host(grad).reshape(-1) for _, grad in pairs]
    slices = [[part.slice_of(i) for i in range(comm.size)] for part, _ in pairs]
    result: OwnMeans = comm.reducer.own_means(grads, slices)
    return result


def _check(comm: Any, call: str, label: str, specs: Any) -> None:
    checker = comm.reducer.channel.checker
    if checker.is_on():
        checker.check(call, (label, specs))


def _exchange(comm: Any, outgoing: dict[int, Any], incoming: dict[int, Any]) -> None:
    with comm.calls.watching('shard_parameters'):
        _wait([_start(comm, outgoing, incoming)])


def _start(comm: Any, outgoing: dict[int, Any], incoming: dict[int, Any]) -> list[Any]:
    channel = comm.reducer.channel
    return channel.exchange(channel.next_tag(), outgoing, incoming)


def _wait(requests: Sequence[Sequence[Any]]) -> None:
    mpi().Request.Waitall([request for of_array in requests for request in of_array])
