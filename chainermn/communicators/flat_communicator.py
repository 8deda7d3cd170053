"""Communicator that gives joined gradients to MPI where they are."""

from __future__ import annotations

from typing import Any

import chainerx
from chainer.backends import cuda
from chainermn._mpi import mpi
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class FlatCommunicator(MpiCommunicatorBase):
    """Communicator that gives joined gradients to MPI where they are.

    Gradients on GPUs need an MPI library that reads the memory of GPUs ("CUDA-aware"); those that
    are sent as 16 bits, or are ChainerX's where CuPy is absent, go over the host.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI.

    """

    def _start_mean_on_gpu(self, flat: Any, wire: str | None) -> Any:
        if wire is not None or isinstance(flat, chainerx.ndarray):
            return super()._start_mean_on_gpu(flat, wire)
        cuda.Stream.null.synchronize()
        return _DeviceMean(self._means_comm, flat)


class _DeviceMean:
    """Mean of a CuPy array in its memory."""

    def __init__(self, mpi_comm: Any, flat: Any) -> None:
        self._flat = flat
        self._scale = flat.dtype.type(1 / mpi_comm.size)
        self._request = mpi_comm.Iallreduce(mpi().IN_PLACE, flat)

    def test(self) -> bool:
        return self._request.Test()

    def wait(self) -> None:
        self._request.Wait()
        self._flat *= self._scale
