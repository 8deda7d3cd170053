"""The calls over MPI that all communicators share."""

from __future__ import annotations

import functools
import operator
import warnings
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer.backends import cuda
from chainermn import _checks
from chainermn._mpi import mpi
from chainermn.communicators import (
    _arrays,
    _communication_utility,
    _gradients,
    _messages,
    _reduction,
    _shared_rows,
)
from chainermn.communicators.communicator_base import CommunicatorBase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.link import Link
    from chainer.types import NdArray

# Models whose buckets stay: several train in turn, such as a generator and a discriminator.
_N_MODELS = 4
# MPI promises tags up to this number. Pairs of tags number the means on their way.
_LAST_TAG = 32766


class MpiCommunicatorBase(CommunicatorBase):
    """Base class of the communicators, with every call over MPI.

    Arrays on GPUs are copied to the memory of the host first, so any MPI library will do.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI; by default that of all processes.

    Attributes:
        mpi_comm: The communicator of MPI.

    """

    #: Most bytes of several gradients that are sent together (``None``: any number).
    _bucket_bytes: int | None = None

    def __init__(self, mpi_comm: Any) -> None:
        super().__init__()
        self.mpi_comm: Any = mpi().COMM_WORLD if mpi_comm is None else mpi_comm
        # Calls on arrays and gradients must not meet the messages of the program.
        self._arrays_comm = self.mpi_comm.Dup()
        self._means_comm = self.mpi_comm.Dup()
        self._checker = _checks.Checker(self.mpi_comm)
        ranks = _communication_utility.init_ranks(self.mpi_comm)
        _, self._intra_rank, self._intra_size, self._inter_rank, self._inter_size = ranks
        self._can_share = 1 < self._intra_size == self.size
        self._tag = 0
        self._buckets: dict[Any, list[_gradients.Bucket]] = {}
        self._memory = _reduction.Memory()
        self._configs['batched_copy'] = True
        self._configs['allreduce_grad_dtype'] = None

    @property
    def rank(self) -> int:
        return self.mpi_comm.rank

    @property
    def size(self) -> int:
        return self.mpi_comm.size

    @property
    def intra_rank(self) -> int:
        return self._intra_rank

    @property
    def intra_size(self) -> int:
        return self._intra_size

    @property
    def inter_rank(self) -> int:
        return self._inter_rank

    @property
    def inter_size(self) -> int:
        return self._inter_size

    # -- configuration

    def set_config(self, name: str, value: Any = True, **kwargs: Any) -> None:
        """Sets a configuration value.

        Args:
            name (str): ``'allreduce_grad_dtype'``, the dtype in which gradients are sent:
                ``float16``, ``'bfloat16'``, ``float32``, ``float64``, or ``None`` for that of the
                gradients. Or ``'batched_copy'``, which has no effect.
            value: The value.

        Raises:
            ValueError: If there is no such value, or a dtype is not supported.
            TypeError: If there are further arguments.

        """
        if kwargs:
            raise TypeError(f'set_config got unexpected arguments: {", ".join(sorted(kwargs))}')
        if name == 'allreduce_grad_dtype':
            value = _name_of_dtype(value)
            self._forget_buckets()
        elif name == 'batched_copy':
            warnings.warn(
                "The configuration 'batched_copy' is deprecated: copies are always batched.",
                DeprecationWarning,
                stacklevel=2,
            )
        else:
            super().set_config(name)
        self._configs[name] = value

    def get_config(self, name: str | None = None) -> Any:
        value = super().get_config(name)
        if name == 'allreduce_grad_dtype' and value not in (None, 'bfloat16'):
            return numpy.dtype(value)
        return value

    def split(self, color: int, key: int) -> MpiCommunicatorBase:
        self._check('split')
        new = type(self)(self.mpi_comm.Split(color, key))
        for name, value in self._configs.items():
            if name in new._configs:
                new._configs[name] = value
            else:
                with new.config_scope():
                    setattr(new, name, value)
        return new

    def finalize(self) -> None:
        self._forget_buckets()
        # MPI libraries have some thousands of communicators.
        for mpi_comm in self._arrays_comm, self._means_comm, self._checker.mpi_comm:
            if mpi_comm != mpi().COMM_NULL:
                mpi_comm.Free()

    def _check(self, call: str, *details: Any) -> None:
        """Raises an error in debug mode if ranks make different calls."""
        if self._checker.is_on():
            self._checker.check(call, details)

    # -- arrays

    def send(self, data: NdArray | tuple[NdArray, ...], dest: int, tag: int = 0) -> None:
        arrays = data if isinstance(data, (tuple, list)) else (data,)
        _arrays.check_arrays(arrays, 'send', 'data')
        self._check_rank('send', 'dest', dest)
        specs = [_arrays.spec_of(array) for array in arrays]
        head = isinstance(data, (tuple, list)), specs
        _messages.send_object(self._arrays_comm, head, dest, tag)
        for array in arrays:
            for part in _messages.parts(_arrays.to_host(array)):
                self._arrays_comm.Send(part, dest, tag)

    def recv(self, source: int, tag: int = 0) -> Any:
        self._check_rank('recv', 'source', source)
        if self._checker.is_on():
            self._checker.wait_for_message(self._arrays_comm, source, tag, 'recv')
        is_tuple, specs = _messages.receive_object(self._arrays_comm, source, tag)
        arrays = []
        for spec in specs:
            array = _arrays.empty(spec)
            for part in _messages.parts(array):
                self._arrays_comm.Recv(part, source, tag)
            arrays.append(_arrays.from_host(array, spec.device))
        return tuple(arrays) if is_tuple else arrays[0]

    def bcast(self, x: Any, root: int = 0) -> Any:  # type: ignore[override]
        self._check_rank('bcast', 'root', root)
        spec = None
        if self.rank == root:
            _arrays.check_array(x, 'bcast', 'x')
            spec = _arrays.spec_of(x)
        self._check('bcast', root)
        spec = _messages.broadcast_object(self._arrays_comm, spec, root)
        array = _arrays.to_host(x) if self.rank == root else _arrays.empty(spec)
        for part in _messages.parts(array):
            self._arrays_comm.Bcast(part, root)
        return x if self.rank == root else _arrays.from_host(array, spec.device)

    def gather(self, x: NdArray, root: int = 0) -> tuple[NdArray, ...] | None:
        _arrays.check_array(x, 'gather', 'x')
        self._check_rank('gather', 'root', root)
        self._check('gather', root)
        outgoing: list[Any] = [None] * self.size
        outgoing[root] = x
        arrays = self._exchange(outgoing)
        return arrays if self.rank == root else None

    def allgather(self, x: NdArray) -> tuple[NdArray, ...]:
        _arrays.check_array(x, 'allgather', 'x')
        self._check('allgather')
        return self._exchange([x] * self.size)

    def alltoall(self, xs: Sequence[NdArray]) -> tuple[NdArray, ...]:
        _arrays.check_arrays(xs, 'alltoall', 'xs', self.size)
        self._check('alltoall')
        return self._exchange(xs)

    def scatter(self, xs: Sequence[NdArray] | None, root: int = 0) -> NdArray:
        self._check_rank('scatter', 'root', root)
        outgoing: Any = [None] * self.size
        if self.rank == root:
            outgoing = xs
            if not isinstance(xs, (tuple, list)):
                _arrays.check_array(xs, 'scatter', 'xs')
                outgoing = [*xs] if xs.ndim else ()  # type: ignore[union-attr, misc]
            _arrays.check_arrays(outgoing, 'scatter', 'xs', self.size)
        self._check('scatter', root)
        return self._exchange(outgoing)[root]

    def allreduce(self, x: NdArray) -> NdArray:
        _arrays.check_array(x, 'allreduce', 'x')
        if x.dtype.kind == 'b':
            raise TypeError('allreduce: x must be of numbers to add, not of dtype bool')
        self._check('allreduce', tuple(x.shape), x.dtype.name)
        array = _arrays.to_host(x)
        dtype = numpy.promote_types(array.dtype, numpy.float32)
        total = array.astype(dtype if array.dtype.kind == 'f' else array.dtype)
        for part in _messages.parts(total):
            self._arrays_comm.Allreduce(mpi().IN_PLACE, part.view(total.dtype))
        return _arrays.like(total.astype(array.dtype, copy=False), x)

    def _exchange(self, outgoing: Sequence[Any]) -> tuple[Any, ...]:
        """Sends an array to each rank, where it is not ``None``; returns those for this one."""
        specs = [None if x is None else _arrays.spec_of(x) for x in outgoing]
        incoming_specs = self._arrays_comm.alltoall(specs)
        hosts: dict[int, Any] = {}  # one array may go to several ranks
        for x in outgoing:
            if x is not None and id(x) not in hosts:
                hosts[id(x)] = _arrays.to_host(x)
        incoming = [None if spec is None else _arrays.empty(spec) for spec in incoming_specs]
        others = [i for i in range(self.size) if i != self.rank]
        _messages.exchange(
            self._arrays_comm,
            [(i, hosts[id(outgoing[i])]) for i in others if outgoing[i] is not None],
            [(i, incoming[i]) for i in others if incoming[i] is not None],
        )
        if outgoing[self.rank] is not None:
            incoming[self.rank] = hosts[id(outgoing[self.rank])].copy()
        return tuple(
            [
                None if array is None else _arrays.from_host(array, spec.device)
                for array, spec in zip(incoming, incoming_specs)
            ]
        )

    def _check_rank(self, call: str, argument: str, rank: int) -> None:
        if not 0 <= rank < self.size:
            raise ValueError(
                f'{call}: {argument} must be a rank from 0 to {self.size - 1}, not {rank}'
            )

    # -- objects

    def send_obj(self, obj: Any, dest: int, tag: int = 0) -> None:
        self._check_rank('send_obj', 'dest', dest)
        _messages.send_object(self.mpi_comm, obj, dest, tag)

    def recv_obj(  # type: ignore[override]
        self, source: int, status: Any = None, tag: int | None = None
    ) -> Any:
        """Receives what a rank sends with :meth:`send_obj`.

        Args:
            source (int): Rank that sends, or ``MPI.ANY_SOURCE``.
            status (mpi4py.MPI.Status): Gets the source and the tag of the message.
            tag (int): Number that the sender gives, too; by default any.

        Returns:
            The object.

        """
        tag = mpi().ANY_TAG if tag is None else tag
        if self._checker.is_on():
            self._checker.wait_for_message(self.mpi_comm, source, tag, 'recv_obj')
        return _messages.receive_object(self.mpi_comm, source, tag, status)

    def bcast_obj(self, obj: Any, max_buf_len: int | None = _messages.LIMIT, root: int = 0) -> Any:
        self._check_rank('bcast_obj', 'root', root)
        self._check('bcast_obj', root)
        return _messages.broadcast_object(self._arrays_comm, obj, root, max_buf_len)

    def gather_obj(self, obj: Any, root: int = 0) -> list[Any] | None:
        self._check_rank('gather_obj', 'root', root)
        self._check('gather_obj', root)
        return _messages.gather_objects(self._arrays_comm, obj, root)

    def allgather_obj(self, obj: Any) -> list[Any]:
        """Sends an object of each rank to all ranks; collective.

        Returns:
            list: One object from each rank.

        """
        self._check('allgather_obj')
        objects = _messages.gather_objects(self._arrays_comm, obj, 0)
        return _messages.broadcast_object(self._arrays_comm, objects, 0)

    def allreduce_obj(self, obj: Any) -> Any:
        self._check('allreduce_obj')
        objects = _messages.gather_objects(self._arrays_comm, obj, 0)
        total = None if objects is None else functools.reduce(operator.add, objects)
        return _messages.broadcast_object(self._arrays_comm, total, 0)

    # -- models

    def bcast_data(self, model: Link) -> None:
        params = _gradients.sorted_params(model)
        own = [(name, _arrays.spec_of(param.array)[:2]) for name, param in params]
        self._check('bcast_data')
        # All ranks get all lists, so that all of them raise the error.
        for rank, other in enumerate(self.allgather_obj(own)):
            _check_same_params(self.rank, own, rank, other)
        for _, param in params:
            host = _arrays.to_host(param.array)
            if self.rank and not host.flags.writeable:
                host = host.copy()
            for part in _messages.parts(host):
                self._arrays_comm.Bcast(part, 0)
            array = _arrays.plain(param.array)
            if self.rank and array is not host:
                array[...] = _arrays.like(host, array)

    def multi_node_mean_grad(self, model: Link, zero_fill: bool = False) -> None:
        buckets = self._buckets_of(_gradients.params_with_grad(model, zero_fill))
        self._check('multi_node_mean_grad', [(b.dtype.name, b.wire, b.size) for b in buckets])
        if self.size == 1:
            return
        self._share_memory(buckets)
        for mean in self._start_means_of(buckets):
            mean.wait()
        for bucket in buckets:
            bucket.unpack()

    def _forget_buckets(self) -> None:
        self._buckets.clear()
        self._memory = _reduction.Memory()

    def _buckets_of(self, params: Sequence[Any]) -> list[_gradients.Bucket]:
        """Buckets of parameters, with the memory of the previous call for the same ones."""
        key = tuple([(id(param), param.device) for param in params])
        buckets = self._buckets.get(key)
        if buckets is None:
            setting = self._configs['allreduce_grad_dtype']
            buckets = _gradients.make_buckets(params, setting, self._bucket_bytes)
            if len(self._buckets) == _N_MODELS:
                self._forget_buckets()
            self._buckets[key] = buckets
        return buckets

    def _share_memory(self, buckets: Sequence[_gradients.Bucket]) -> None:
        """Gives buckets memory that the ranks share, if all are on one host; collective."""
        if not self._can_share:
            return
        buckets = [bucket for bucket in buckets if bucket.can_share]
        lacks = not all([bucket.rows for bucket in buckets])
        # Another rank may have new buckets.
        if self._means_comm.allreduce(lacks, mpi().LOR):
            rows = self._make_rows([(bucket.size, bucket.dtype) for bucket in buckets])
            for bucket, of_bucket in zip(buckets, rows):
                bucket.share(of_bucket, self.rank)

    def _make_slots(self, buckets: Sequence[_gradients.Bucket]) -> _shared_rows.Slots | None:
        """Makes slots for large gradients, if all ranks are on one host; collective."""
        sizes = [bucket.slot_bytes for bucket in buckets if bucket.slot_bytes]
        if not (self._can_share and sizes and chainerx.is_available()):
            return None
        rows = self._make_rows([(n_bytes, numpy.dtype(numpy.uint8)) for n_bytes in sizes])
        return _shared_rows.Slots(self.rank, rows) if rows else None

    def _make_rows(self, specs: Any) -> list[list[numpy.ndarray[Any, Any]]]:
        rows = _shared_rows.make_rows(self._means_comm, specs)
        self._can_share = rows is not None
        return rows or []

    def _start_means_of(
        self, buckets: Sequence[_gradients.Bucket], slots: _shared_rows.Slots | None = None
    ) -> list[Any]:
        """Starts to replace the gradients of buckets by their means over the ranks.

        Args:
            buckets: Buckets.
            slots: Memory where gradients may be.

        Returns:
            Objects with the methods ``test`` and ``wait``.

        """
        # While the first ones are sent, the next ones are packed.
        means = [self._start_mean(b.pack(), b.wire) for b in buckets if not b.rows]
        shared = [bucket for bucket in buckets if bucket.rows]
        if shared:
            for bucket in shared:
                bucket.pack()
            tag = self._next_tag()
            means.append(_reduction.SharedMean(self._means_comm, tag, shared, slots))
        return means

    def _start_mean(self, flat: Any, wire: str | None) -> Any:
        if isinstance(flat, numpy.ndarray):
            return _reduction.Mean(self._means_comm, self._next_tag(), flat, wire, self._memory)
        return self._start_mean_on_gpu(flat, wire)

    def _start_mean_on_gpu(self, flat: Any, wire: str | None) -> Any:
        host = cuda.to_cpu(flat)
        return MeanOverHost(self._start_mean(host, wire), host, flat)

    def _next_tag(self) -> int:
        self._tag = (self._tag + 2) % _LAST_TAG
        return self._tag


