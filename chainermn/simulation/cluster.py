"""What connects the ranks."""

from __future__ import annotations

import dataclasses

from chainermn.simulation.checks import check_count, check_number


@dataclasses.dataclass(frozen=True)
class Connection:
    r"""What a message costs, in the model LogGP.

    :math:`k` messages of :math:`n` bytes together, which a rank starts at once, arrive after

    .. math:: t = k o + L + \frac{n}{B}.

    Args:
        latency (float): Seconds :math:`L` until an empty message arrives.
        bandwidth (float): Bytes per second :math:`B` in each direction: of the network card of a
            host, which its ranks share, or of the memory of a host, which counts what all ranks
            read and write.
        overhead (float): Seconds :math:`o` for which a message occupies its sender and receiver.

    Raises:
        TypeError: If an argument is no number.
        ValueError: If ``bandwidth`` is not positive, another argument is negative, or one is not
            finite.

    .. admonition:: Example

        >>> chainermn.simulation.Connection(latency=5e-05, bandwidth=1.25e8)  # 1 Gbit/s
        Connection(latency=5e-05, bandwidth=125000000.0, overhead=0.0)

    See: Alexandrov, Ionescu, Schauser and Scheiman, LogGP: incorporating long messages into the
    LogP model, SPAA 1995.

    """

    latency: float
    bandwidth: float
    overhead: float = 0.0

    def __post_init__(self) -> None:
        check_number('latency', self.latency)
        check_number('bandwidth', self.bandwidth, is_positive=True)
        check_number('overhead', self.overhead)


@dataclasses.dataclass(frozen=True)
class Coding:
    """How fast the ranks of a host, all at once, write and read messages of 8-bit numbers.

    Args:
        encode (float): Bytes of gradients in float32 per second that become messages and residuals.
        decode (float): Bytes in float32 per second that messages become.

    Raises:
        TypeError: If an argument is no number.
        ValueError: If one is not positive and finite.

    .. admonition:: Example

        >>> chainermn.simulation.Coding(encode=1e9, decode=4e9)
        Coding(encode=1000000000.0, decode=4000000000.0)

    """

    encode: float
    decode: float

    def __post_init__(self) -> None:
        check_number('encode', self.encode, is_positive=True)
        check_number('decode', self.decode, is_positive=True)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Hosts with equal numbers of ranks.

    Args:
        hosts (int): Number of hosts.
        ranks_per_host (int): Number of ranks of each host.
        memory (Connection): What connects the ranks of a host.
        network (Connection): What connects the hosts. Only a single host may have ``None``.
        coding (Coding): Speed of 8-bit messages. With ``None``, only what they move in memory
            takes time.

    Raises:
        TypeError: If a number is no integer, a connection no :class:`Connection`, or ``coding`` no
            :class:`Coding`.
        ValueError: If a number is less than 1, or several hosts have no network.

    .. admonition:: Example

        >>> import dataclasses
        >>> from chainermn.simulation import Cluster, Connection
        >>> memory = Connection(latency=2e-6, bandwidth=2e10, overhead=2e-6)
        >>> two = Cluster(2, 8, memory, Connection(latency=5e-5, bandwidth=1.25e8, overhead=1e-5))
        >>> dataclasses.replace(two, hosts=125).size
        1000

    """

    hosts: int
    ranks_per_host: int
    memory: Connection
    network: Connection | None = None
    coding: Coding | None = None

    def __post_init__(self) -> None:
        check_count('hosts', self.hosts)
        check_count('ranks_per_host', self.ranks_per_host)
        if not isinstance(self.memory, Connection):
            raise TypeError(f'memory must be a Connection, not {self.memory!r}')
        if not isinstance(self.network, Connection | None):
            raise TypeError(f'network must be a Connection or None, not {self.network!r}')
        if not isinstance(self.coding, Coding | None):
            raise TypeError(f'coding must be a Coding, not {self.coding!r}')
        if self.hosts > 1 and self.network is None:
            raise ValueError(f'network must be a Connection if there are {self.hosts} hosts')

    @property
    def size(self) -> int:
        """Number of all ranks."""
        return self.hosts * self.ranks_per_host
