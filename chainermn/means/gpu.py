"""Means of gradients on GPUs, by MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer.backends import cuda
from chainermn._mpi import mpi
from chainermn.means.host_messages import messages_on
from chainermn.means.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainermn.means.buckets import Bucket
    from chainermn.means.transport import Channel, Steps


class OverHost(Transport):
    """Transport of gradients on GPUs by the memory of the host, with any MPI library.

    Args:
        channel (Channel): Where the messages travel.

    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._messages = messages_on(channel)

    def forget(self) -> None:
        self._messages.forget()

    def steps(self, buckets: Sequence[Bucket]) -> Steps:
        hosts = []
        for bucket in buckets:
            hosts.append(self._to_host(bucket.pack()))
            yield from self._messages.mean(bucket, hosts[-1])
        yield None  # backward may run in another stream than what follows it
        for bucket, host in zip(buckets, hosts):
            if isinstance(bucket.flat, chainerx.ndarray):
                bucket.flat[...] = chainerx.array(host, device=bucket.flat.device)
            else:
                bucket.flat.set(host)
            bucket.unpack()

    def _to_host(self, flat: Any) -> numpy.ndarray[Any, Any]:
        return cuda.to_cpu(flat)


class OverPinnedHost(OverHost):
    """Transport like :class:`OverHost` by pinned memory, which CuPy copies at full speed."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._pinned: dict[int, numpy.ndarray[Any, Any]] = {}  # bytes, by the address on the GPU

    def close(self) -> None:
        self._pinned.clear()

    def _to_host(self, flat: Any) -> numpy.ndarray[Any, Any]:
        if isinstance(flat, chainerx.ndarray):  # its backend has pinned memory of its own
            return super()._to_host(flat)
        # A bucket keeps its memory on the GPU, so its address finds its pinned memory again.
        address, n_bytes = flat.data.ptr, flat.nbytes
        if address not in self._pinned or self._pinned[address].size < n_bytes:
            memory = cuda.cupy.cuda.alloc_pinned_memory(n_bytes)
            self._pinned[address] = numpy.frombuffer(memory, numpy.uint8, n_bytes)
        host = self._pinned[address][:n_bytes].view(flat.dtype)
        # To pinned memory, CuPy copies in the background, and MPI reads the memory at once.
        flat.get(out=host)
        cuda.Stream.null.synchronize()
        return host


class CudaAware(OverHost):
    """Transport of CuPy's gradients by an MPI library that reads the memory of GPUs.

    Gradients that are sent as 16 or 8 bits, or are ChainerX's where CuPy is absent, go over the
    host.
    """

    def steps(self, buckets: Sequence[Bucket]) -> Steps:
        channel = self._channel
        for bucket in buckets:
            flat = bucket.pack()
            if bucket.wire is not None or isinstance(flat, chainerx.ndarray):
                yield from super().steps([bucket])
                continue
            # MPI reads the memory at once and knows nothing of streams.
            cuda.Stream.null.synchronize()
            yield [channel.mpi_comm.Iallreduce(mpi().IN_PLACE, flat)]
            yield None  # backward may run in another stream than what follows it
            flat *= flat.dtype.type(1 / channel.size)
            bucket.unpack()
