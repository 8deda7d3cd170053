"""Means of gradients on GPUs, by NCCL."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import chainerx
from chainer.backends import cuda
from chainermn import _messages, _nccl
from chainermn._recorder import recorder
from chainermn.means import dtypes, kernels
from chainermn.means.transport import Transport
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py import MPI

    from chainermn.means.buckets import Bucket
    from chainermn.means.transport import Steps


class Nccl(Transport):
    """Transport of gradients of CuPy and ChainerX by NCCL, each rank with a GPU of its own.

    NCCL only enqueues its work in the current stream, so no step waits for it. The watchdog is told
    how to see whether it is over.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator by which the ranks agree on one of NCCL.

    """

    def __init__(self, mpi_comm: MPI.Comm) -> None:
        self._mpi_comm = mpi_comm
        self._scale = 1 / mpi_comm.size
        #: NCCL's communicator for CuPy, made when the first gradients come.
        self.comm: Any = None
        self._group: Any = None  # the same for ChainerX where CuPy is absent
        self._event: Any = None  # after the last sum of CuPy
        self._is_done: Any = None  # tells the watchdog whether the last sum is over

    def check_dtype(self, dtype: str | None) -> None:
        if dtype == dtypes.INT8:
            raise ValueError(
                "NCCL adds no numbers of 8 bits with scales: use 'non_cuda_aware' to send "
                'gradients as int8'
            )

    def close(self) -> None:
        # Another communicator may have work of its own there.
        if recorder.is_gpu_done is self._is_done:
            recorder.is_gpu_done = None
        self._group = self._event = None
        # NCCL must not destroy a communicator whose sums still run.
        if self.comm is not None:
            cuda.Stream.null.synchronize()
            self.comm.destroy()
            self.comm = None

    def steps(self, buckets: Sequence[Bucket]) -> Steps:
        for bucket in buckets:
            flat = bucket.pack()
            # CuPy has bindings of NCCL. ChainerX has sums of its own where CuPy is absent.
            mean = self._mean_of_chainerx if isinstance(flat, chainerx.ndarray) else self._mean
            mean(flat, bucket.wire)
        yield None
        for bucket in buckets:
            bucket.unpack()

    def _mean(self, flat: Any, wire: str | None) -> None:
        if self.comm is None:
            self.comm = _nccl.init_nccl_comm(self._mpi_comm)
        nccl = _nccl.nccl_of_cupy()
        # Before the sum, which may overflow in 16 bits.
        flat *= flat.dtype.type(self._scale)
        if wire is None:
            sent = flat
            kind = nccl.NCCL_FLOAT64 if flat.dtype.itemsize == 8 else nccl.NCCL_FLOAT32
        else:
            sent = kernels.encode(flat, wire)
            kind = nccl.NCCL_FLOAT16 if wire == 'float16' else nccl.NCCL_BFLOAT16
        stream = cuda.cupy.cuda.get_current_stream()
        pointer = sent.data.ptr
        self.comm.allReduce(pointer, pointer, flat.size, kind, nccl.NCCL_SUM, stream.ptr)
        self._watch(stream)
        if wire is not None:
            flat[...] = kernels.decode(sent, wire)

    def _watch(self, stream: Any) -> None:
        """Lets the watchdog see whether the sums in a stream are over."""
        if self._event is None:
            self._event = cuda.cupy.cuda.Event(disable_timing=True)
            self._is_done = functools.partial(_is_done, self._event, cuda.Device())
        self._event.record(stream)
        recorder.is_gpu_done = self._is_done

    def _mean_of_chainerx(self, flat: Any, wire: str | None) -> None:
        if wire == 'bfloat16':
            raise RuntimeError('to send gradients of ChainerX as bfloat16, install CuPy')
        # All ranks make the group at their first gradients, which the name from rank 0 identifies.
        if self._group is None:
            name = None
            if self._mpi_comm.rank == 0:
                name = _internal.make_device_group_name(flat.device)
            join = _internal.DeviceGroup
            name = _messages.broadcast_object(self._mpi_comm, name, 0)
            self._group = join(flat.device, self._mpi_comm.size, name, self._mpi_comm.rank)
        flat *= self._scale
        sent = flat if wire is None else flat.astype(wire)
        self._group.sum_to_all(sent)
        stream = flat.device.current_stream
        recorder.is_gpu_done = self._is_done = lambda: stream.done
        if wire is not None:
            flat[...] = sent


def _is_done(event: Any, device: Any) -> bool:
    # The watchdog's thread has the first device, on which a call of CUDA would take memory even if
    # this process does not use it. So the thread stays on the other one.
    device.use()
    return bool(event.done)
