"""The clock of one rank, in place of all of them: they do the same at the same time."""

from __future__ import annotations

import collections
import dataclasses
from typing import TYPE_CHECKING

from chainermn import means
from chainermn.means import int8
from chainermn.optimizers import BUCKET_BYTES
from chainermn.simulation.algorithms import ALGORITHMS, Bucket, Phase, default_of, exchange_parts
from chainermn.simulation.checks import check_count
from chainermn.simulation.cluster import Cluster
from chainermn.simulation.step import Step

if TYPE_CHECKING:
    from collections.abc import Sequence

# Part of the bytes of float32 that travels, by `allreduce_grad_dtype`
_SENT = {
    None: 1.0,
    'float32': 1.0,
    'float16': 0.5,
    'bfloat16': 0.5,
    'int8': int8.count_bytes(int8.BLOCK) / (4 * int8.BLOCK),
}


@dataclasses.dataclass(frozen=True)
class Prediction:
    """What a simulated step takes.

    Attributes:
        compute (float): Seconds of forward, backward and the update.
        hidden (float): Seconds of them in which gradients are on their way.
        exposed (float): Seconds that communication adds to them: copies, calls and waiting.
        network_bytes (float): Bytes that the network card of a host sends.
        messages (int): Messages that a rank sends.

    """

    compute: float
    hidden: float
    exposed: float
    network_bytes: float
    messages: int

    @property
    def total(self) -> float:
        """Seconds of the step."""
        return self.compute + self.exposed

    @property
    def efficiency(self) -> float:
        """Part of the step that computes; 1 for a step that takes no time."""
        return self.compute / self.total if self.total else 1.0


def simulate(
    step: Step,
    cluster: Cluster,
    *,
    algorithm: str | None = None,
    bucket_bytes: int | None = BUCKET_BYTES,
    allreduce_grad_dtype: str | None = None,
    sharded: bool = False,
) -> Prediction:
    r"""Predicts the time of a data-parallel training step.

    It follows the messages of :func:`chainermn.create_multi_node_optimizer`: gradients start in
    buckets while backward runs, a bucket goes on only when the next gradient is complete or
    backward has ended, the ranks of a host share its network card, and copies take the time of the
    rank. All ranks are equal and start together. With :math:`N` ranks, :math:`r` on each of
    :math:`H` hosts, the mean of :math:`b` bytes takes, for each of its two exchanges over the
    network,

    ================= ================= ========================= ======================
    algorithm         messages          latencies                 bytes of a host's card
    ================= ================= ========================= ======================
    ``'direct'``      :math:`N - 1`     1                         :math:`r b (H - 1) / H`
    ``'ring'``        :math:`N - 1`     :math:`N - 1`             :math:`b (N - 1) / N`
    ``'hierarchy'``   :math:`H - 1`     1                         :math:`b (H - 1) / H`
    ================= ================= ========================= ======================

    ChainerMN uses ``'hierarchy'`` if there are several ranks on each of several hosts, else
    ``'direct'``. On a host, ranks add in shared memory, or by messages if they send 16 bits to
    other hosts; 8 bits are sent directly. ``'ring'`` shows what it would cost. Parts of more than
    256 KiB are several messages.

    Args:
        step (Step): What one rank computes.
        cluster (Cluster): Ranks and what connects them.
        algorithm (str): How means travel: ``'direct'``, ``'ring'`` or ``'hierarchy'``. ``None`` for
            that of ChainerMN.
        bucket_bytes (int): As for :func:`chainermn.create_multi_node_optimizer`; ``None`` sends all
            gradients after backward, as for ChainerX arrays.
        allreduce_grad_dtype (str): Dtype in which gradients of float32 travel, as for
            :func:`chainermn.create_communicator`.
        sharded (bool): Whether each rank updates its part of the parameters and sends it to the
            others.

    Returns:
        Prediction: Seconds of the parts of the step.

    Raises:
        TypeError: If ``step`` or ``cluster`` is something else, or ``bucket_bytes`` is no integer.
        ValueError: If ``algorithm`` or ``allreduce_grad_dtype`` is unknown, or ``bucket_bytes``
            negative.

    .. admonition:: Example

        >>> from chainermn.simulation import Cluster, Connection, Step
        >>> step = Step(forward=0.02, backward=0.04, update=0.01, gradients=[4 * 10**6])
        >>> memory = Connection(latency=2e-6, bandwidth=1e10)
        >>> network = Connection(latency=1e-4, bandwidth=1.25e8)
        >>> prediction = chainermn.simulate(step, Cluster(2, 1, memory, network))
        >>> f'{prediction.total * 1e3:.1f} ms, {prediction.efficiency:.2f}'
        '102.8 ms, 0.68'

    """
    _check(step, cluster, algorithm, bucket_bytes, allreduce_grad_dtype)
    algorithm = algorithm or default_of(cluster)
    rank = _Rank(cluster)
    rank.compute(step.forward)
    if cluster.size > 1:
        # Ranks that share memory do not round to 8 bits.
        is_exact = cluster.hosts == 1 and allreduce_grad_dtype == 'int8'
        sent = 1.0 if is_exact else _SENT[allreduce_grad_dtype]
        _run_backward(rank, step, algorithm, bucket_bytes, sent)
    else:
        rank.compute(step.backward)
    update = step.update / cluster.size if sharded else step.update
    rank.compute(update)
    if sharded and cluster.size > 1:
        rank.start([exchange_parts(cluster, sum(step.gradients))])
        rank.wait()
    compute = step.forward + step.backward + update
    exposed = max(0.0, rank.now - compute)  # sums are rounded
    return Prediction(compute, rank.hidden, exposed, rank.network_bytes, rank.messages)


