"""How the mean of a bucket travels: phases of computing, followed by messages."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, NamedTuple

from chainermn._messages import PIECE
from chainermn.simulation.cluster import Coding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainermn.simulation.cluster import Cluster

# What a byte moves in memory that travels between two ranks of a host: the sender copies it to
# memory that both share, and the receiver out of it.
_MOVED = 4


class Bucket(NamedTuple):
    """Gradients that are sent together.

    Attributes:
        n_bytes: Their size.
        sent_bytes: Their size in messages, which is half of it with 16-bit numbers, and about a
            quarter with 8-bit ones, which leave residuals.
        is_joined: Whether they are copied to be sent, and back.

    """

    n_bytes: float
    sent_bytes: float
    is_joined: bool

    @property
    def is_rounded(self) -> bool:
        """Whether messages have fewer bits than gradients."""
        return self.sent_bytes < self.n_bytes

    @property
    def has_residuals(self) -> bool:
        """Whether messages are of 8 bits."""
        return self.sent_bytes < self.n_bytes / 2


class Phase(NamedTuple):
    """What each rank computes, and the messages that it then sends and waits for.

    Attributes:
        seconds: Time of the rank for copies, additions and calls.
        latency: Seconds until empty messages arrive.
        network_bytes: Bytes that the network card of each host sends, and receives.
        messages: Number of messages that the rank sends.

    """

    seconds: float
    latency: float = 0.0
    network_bytes: float = 0.0
    messages: int = 0


def _exchange(cluster: Cluster, n_bytes: float, before: float) -> Phase:
    """Each rank sends each other one a part of an array, all at once.

    Args:
        cluster: Cluster.
        n_bytes: Bytes of the array in messages, of which a part has its share.
        before: Seconds that the ranks compute before.

    """
    memory, network = cluster.memory, cluster.network
    n_here = cluster.ranks_per_host
    n_there = cluster.size - n_here
    part = n_bytes / cluster.size
    pieces = math.ceil(part / PIECE)
    moved = _MOVED * n_here * (n_here - 1) * part
    seconds = before + moved / memory.bandwidth + (n_here - 1) * pieces * memory.overhead
    latency = memory.latency if pieces and n_here > 1 else 0.0
    if network is not None and n_there:
        seconds += n_there * pieces * network.overhead
        latency = network.latency if pieces else 0.0
    return Phase(seconds, latency, n_here * n_there * part, (cluster.size - 1) * pieces)


def exchange_parts(cluster: Cluster, n_bytes: float) -> Phase:
    """Phase in which all ranks get the updated parts of parameters of so many bytes."""
    return _exchange(cluster, n_bytes, 0.0)


def _signal(cluster: Cluster, before: float) -> Phase:
    """Ranks of a host compute for so many seconds, then tell each other that they have."""
    n_messages = cluster.ranks_per_host - 1
    seconds = before + n_messages * cluster.memory.overhead
    return Phase(seconds, cluster.memory.latency if n_messages else 0.0, 0.0, n_messages)


def _direct(cluster: Cluster, buckets: Sequence[Bucket]) -> list[list[Phase]]:
    if cluster.hosts == 1 and all([b.sent_bytes == b.n_bytes for b in buckets]):
        return [_in_shared_rows(cluster, buckets)] if buckets else []
    return [_by_messages(cluster, bucket) for bucket in buckets]


def _by_messages(cluster: Cluster, bucket: Bucket) -> list[Phase]:
    """Reduce-scatter, then allgather; each rank sends its parts to all others at once."""
    n_ranks = cluster.ranks_per_host
    before, after = _copies(cluster, bucket)
    if bucket.has_residuals:
        # The owner of a part decodes those of the others, and encodes the mean.
        part = n_ranks * bucket.n_bytes / cluster.size
        coding = _coding_of(cluster)
        before -= part / coding.encode
        mean = (cluster.size - 1) * part / coding.decode + part / coding.encode
    else:
        # A rank reads its part of all ranks and writes their mean.
        mean = n_ranks * (bucket.sent_bytes + bucket.n_bytes / cluster.size)
        mean /= cluster.memory.bandwidth
    return [
        _exchange(cluster, bucket.sent_bytes, before),
        _exchange(cluster, bucket.sent_bytes, mean),
        Phase(after),
    ]


def _copies(cluster: Cluster, bucket: Bucket) -> tuple[float, float]:
    """Seconds in which the ranks of a host join and round gradients, and bring them back."""
    n_bytes = cluster.ranks_per_host * bucket.n_bytes
    joined = 2 * n_bytes if bucket.is_joined else 0.0
    if bucket.has_residuals:
        copied, coding = joined / cluster.memory.bandwidth, _coding_of(cluster)
        return copied + n_bytes / coding.encode, copied + n_bytes / coding.decode
    rounded = cluster.ranks_per_host * bucket.sent_bytes + n_bytes if bucket.is_rounded else 0.0
    seconds = (joined + rounded) / cluster.memory.bandwidth
    return seconds, seconds


def _coding_of(cluster: Cluster) -> Coding:
    """The coding of a cluster, or one that waits for memory only."""
    # Gradients and residuals are read and written, and messages have a quarter of the bytes.
    bandwidth = cluster.memory.bandwidth
    return cluster.coding or Coding(bandwidth / 5.25, bandwidth / 1.25)


def _in_shared_rows(cluster: Cluster, buckets: Sequence[Bucket]) -> list[Phase]:
    """Each rank reads its part of all arrays in shared memory, and writes the means to all."""
    moved = 2 * cluster.size * sum([bucket.n_bytes for bucket in buckets])
    copied = 2 * cluster.size * sum([bucket.n_bytes for bucket in buckets if bucket.is_joined])
    moved, copied = moved / cluster.memory.bandwidth, copied / cluster.memory.bandwidth
    return [_signal(cluster, copied), _signal(cluster, moved), Phase(copied)]


def _ring(cluster: Cluster, buckets: Sequence[Bucket]) -> list[list[Phase]]:
    return [_around_ring(cluster, bucket) for bucket in buckets]


def _around_ring(cluster: Cluster, bucket: Bucket) -> list[Phase]:
    """Each rank sends to its neighbour, once for each other rank, to add and once more to share."""
    before, after = _copies(cluster, bucket)
    rounds = cluster.size - 1
    crossing = rounds * bucket.sent_bytes / cluster.size
    added = 3 * cluster.ranks_per_host * crossing / cluster.memory.bandwidth
    pieces = rounds * math.ceil(bucket.sent_bytes / cluster.size / PIECE)
    # One rank of a host sends to the next host, the others to ranks of their own.
    moved = _MOVED * crossing * (cluster.ranks_per_host - (cluster.hosts > 1))
    link = cluster.memory if cluster.network is None or cluster.hosts == 1 else cluster.network
    phases = []
    for extra in before + added, 0.0:
        seconds = extra + moved / cluster.memory.bandwidth + pieces * link.overhead
        sent = crossing if cluster.hosts > 1 else 0.0
        phases.append(Phase(seconds, rounds * link.latency * bool(pieces), sent, pieces))
    return [*phases, Phase(after)]


def _hierarchy(cluster: Cluster, buckets: Sequence[Bucket]) -> list[list[Phase]]:
    return [_over_hosts(cluster, bucket) for bucket in buckets]


def _over_hosts(cluster: Cluster, bucket: Bucket) -> list[Phase]:
    """Ranks of a host add; each exchanges its part with those in its place on other hosts."""
    # Residuals belong to what a rank sends itself.
    if bucket.has_residuals:
        return _by_messages(cluster, bucket)
    n_ranks, n_hosts = cluster.ranks_per_host, cluster.hosts
    host = dataclasses.replace(cluster, hosts=1)
    before, after = _copies(host, bucket._replace(sent_bytes=bucket.n_bytes))
    share = Bucket(bucket.n_bytes / n_ranks, bucket.sent_bytes / n_ranks, False)
    encode, decode = _copies(host, share)
    # A rank reads its part of all ranks of the host and writes their mean, then of all hosts.
    within = (n_ranks + 1) * bucket.n_bytes / cluster.memory.bandwidth
    between = bucket.sent_bytes + bucket.n_bytes / n_hosts
    if bucket.is_rounded:
        first, last = (
            _exchange(host, bucket.n_bytes, before),
            _exchange(host, bucket.n_bytes, decode),
        )
    else:  # in shared memory, where a rank writes the result to all
        first, last = _signal(cluster, before), _signal(cluster, within)
    return [
        first,
        _exchange_shares(cluster, share, within + encode),
        _exchange_shares(cluster, share, between / cluster.memory.bandwidth),
        last,
        Phase(after),
    ]


def _exchange_shares(cluster: Cluster, share: Bucket, before: float) -> Phase:
    """Each rank sends each one in its place on other hosts a part of what it has of a bucket."""
    part = share.sent_bytes / cluster.hosts
    others = cluster.hosts - 1
    pieces = others * math.ceil(part / PIECE)
    if cluster.network is None or not pieces:
        return Phase(before)
    seconds = before + pieces * cluster.network.overhead
    sent = cluster.ranks_per_host * others * part
    return Phase(seconds, cluster.network.latency, sent, pieces)


def default_of(cluster: Cluster) -> str:
    """Returns the name of the algorithm that ChainerMN uses."""
    return 'hierarchy' if cluster.hosts > 1 and cluster.ranks_per_host > 1 else 'direct'


#: How means can travel, by name; ``'ring'`` is only a plan.
ALGORITHMS: dict[str, Callable[[Cluster, Sequence[Bucket]], list[list[Phase]]]] = {
    'direct': _direct,
    'ring': _ring,
    'hierarchy': _hierarchy,
}
