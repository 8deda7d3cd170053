"""Communicator that sends joined gradients between GPUs by NCCL."""

from __future__ import annotations

from typing import Any

import chainerx
from chainer.backends import cuda
from chainermn.communicators import _communication_utility, _kernels
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class PureNcclCommunicator(MpiCommunicatorBase):
    """Communicator that sends joined gradients between GPUs by NCCL.

    Each process needs a GPU of its own, of CuPy or ChainerX. Gradients on the host, and all other
    calls, go over MPI, so a program without GPUs may use it, too.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI.

    """

    def __init__(self, mpi_comm: Any) -> None:
        super().__init__(mpi_comm)
        self.nccl_comm: Any = None  # made when the first gradients on GPUs come
        self._group: Any = None  # the same where ChainerX has to do without CuPy

    def finalize(self) -> None:
        super().finalize()
        self._group = None
        if self.nccl_comm is not None:
            cuda.Stream.null.synchronize()
            self.nccl_comm.destroy()
            self.nccl_comm = None

    def _start_mean_on_gpu(self, flat: Any, wire: str | None) -> Any:
        if isinstance(flat, chainerx.ndarray):
            return self._start_mean_by_chainerx(flat, wire)
        if self.nccl_comm is None:
            self.nccl_comm = _communication_utility.init_nccl_comm(self.mpi_comm)
        nccl = _communication_utility.nccl_of_cupy()
        flat *= flat.dtype.type(1 / self.size)  # before the sum, which might overflow in 16 bits
        if wire is None:
            sent = flat
            kind = nccl.NCCL_FLOAT64 if flat.dtype.itemsize == 8 else nccl.NCCL_FLOAT32
        else:
            sent = _kernels.encode(flat, wire)
            kind = nccl.NCCL_FLOAT16 if wire == 'float16' else nccl.NCCL_BFLOAT16
        stream = cuda.cupy.cuda.get_current_stream()
        pointer = sent.data.ptr
        self.nccl_comm.allReduce(pointer, pointer, flat.size, kind, nccl.NCCL_SUM, stream.ptr)
        if wire is not None:
            flat[...] = _kernels.decode(sent, wire)
        return _Enqueued()

    def _start_mean_by_chainerx(self, flat: Any, wire: str | None) -> Any:
        if wire == 'bfloat16':
            raise RuntimeError('to send gradients of ChainerX as bfloat16, install CuPy')
        if self._group is None:
            join = chainerx._core._DeviceGroup
            name = None
            if self.rank == 0:
                name = chainerx._core._make_device_group_name(flat.device)
            self._group = join(flat.device, self.size, self.mpi_comm.bcast(name), self.rank)
        flat *= 1 / self.size
        sent = flat if wire is None else flat.astype(wire)
        self._group.sum_to_all(sent)
        if wire is not None:
            flat[...] = sent
        return _Enqueued()


class _Enqueued:
    """Mean whose work is in the stream, before whatever reads it."""

    def test(self) -> bool:
        return True

    def wait(self) -> None:
        pass