class MeanOverHost:
    """Mean of an array on a GPU that goes through the memory of the host."""

    def __init__(self, mean: Any, host: Any, flat: Any) -> None:
        self._mean = mean
        self._host = host
        self._flat = flat
        self.test: Any = mean.test

    def wait(self) -> None:
        self._mean.wait()
        if isinstance(self._flat, chainerx.ndarray):
            self._flat[...] = chainerx.array(self._host, device=self._flat.device)
        else:
            self._flat.set(self._host)


def _name_of_dtype(value: Any) -> str | None:
    if value is None:
        return None
    name = value if value == 'bfloat16' else numpy.dtype(value).name
    if name not in ('float16', 'bfloat16', 'float32', 'float64'):
        raise ValueError(
            "allreduce_grad_dtype must be float16, 'bfloat16', float32, float64 or None, "
            f'not {name}'
        )
    return name


def _check_same_params(rank: int, own: list[Any], other_rank: int, other: list[Any]) -> None:
    if own == other:
        return
    mine, theirs = dict(own), dict(other)
    for name in sorted({*mine, *theirs}):
        if mine.get(name) != theirs.get(name):
            raise ValueError(
                f'bcast_data: parameter {name} is {_describe(mine.get(name))} on rank {rank}, but '
                f'{_describe(theirs.get(name))} on rank {other_rank}'
            )


def _describe(spec: Any) -> str:
    return 'missing or not initialized' if spec is None else f'of shape {spec[0]} and {spec[1]}'