def _check(
    step: object, cluster: object, algorithm: str | None, bucket_bytes: object, dtype: str | None
) -> None:
    if not isinstance(step, Step):
        raise TypeError(f'step must be a Step, not {step!r}')
    if not isinstance(cluster, Cluster):
        raise TypeError(f'cluster must be a Cluster, not {cluster!r}')
    if algorithm is not None and algorithm not in ALGORITHMS:
        raise ValueError(f'algorithm must be one of {", ".join(ALGORITHMS)}, not {algorithm!r}')
    if dtype not in _SENT:
        names = ', '.join(map(str, _SENT))
        raise ValueError(f'allreduce_grad_dtype must be one of {names}, not {dtype!r}')
    if bucket_bytes is not None:
        check_count('bucket_bytes', bucket_bytes, least=0)


def _run_backward(
    rank: _Rank, step: Step, algorithm: str, bucket_bytes: int | None, sent: float
) -> None:
    groups = _group(step.gradients, bucket_bytes)
    lasts = [numbers[-1] for numbers in groups]
    # All gradients start after backward if they are in one group.
    assert step.ready is not None
    before = 0.0
    for i, ready in enumerate(step.ready):
        rank.compute(ready - before)
        before = ready
        if bucket_bytes is not None:
            if i in lasts:
                _start(rank, step, groups[lasts.index(i)], algorithm, sent)
            rank.test()
    rank.compute(step.backward - before)
    if bucket_bytes is None:
        for numbers in groups:
            _start(rank, step, numbers, algorithm, sent)
    rank.wait()


def _group(gradients: Sequence[int], bucket_bytes: int | None) -> list[list[int]]:
    if bucket_bytes is None:
        return [list(range(len(gradients)))] if gradients else []
    return means.group(gradients, [None] * len(gradients), bucket_bytes)


def _start(rank: _Rank, step: Step, numbers: Sequence[int], algorithm: str, sent: float) -> None:
    """Starts the means of a group: large gradients alone, the small ones joined."""
    sizes = [step.gradients[i] for i in numbers]
    small = sum([size for size in sizes if size < means.ALONE])
    buckets = [Bucket(size, sent * size, False) for size in sizes if size >= means.ALONE]
    if small:
        buckets.append(Bucket(small, sent * small, True))
    for phases in ALGORITHMS[algorithm](rank.cluster, buckets):
        rank.start(phases)


class _Mean:
    """A mean that is being computed.

    Args:
        phases: What is left of it.

    """

    def __init__(self, phases: Sequence[Phase]) -> None:
        self.left = collections.deque(phases)
        self.arrival = 0.0  # when the messages of the last phase are there


class _Rank:
    """Clock of a rank, and of the network card of its host.

    Args:
        cluster: Cluster.

    Attributes:
        now: Seconds since the begin of the step.
        hidden: Seconds in which the rank has computed while messages were on their way.
        network_bytes: Bytes that the card has sent.
        messages: Messages that the rank has sent.

    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.now = 0.0
        self.hidden = 0.0
        self.network_bytes = 0.0
        self.messages = 0
        self._card_is_free = 0.0
        self._last_arrival = 0.0
        self._means: list[_Mean] = []

    def compute(self, seconds: float) -> None:
        """Computes, whatever is on its way."""
        self.hidden += min(seconds, max(0.0, self._last_arrival - self.now))
        self.now += seconds

    def start(self, phases: Sequence[Phase]) -> None:
        """Starts a mean."""
        mean = _Mean(phases)
        self._means.append(mean)
        self._go_on(mean)

    def test(self) -> None:
        """Takes the phases that are possible without waiting, but the last: it is for the end."""
        for mean in self._means:
            while len(mean.left) > 1 and mean.arrival <= self.now:
                self._go_on(mean)

    def wait(self) -> None:
        """Waits for the means, one after the other."""
        for mean in self._means:
            while mean.left:
                self.now = max(self.now, mean.arrival)
                self._go_on(mean)
            self.now = max(self.now, mean.arrival)
        self._means = []

    def _go_on(self, mean: _Mean) -> None:
        phase = mean.left.popleft()
        self.now += phase.seconds
        self.messages += phase.messages
        self.network_bytes += phase.network_bytes
        mean.arrival = self.now
        if phase.network_bytes:
            assert self.cluster.network is not None
            begin = max(self.now, self._card_is_free)
            self._card_is_free = begin + phase.network_bytes / self.cluster.network.bandwidth
            mean.arrival = self._card_is_free
        mean.arrival += phase.latency
        self._last_arrival = max(self._last_arrival, mean.arrival)
