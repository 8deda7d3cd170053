"""The calls that every communicator has."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from chainermn.communicators._configuration import Configurable
from chainermn.communicators._deprecated_calls import DeprecatedCalls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from chainer.link import Link
    from chainer.types import NdArray


class CommunicatorBase(Configurable, DeprecatedCalls, abc.ABC):
    """Base class of communicators, which connect the processes of a distributed program.

    Each process has a *rank*. A *collective* call must be made by all ranks, in the same order.

    Calls for arrays take those of NumPy, CuPy and ChainerX; calls that end in ``_obj`` take
    anything that can be pickled.

    .. seealso:: :func:`chainermn.create_communicator`

    """

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # copies of a model belong to the same processes

    # -- ranks

    @property
    @abc.abstractmethod
    def rank(self) -> int:
        """Number of this process, from 0."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """Number of processes."""

    @property
    @abc.abstractmethod
    def intra_rank(self) -> int:
        """Number of this process among those of its host."""

    @property
    @abc.abstractmethod
    def intra_size(self) -> int:
        """Number of processes on this host."""

    @property
    @abc.abstractmethod
    def inter_rank(self) -> int:
        """Number of this host."""

    @property
    @abc.abstractmethod
    def inter_size(self) -> int:
        """Number of hosts."""

    # -- calls

    @abc.abstractmethod
    def split(self, color: int, key: int) -> CommunicatorBase:
        """Divides the ranks into groups; collective.

        Args:
            color (int): Group of this rank.
            key (int): Order of this rank in its group.

        Returns:
            CommunicatorBase: Communicator of the group.

        """

    @abc.abstractmethod
    def alltoall(self, xs: Sequence[NdArray]) -> tuple[NdArray, ...]:
        """Sends an array from each rank to each rank; collective.

        Args:
            xs (tuple of arrays): ``xs[i]`` goes to rank ``i``. Shapes and dtypes may differ.

        Returns:
            tuple of arrays: Element ``i`` comes from rank ``i``.

        """

    @abc.abstractmethod
    def send(self, data: NdArray | tuple[NdArray, ...], dest: int, tag: int) -> None:
        """Sends an array, or a tuple of arrays, to a rank, which must call :meth:`recv`.

        Args:
            data (array or tuple of arrays): What to send.
            dest (int): Rank that receives it.
            tag (int): Tag of the message, which the receiver passes as well.

        """

    @abc.abstractmethod
    def recv(self, source: int, tag: int) -> Any:
        """Receives what a rank sends with :meth:`send`.

        Args:
            source (int): Rank that sends.
            tag (int): Tag of the message, which the sender passes as well.

        Returns:
            array or tuple of arrays: As sent, on the same kind of device.

        """

    @abc.abstractmethod
    def bcast(self, data: NdArray | None, max_buf_len: int | None = None, root: int = 0) -> NdArray:
        """Sends an array of the root to all ranks; collective.

        Args:
            data (array): Array to send. Ignored on other ranks than the root.
            max_buf_len (int): Ignored.
            root (int): Rank that sends.

        Returns:
            array: Array of the root, on the root itself.

        """

    @abc.abstractmethod
    def gather(self, data: NdArray, root: int = 0) -> tuple[NdArray, ...] | None:
        """Sends an array of each rank to the root; collective.

        Args:
            data (array): Array to send. Shapes and dtypes may differ.
            root (int): Rank that receives.

        Returns:
            tuple of arrays: On the root one array from each rank, ``None`` elsewhere.

        """

    @abc.abstractmethod
    def allgather(self, x: NdArray) -> tuple[NdArray, ...]:
        """Sends an array of each rank to all ranks; collective.

        Args:
            x (array): Array to send. Shapes and dtypes may differ.

        Returns:
            tuple of arrays: One array from each rank.

        """

    @abc.abstractmethod
    def allreduce(self, data: NdArray) -> NdArray:
        """Adds the arrays of all ranks; collective.

        Args:
            data (array): Array of the same shape and dtype on each rank.

        Returns:
            array: New array with the sum, equal on all ranks. Sums of float16 are added in
            float32.

        """

    @abc.abstractmethod
    def scatter(self, xs: Sequence[NdArray] | None, root: int = 0) -> NdArray:
        """Sends an array from the root to each rank; collective.

        Args:
            xs (tuple of arrays): ``xs[i]`` goes to rank ``i``. Ignored on other ranks than the
                root.
            root (int): Rank that sends.

        Returns:
            array: Array for this rank.

        """

    def finalize(self) -> None:  # noqa: B027
        """Frees what the communicator holds; collective. It must not be used afterwards."""

    @abc.abstractmethod
    def send_obj(self, obj: object, dest: int, tag: int) -> None:
        """Sends an object to a rank, which must call :meth:`recv_obj`."""

    @abc.abstractmethod
    def recv_obj(self, source: int, tag: int) -> Any:
        """Receives what a rank sends with :meth:`send_obj`."""

    @abc.abstractmethod
    def bcast_obj(self, obj: object, max_buf_len: int | None = None, root: int = 0) -> Any:
        """Sends an object of the root to all ranks; collective.

        Args:
            obj: Object to send. Ignored on other ranks than the root.
            max_buf_len (int): Most bytes of one message.
            root (int): Rank that sends.

        Returns:
            Object of the root.

        """

    @abc.abstractmethod
    def gather_obj(self, obj: object, root: int = 0) -> list[Any] | None:
        """Sends an object of each rank to the root; collective.

        Returns:
            list: On the root one object from each rank, ``None`` elsewhere.

        """

    @abc.abstractmethod
    def allreduce_obj(self, obj: object) -> Any:
        """Adds objects of all ranks by ``+``, in the order of the ranks; collective."""

    @abc.abstractmethod
    def bcast_data(self, model: Link) -> None:
        """Gives all ranks the parameters of rank 0; collective.

        Uninitialized parameters do not change.

        Args:
            model (chainer.Link): Model, of the same structure on each rank.

        """

    @abc.abstractmethod
    def multi_node_mean_grad(self, model: Link, zero_fill: bool = False) -> None:
        """Replaces the gradients by their means over all ranks; collective.

        Args:
            model (chainer.Link): Model, of the same structure on each rank.
            zero_fill (bool): Whether to replace missing gradients by zeros. Otherwise the same
                gradients must be missing on all ranks.

        """
