"""Means of gradients over several hosts, by messages within each host and then between hosts."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy

from chainermn.means import dtypes
from chainermn.means.buckets import parts_of
from chainermn.means.messages import Messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainermn.means.buckets import Bucket
    from chainermn.means.transport import Channel, Steps

    _Array = numpy.ndarray[Any, Any]


class HostMessages(Messages):
    r"""Transport for several ranks on each of several hosts.

    The ranks of a host share its network card. So they first compute the mean over the host, of
    which each gets a part. The ranks in the same place on all hosts compute the mean of this part,
    and then the ranks of a host give their parts to each other. For :math:`b` bytes, :math:`H`
    hosts and :math:`L` ranks on each, a card sends :math:`2 b (H - 1) / H`, and not
    :math:`2 b L (H - 1) / H`.

    One rank of a host, or of a column, computes each element, so all ranks get the same bits.

    Args:
        channel (Channel): Where the messages travel: one with ``hosts``.

    """

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        assert channel.hosts is not None
        assert channel.within is not None
        assert channel.between is not None
        self._hosts = channel.hosts
        self._within, self._between = channel.within, channel.between
        self._on_host, self._over_hosts = Messages(self._within), Messages(self._between)

    def forget(self) -> None:
        for messages in self._on_host, self._over_hosts:
            messages.forget()
        super().forget()

    def mean(self, bucket: Bucket, flat: _Array) -> Steps:
        # Residuals belong to what a rank sends itself.
        if bucket.wire == dtypes.INT8:
            yield from super().mean(bucket, flat)
            return
        # All tags at once: the ranks may get to the later steps of several means in any order.
        tag, over, shared = self._tags()
        parts = parts_of(flat.size, self._within.size)
        own = flat[parts[self._within.rank]]
        yield from self._on_host.own_mean_of(tag, flat, parts, None, own)
        own_parts = parts_of(own.size, self._between.size)
        yield from self._over_hosts.mean_of(over, own, own_parts, bucket.wire)
        yield self._on_host.share(shared, flat, parts)

    def own_mean(
        self, flat: _Array, parts: Sequence[slice], wire: str | None, result: _Array
    ) -> Steps:
        tag, over, _ = self._tags()
        # Such that the parts of the ranks in one place follow each other.
        columns = [[parts[i] for i in column] for column in zip(*self._hosts)]
        joined = numpy.concatenate([flat[part] for column in columns for part in column])
        sizes = [[part.stop - part.start for part in column] for column in columns]
        column_parts = _follow([sum(of_column) for of_column in sizes])
        own = joined[column_parts[self._within.rank]]
        yield from self._on_host.own_mean_of(tag, joined, column_parts, None, own)
        own_parts = _follow(sizes[self._within.rank])
        result[...] = own[own_parts[self._between.rank]]
        yield from self._over_hosts.own_mean_of(over, own, own_parts, wire, result)

    def _tags(self) -> tuple[int, int, int]:
        return self._within.next_tag(), self._between.next_tag(), self._within.next_tag()


def _follow(sizes: Sequence[int]) -> list[slice]:
    """Returns the parts of an array that have these sizes and follow each other."""
    bounds = [0, *itertools.accumulate(sizes)]
    return [slice(a, b) for a, b in zip(bounds, bounds[1:])]


def messages_on(channel: Channel) -> Messages:
    """Returns the transport by messages of a channel."""
    return Messages(channel) if channel.hosts is None else HostMessages(channel)
