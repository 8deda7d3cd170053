"""Functions of Chainer 7 that pack gradients into memory of hosts and GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.autograd import variable_gradient
from chainer.backends import cuda
from chainermn import _arrays
from chainermn._mpi import mpi
from chainermn.means import gradients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.link import Link
    from chainer.types import NdArray
    from chainer.variable import Parameter


class ParamsData:
    """Sizes of the arrays of parameters.

    Args:
        params: Parameters.
        attr_name (str): ``'data'`` or ``'grad'``.
        zero_fill (bool): Whether to fill missing gradients with zeros.

    Attributes:
        n_params (int): Number of parameters.
        n_elems (int): Number of elements.
        size_csum (numpy.ndarray): Where each array begins in the packed memory, and the end.
        dtype (numpy.ndarray): Dtype of each array.

    """

    def __init__(self, params: Sequence[Parameter], attr_name: str, zero_fill: bool) -> None:
        arrays = _arrays_of(params, attr_name, zero_fill)
        sizes = [array.size for array in arrays]
        self.n_params = len(arrays)
        self.n_elems = sum(sizes)
        self.size_csum = numpy.cumsum([0, *sizes])
        self.dtype = numpy.array([numpy.dtype(array.dtype) for array in arrays], object)


def _arrays_of(params: Sequence[Parameter], attr_name: str, zero_fill: bool) -> list[Any]:
    if zero_fill and attr_name == 'grad':
        for param in params:
            if param.grad is None:
                variable_gradient.fill_grad(param)
    return [backend.from_chx(getattr(param, attr_name)) for param in params]


class _Memory:
    """Memory that grows."""

    def __init__(self) -> None:
        self.size = 0
        self.memory: Any = None

    def assign(self, size: int) -> None:
        """Makes the memory at least ``size`` bytes long."""
        if size > self.size:
            self.memory = self._allocate(size)
            self.size = size

    def _allocate(self, size: int) -> Any:
        raise NotImplementedError


class HostPinnedMemory(_Memory):
    """Pinned memory of the host, which GPUs copy from and to at full speed."""

    def _allocate(self, size: int) -> Any:
        return cuda.cupy.cuda.alloc_pinned_memory(size)

    def ptr(self, offset: int = 0) -> int:
        """Returns the address of a byte."""
        return self.memory.ptr + offset

    def buffer(self, size: int) -> Any:
        """Returns the first ``size`` bytes as an object with the buffer protocol."""
        return numpy.frombuffer(self.memory, numpy.uint8, size)

    def array(
        self, count: int, offset: int = 0, dtype: Any = numpy.float32
    ) -> numpy.ndarray[Any, Any]:
        """Returns an array of ``count`` elements that begins at a byte."""
        return numpy.frombuffer(self.memory, dtype, count, offset)


class DeviceMemory(_Memory):
    """Memory of the current GPU."""

    def _allocate(self, size: int) -> Any:
        return cuda.cupy.cuda.alloc(size)

    def from_device(self, src: Any, size: int, offset: int = 0, stream: Any = None) -> None:
        """Copies ``size`` bytes of an array on the GPU into the memory."""
        (self.memory + offset).copy_from_device_async(src.data, size, _stream(stream))

    def to_device(self, dst: Any, size: int, offset: int = 0, stream: Any = None) -> None:
        """Copies ``size`` bytes of the memory into an array on the GPU."""
        dst.data.copy_from_device_async(self.memory + offset, size, _stream(stream))

    def ptr(self) -> int:
        """Returns the address."""
        return self.memory.ptr

    def buffer(self, size: int) -> Any:
        """Returns the first ``size`` bytes as a buffer for a CUDA-aware MPI library."""
        return mpi().buffer.fromaddress(self.ptr(), size)

    def array(self, shape: Any, offset: int = 0, dtype: Any = numpy.float32) -> Any:
        """Returns an array that begins at a byte."""
        return cuda.cupy.ndarray(shape, dtype, self.memory + offset)


def _stream(stream: Any) -> Any:
    return cuda.Stream.null if stream is None else stream


def extract_params_set_data(model: Link) -> list[Parameter]:
    """Returns the initialized parameters of a model, in an order that all ranks share."""
    return [param for _, param in gradients.initialized_params(model)]


def extract_params_set_grad(model: Link, zero_fill: bool) -> list[Parameter]:
    """Returns the parameters whose gradients are sent.

    Args:
        model (chainer.Link): Model.
        zero_fill (bool): Whether those without a gradient count.

    """
    return [
        param
        for _, param in gradients.initialized_params(model)
        if zero_fill or param.grad is not None
    ]


def count_grad_elements(params: Sequence[Parameter], zero_fill: bool) -> int:
    """Returns the number of elements of the gradients."""
    return sum([param.size for param in params if zero_fill or param.grad is not None])


def pack_params(
    params: Sequence[Parameter],
    attr_name: str,
    buffer: Any,
    transfer_dtype: Any,
    zero_fill: bool,
    stream: Any = None,
) -> None:
    """Copies arrays of parameters into memory, one after the other.

    Args:
        params: Parameters.
        attr_name (str): ``'data'`` or ``'grad'``.
        buffer (DeviceMemory or HostPinnedMemory): Memory.
        transfer_dtype: Dtype in the memory.
        zero_fill (bool): Whether to fill missing gradients with zeros.
        stream (cupy.cuda.Stream): Not used: copies are in the current stream.

    """
    for piece, array in _pieces(params, attr_name, buffer, transfer_dtype, zero_fill):
        piece[...] = array


def unpack_params(
    params: Sequence[Parameter],
    attr_name: str,
    buffer: Any,
    transfer_dtype: Any,
    zero_fill: bool,
    stream: Any = None,
) -> None:
    """Copies memory into arrays of parameters: the inverse of :func:`pack_params`."""
    for piece, array in _pieces(params, attr_name, buffer, transfer_dtype, zero_fill):
        array[...] = piece


def _pieces(params: Any, attr_name: str, buffer: Any, transfer_dtype: Any, zero_fill: bool) -> Any:
    arrays = _arrays_of(params, attr_name, zero_fill)
    flat = buffer.array(sum([a.size for a in arrays]), dtype=transfer_dtype)
    start = 0
    for array in arrays:
        yield flat[start : start + array.size].reshape(array.shape), array
        start += array.size


def array_to_buffer_object(array: NdArray, mpi_dtype: Any = None) -> Any:
    """Returns what mpi4py takes to read or write an array.

    Args:
        array: Contiguous array of NumPy, CuPy or ChainerX.
        mpi_dtype (mpi4py.MPI.Datatype): Type of the elements, ``MPI.FLOAT`` by default.

    """
    array = backend.from_chx(array)
    mpi_dtype = mpi().FLOAT if mpi_dtype is None else mpi_dtype
    if isinstance(array, numpy.ndarray):
        return [array, mpi_dtype]
    return [mpi().buffer.fromaddress(get_device_memory_pointer(array), array.nbytes), mpi_dtype]


def get_device_memory_pointer(array: NdArray) -> int:
    """Returns the address of the first element of an array of NumPy, CuPy or ChainerX."""
    return _arrays.address(backend.from_chx(array))
