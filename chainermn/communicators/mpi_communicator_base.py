"""Base class of the communicators."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

from chainermn import _arrays, _checks, _messages, _watchdog, means
from chainermn._mpi import mpi
from chainermn._recorder import Calls, watched
from chainermn.communicators import _array_calls, _communication_utility, _parameters
from chainermn.communicators._configuration import GradientConfiguration
from chainermn.communicators.communicator_base import CommunicatorBase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py import MPI

    from chainer.link import Link
    from chainer.types import NdArray


class MpiCommunicatorBase(GradientConfiguration, CommunicatorBase):
    """Base class of the communicators, which implements all calls over MPI.

    Arrays on GPUs are copied to host memory first, so any MPI library will do.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI; by default that of all processes.

    Attributes:
        mpi_comm: The communicator of MPI.
        arrays_comm: A copy of it for calls on arrays, apart from the messages of the program.
        background_comm: Another one, for messages between threads in the background.
        reducer (chainermn.means.Reducer): What averages gradients.
        calls (chainermn._recorder.Calls): What the watchdog notes.

    """

    def __init__(self, mpi_comm: MPI.Comm | None) -> None:
        super().__init__()
        self.mpi_comm: Any = mpi().COMM_WORLD if mpi_comm is None else mpi_comm
        self.calls: Calls = Calls(self.mpi_comm)
        _watchdog.start()
        with self.calls.watching('create_communicator'):
            self._connect()

    def _connect(self) -> None:
        """Makes what belongs to the communicator; collective."""
        self.arrays_comm: Any = self.mpi_comm.Dup()
        means_comm = self.mpi_comm.Dup()
        self._checker = _checks.Checker(self.mpi_comm)
        # The checks make collective calls only, which messages do not meet.
        self.background_comm: Any = self._checker.mpi_comm
        self._own_comms = [self.arrays_comm, means_comm, self._checker.mpi_comm]
        ranks = _communication_utility.init_ranks(self.mpi_comm)
        _, self._intra_rank, self._intra_size, self._inter_rank, self._inter_size = ranks
        is_one_host = 1 < self._intra_size == self.size
        hosts = _communication_utility.find_hosts(self.mpi_comm, self._inter_rank)
        self._channel = means.Channel(means_comm, self._checker, is_one_host, hosts)
        self.reducer: means.Reducer = self.make_reducer(self._channel)

    def make_reducer(self, channel: means.Channel) -> means.Reducer:
        """Chooses how gradients are averaged."""
        return means.Reducer(channel, means.OverHost(channel))

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

    @watched
    def split(self, color: int, key: int) -> MpiCommunicatorBase:
        self._check('split')
        new = type(self)(self.mpi_comm.Split(color, key))
        for name, value in self._configs.items():
            if name in new._configs:
                new._store_config(name, value)
            else:
                with new.config_scope():
                    setattr(new, name, value)
        return new

    @watched
    def finalize(self) -> None:
        # MPI libraries have a limited number of communicators, such as 2048.
        for mpi_comm in self._own_comms:
            if mpi_comm != mpi().COMM_NULL:
                mpi_comm.Free()
        self._channel.free()
        self.reducer.close()

    def _check(self, call: str, *details: Any) -> None:
        """Raises an error in debug mode if ranks make different calls."""
        if self._checker.is_on():
            self._checker.check(call, details)

    def _check_message(self, call: str, data: Any, dest: int) -> None:
        arrays = data if isinstance(data, (tuple, list)) else (data,)
        _arrays.check_arrays(arrays, call, 'data')
        self._check_rank(call, 'dest', dest)

    def _check_rank(self, call: str, argument: str, rank: int) -> None:
        _checks.check_rank(self.size, call, argument, rank)

    # -- arrays

    @watched
    def send(self, data: NdArray | tuple[NdArray, ...], dest: int, tag: int = 0) -> None:
        self._check_message('send', data, dest)
        _array_calls.send(self.arrays_comm, data, dest, tag)

    def start_send(self, data: NdArray | tuple[NdArray, ...], dest: int, tag: int = 0) -> list[Any]:
        """Starts to send as :meth:`send` does, and waits for nobody.

        Returns:
            list: Requests of MPI. The arrays may change before they complete.

        """
        self._check_message('start_send', data, dest)
        return _array_calls.start_send(self.arrays_comm, data, dest, tag)

    @watched
    def recv(self, source: int, tag: int = 0) -> Any:
        self._check_rank('recv', 'source', source)
        if self._checker.is_on():
            self._checker.wait_for_message(self.arrays_comm, source, tag, 'recv')
        return _array_calls.receive(self.arrays_comm, source, tag)

    @watched
    def bcast(self, x: NdArray | None, root: int = 0) -> Any:  # type: ignore[override]
        self._check_rank('bcast', 'root', root)
        if self.rank == root:
            _arrays.check_array(x, 'bcast', 'x')
        self._check('bcast', root)
        return _array_calls.broadcast(self.arrays_comm, x, root)

    @watched
    def gather(self, x: NdArray, root: int = 0) -> tuple[NdArray, ...] | None:
        _arrays.check_array(x, 'gather', 'x')
        self._check_rank('gather', 'root', root)
        self._check('gather', root)
        outgoing: list[Any] = [None] * self.size
        outgoing[root] = x
        arrays = _array_calls.exchange(self.arrays_comm, outgoing)
        return arrays if self.rank == root else None

    @watched
    def allgather(self, x: NdArray) -> tuple[NdArray, ...]:
        _arrays.check_array(x, 'allgather', 'x')
        self._check('allgather')
        return _array_calls.exchange(self.arrays_comm, [x] * self.size)

    @watched
    def alltoall(self, xs: Sequence[NdArray]) -> tuple[NdArray, ...]:
        _arrays.check_arrays(xs, 'alltoall', 'xs', self.size)
        self._check('alltoall')
        return _array_calls.exchange(self.arrays_comm, xs)

    @watched
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
        return _array_calls.exchange(self.arrays_comm, outgoing)[root]

    @watched
    def allreduce(self, x: NdArray) -> NdArray:
        _arrays.check_array(x, 'allreduce', 'x')
        if x.dtype.kind == 'b':
            raise TypeError('allreduce: x must be of numbers to add, not of dtype bool')
        self._check('allreduce', tuple(x.shape), x.dtype.name)
        return _array_calls.add(self.arrays_comm, x)

    # -- objects

    @watched
    def send_obj(self, obj: object, dest: int, tag: int = 0) -> None:
        self._check_rank('send_obj', 'dest', dest)
        _messages.send_object(self.mpi_comm, obj, dest, tag)

    @watched
    def recv_obj(  # type: ignore[override]
        self, source: int, status: MPI.Status | None = None, tag: int | None = None
    ) -> Any:
        """Receives what a rank sends with :meth:`send_obj`.

        Args:
            source (int): Rank that sends, or ``MPI.ANY_SOURCE``.
            status (mpi4py.MPI.Status): Gets the source and the tag of the message.
            tag (int): Tag that the sender passes; by default any.

        Returns:
            The object.

        """
        tag = mpi().ANY_TAG if tag is None else tag
        if self._checker.is_on():
            self._checker.wait_for_message(self.mpi_comm, source, tag, 'recv_obj')
        return _messages.receive_object(self.mpi_comm, source, tag, status)

    @watched
    def bcast_obj(
        self, obj: object, max_buf_len: int | None = _messages.LIMIT, root: int = 0
    ) -> Any:
        self._check_rank('bcast_obj', 'root', root)
        self._check('bcast_obj', root)
        return _messages.broadcast_object(self.arrays_comm, obj, root, max_buf_len)

    @watched
    def gather_obj(self, obj: object, root: int = 0) -> list[Any] | None:
        self._check_rank('gather_obj', 'root', root)
        self._check('gather_obj', root)
        return _messages.gather_objects(self.arrays_comm, obj, root)

    @watched
    def allgather_obj(self, obj: object) -> list[Any]:
        """Sends an object of each rank to all ranks; collective.

        Returns:
            list: One object from each rank.

        """
        self._check('allgather_obj')
        objects = _messages.gather_objects(self.arrays_comm, obj, 0)
        return _messages.broadcast_object(self.arrays_comm, objects, 0)

    @watched
    def allreduce_obj(self, obj: object) -> Any:
        self._check('allreduce_obj')
        objects = _messages.gather_objects(self.arrays_comm, obj, 0)
        total = None if objects is None else functools.reduce(operator.add, objects)
        return _messages.broadcast_object(self.arrays_comm, total, 0)

    # -- models

    @watched
    def bcast_data(self, model: Link) -> None:
        params = means.initialized_params(model)
        self._check('bcast_data')
        # All ranks get all lists, so that all of them raise the error.
        _parameters.check_same(self.rank, self.allgather_obj(_parameters.specs_of(params)))
        _parameters.broadcast(self.arrays_comm, params)

    @watched
    def multi_node_mean_grad(self, model: Link, zero_fill: bool = False) -> None:
        self.reducer.average(means.params_with_grad(model, zero_fill))
