"""What a simulation needs to know, measured here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.autograd.leaves import watching_leaves
from chainer.optimizer import GradientMethod
from chainermn._checks import check_rank
from chainermn._messages import PIECE
from chainermn._mpi import mpi
from chainermn.means import int8, kernels
from chainermn.simulation.checks import check_count
from chainermn.simulation.cluster import Cluster, Coding, Connection
from chainermn.simulation.step import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.variable import Variable
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase
    from chainermn.means import Channel

_BURST = 64  # messages
_SHORT = 10  # times the rounds: for small messages, which take little time
_PAUSE = 0.001  # seconds between two looks of a rank that has nothing to do
# A rank reads and writes 8 bytes of each number of a mean of float32.
_MOVED = 8


def measure_step(
    optimizer: GradientMethod, lossfun: Callable[..., Variable], *args: Any, rounds: int = 5
) -> Step:
    """Measures a training step of this process, for arrays on CPUs.

    It trains the model by ``rounds + 1`` steps, of which the first one is not counted. To include
    what ranks of a host take from each other, all of them make the call at the same time.

    Args:
        optimizer (chainer.GradientMethod): Optimizer, after ``setup``, not a multi-node one.
        lossfun (callable): Loss function.
        args: Arguments of the loss function.
        rounds (int): Number of steps, of which the fastest one counts: other programs have
            disturbed it least.

    Returns:
        Step: Times in seconds, and the bytes of the gradients in the order of backward.

    Raises:
        TypeError: If ``optimizer`` is no :class:`chainer.GradientMethod`, or ``rounds`` no integer.
        ValueError: If ``rounds`` is less than 1.
        RuntimeError: If the optimizer has no model.

    .. admonition:: Example

        >>> model = L.Classifier(L.Linear(3, 2))
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> x, t = np.ones((4, 3), 'f'), np.zeros(4, 'i')
        >>> step = chainermn.simulation.measure_step(optimizer, model, x, t)
        >>> sorted(step.gradients)
        [8, 24]

    """
    if not isinstance(optimizer, GradientMethod):
        raise TypeError(
            f'optimizer must be a chainer.GradientMethod, not {type(optimizer).__name__}'
        )
    check_count('rounds', rounds)
    if optimizer.target is None:
        raise RuntimeError('optimizer has no model: call its `setup` method first')
    steps = [_time_step(optimizer, lossfun, args) for _ in range(rounds + 1)][1:]
    return min(steps, key=lambda step: step.compute)


def _time_step(optimizer: Any, lossfun: Callable[..., Variable], args: Sequence[Any]) -> Step:
    ready: dict[int, float] = {}

    def note(param: Any) -> None:
        ready[id(param)] = time.perf_counter() - begin

    start = time.perf_counter()
    loss = lossfun(*args)
    optimizer.target.cleargrads()
    begin = time.perf_counter()
    with watching_leaves(note, [*optimizer.target.params()]):
        loss.backward(loss_scale=optimizer._loss_scale)
    backward = time.perf_counter() - begin
    begin_update = time.perf_counter()
    optimizer.update(None)
    update = time.perf_counter() - begin_update
    params = [p for p in optimizer.target.params() if p.array is not None and p.requires_grad]
    times = {id(param): ready.get(id(param), backward) for param in params}
    params.sort(key=lambda param: times[id(param)])
    sizes = [param.array.nbytes for param in params]
    return Step(begin - start, backward, update, sizes, [times[id(p)] for p in params])


def measure_cluster(comm: MpiCommunicatorBase, rounds: int = 30) -> Cluster:
    """Measures what connects the ranks of a communicator; collective.

    The network is the connection of rank 0 and the first rank on another host. To plan for more
    hosts, replace their number: ``dataclasses.replace(cluster, hosts=125)``.

    Args:
        comm (CommunicatorBase): Communicator, with as many ranks on each host.
        rounds (int): Number of rounds of each measurement, of which the fastest ones count.

    Returns:
        Cluster: The hosts of ``comm``, the same on all ranks. Without two ranks on a host, its
        memory has no latency.

    Raises:
        TypeError: If ``rounds`` is no integer.
        ValueError: If ``rounds`` is less than 1, or hosts have different numbers of ranks.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> cluster = chainermn.simulation.measure_cluster(comm)
        >>> cluster.size, cluster.network
        (1, None)

    """
    check_count('rounds', rounds)
    hosts = comm.allgather_obj(comm.inter_rank)
    counts = sorted({hosts.count(host) for host in hosts})
    if len(counts) > 1:
        raise ValueError(f'comm must have as many ranks on each host, not {counts}')
    bandwidth = _measure_memory(comm, rounds)
    latency = overhead = 0.0
    network = None
    neighbours = [i for i in range(1, comm.size) if hosts[i] == hosts[0]]
    if neighbours:
        local = measure_connection(comm, 0, neighbours[0], rounds=rounds)
        latency, overhead = local.latency, local.overhead
    strangers = [i for i in range(1, comm.size) if hosts[i] != hosts[0]]
    if strangers:
        network = measure_connection(comm, 0, strangers[0], rounds=rounds)
    memory = Connection(latency, bandwidth, overhead)
    return Cluster(comm.inter_size, comm.intra_size, memory, network, _measure_coding(comm, rounds))


def _measure_memory(comm: MpiCommunicatorBase, rounds: int) -> float:
    """Bytes per second that the ranks of a host move when all of them average at once."""
    arrays = [numpy.ones(1 << 20, numpy.float32) for _ in range(comm.intra_size)]
    seconds = _time_on_all(comm, rounds, lambda: kernels.mean(arrays, arrays))
    return comm.intra_size * sum([_MOVED * array.size for array in arrays]) / seconds


def _measure_coding(comm: MpiCommunicatorBase, rounds: int) -> Coding:
    size = 1 << 20
    gradients = numpy.random.default_rng(0).standard_normal(size, numpy.float32)
    residuals = numpy.zeros_like(gradients)
    message = numpy.empty(int8.count_bytes(size), numpy.uint8)

    def encode() -> None:
        numpy.add(gradients, residuals, out=gradients)
        int8.encode(gradients, message, residuals)

    n_bytes = comm.intra_size * gradients.nbytes
    return Coding(
        n_bytes / _time_on_all(comm, rounds, encode),
        n_bytes / _time_on_all(comm, rounds, lambda: int8.decode(message, gradients)),
    )


def _time_on_all(comm: MpiCommunicatorBase, rounds: int, call: Callable[[], None]) -> float:
    """The least seconds of a call that all ranks make at once, on the slowest of them."""
    times = []
    for _ in range(rounds + 1):
        comm.mpi_comm.Barrier()
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    seconds: float = max(comm.allgather_obj(min(times[1:])))
    return seconds


def measure_connection(
    comm: MpiCommunicatorBase,
    source: int = 0,
    target: int = 1,
    *,
    n_bytes: int = 1 << 22,
    rounds: int = 30,
) -> Connection:
    """Measures messages between two ranks; collective.

    The latency is half the time of a message of one byte and its answer, the overhead what each of
    64 messages at once adds, and the bandwidth is that of large messages in both directions at
    once, as in means of gradients.

    Args:
        comm (CommunicatorBase): Communicator.
        source (int): One rank.
        target (int): Another rank.
        n_bytes (int): Size of the large messages.
        rounds (int): Number of rounds of each measurement, of which the fastest ones count.

    Returns:
        Connection: Seconds, and bytes per second; the same on all ranks.

    Raises:
        TypeError: If ``n_bytes`` or ``rounds`` is no integer.
        ValueError: If one of them is less than 1, or ``source`` and ``target`` are not two ranks
            of ``comm``.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> if comm.size > 1:
        ...     connection = chainermn.simulation.measure_connection(comm)

    """
    for name, rank in ('source', source), ('target', target):
        check_rank(comm.size, 'measure_connection', name, rank)
    if source == target:
        raise ValueError(f'source and target must be two ranks, not both {source}')
    check_count('n_bytes', n_bytes)
    check_count('rounds', rounds)
    channel = comm.reducer.channel
    tag = channel.next_tag()
    values = None
    if comm.rank in (source, target):
        peer = target if comm.rank == source else source
        values = _Pair(channel, tag, peer, comm.rank == source).measure(n_bytes, rounds)
    _wait_quietly(comm.mpi_comm)
    return Connection(*comm.bcast_obj(values, root=source))


class _Pair:
    """Messages between this rank and another one.

    Args:
        channel: Where they travel.
        tag: Their tag.
        peer: The other rank.
        is_first: Whether this rank begins.

    """

    def __init__(self, channel: Channel, tag: int, peer: int, is_first: bool) -> None:
        self._channel = channel
        self._tag = tag
        self._peer = peer
        self._is_first = is_first

    def measure(self, n_bytes: int, rounds: int) -> tuple[float, float, float]:
        """Returns the latency, the bandwidth and the overhead."""
        small = [numpy.zeros(1, numpy.uint8) for _ in range(2 * _BURST)]
        large = [numpy.zeros(n_bytes, numpy.uint8) for _ in range(2)]
        latency = self._time(lambda: self._ping(*small[:2]), _SHORT * rounds) / 2
        burst = self._time(lambda: self._exchange(small), _SHORT * rounds)
        overhead = max(0.0, burst - latency) / _BURST
        transfer = self._time(lambda: self._exchange(large), rounds)
        pieces = -(-n_bytes // PIECE)
        rest = transfer - latency - pieces * overhead
        # A message that takes no longer than an empty one shows no limit but this one.
        return latency, n_bytes / max(rest, transfer / 2), overhead

    def _time(self, call: Callable[[], None], rounds: int) -> float:
        times = []
        for _ in range(rounds + 1):
            self._ping(numpy.zeros(1, numpy.uint8), numpy.zeros(1, numpy.uint8))
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return min(times[1:])

    def _ping(self, outgoing: Any, incoming: Any) -> None:
        messages: list[tuple[dict[int, Any], dict[int, Any]]] = [
            ({self._peer: outgoing}, {}),
            ({}, {self._peer: incoming}),
        ]
        for out, into in messages if self._is_first else messages[::-1]:
            mpi().Request.Waitall(self._channel.exchange(self._tag, out, into))

    def _exchange(self, arrays: Sequence[Any]) -> None:
        """Sends half of the arrays and receives the others, all at once."""
        half = len(arrays) // 2
        requests = []
        for outgoing, incoming in zip(arrays[:half], arrays[half:]):
            requests += self._channel.exchange(
                self._tag, {self._peer: outgoing}, {self._peer: incoming}
            )
        mpi().Request.Waitall(requests)


def _wait_quietly(mpi_comm: Any) -> None:
    """Waits for all ranks, and leaves the cores to those that still work."""
    request = mpi_comm.Ibarrier()
    while not request.Test():
        time.sleep(_PAUSE)
