"""Differentiable collective calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainermn.functions._base import Communication, device_of, dummy_output, make_dummy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class AllGather(Communication):
    """Function of :func:`~chainermn.functions.allgather`."""

    def __init__(self, comm: MpiCommunicatorBase) -> None:
        super().__init__(comm)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        ys = self.comm.allgather(*self._given(inputs))
        return self._outputs([self._to_inputs(y, inputs) for y in ys])

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (_sum(m.apply(AllToAll(self.comm), self._filled(gys))),)


class AllToAll(Communication):
    """Function of :func:`~chainermn.functions.alltoall`."""

    def __init__(self, comm: MpiCommunicatorBase) -> None:
        super().__init__(comm)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        ys = self.comm.alltoall(self._given(inputs))
        return self._outputs([self._to_inputs(y, inputs) for y in ys])

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        gxs = m.apply(AllToAll(self.comm), self._filled(gys))
        return [gxs[i] for i in targets]


class FromRoot(Communication):
    """Base of functions that send from the root to all ranks."""

    def __init__(self, comm: MpiCommunicatorBase, root: int) -> None:
        super().__init__(comm)
        self.root = root

    def __call__(self, *inputs: VariableLike) -> Variable:
        if self.comm.rank == self.root:
            return self.apply(inputs)[0]
        self.received = (self._communicate(None),)
        return self.apply((make_dummy(device_of(self.received[0])),))[0]

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        if self.comm.rank == self.root:
            y = self._communicate(self._given(inputs))
        else:
            (y,) = self.received or (self._communicate(None),)
            self.received = None
        return self._outputs([self._to_inputs(y, inputs)])

    def _communicate(self, inputs: tuple[NdArray, ...] | None) -> NdArray:
        """Sends the inputs, if this is the root; returns what arrives."""
        raise NotImplementedError


class Bcast(FromRoot):
    """Function of :func:`~chainermn.functions.bcast`."""

    def _communicate(self, inputs: tuple[NdArray, ...] | None) -> NdArray:
        y = self.comm.bcast(None if inputs is None else inputs[0], self.root)
        return y if inputs is None else y.copy()

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        gxs = m.apply(Gather(self.comm, self.root), gys)
        return (_sum(gxs) if self.comm.rank == self.root else None,)


class Gather(Communication):
    """Function of :func:`~chainermn.functions.gather`."""

    def __init__(self, comm: MpiCommunicatorBase, root: int) -> None:
        super().__init__(comm)
        self.root = root

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        ys = self.comm.gather(self._given(inputs)[0], self.root)
        if self.comm.rank == self.root:
            return self._outputs([self._to_inputs(y, inputs) for y in ys])
        return (dummy_output(inputs),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        # On other ranks, the gradient of the dummy output only determines the device of gx.
        gys = self._filled(gys) if self.comm.rank == self.root else gys
        return m.apply(Scatter(self.comm, self.root), gys)


class Scatter(FromRoot):
    """Function of :func:`~chainermn.functions.scatter`."""

    def _communicate(self, inputs: tuple[NdArray, ...] | None) -> NdArray:
        return self.comm.scatter(inputs, self.root)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        gxs = m.apply(Gather(self.comm, self.root), gys)
        if self.comm.rank == self.root:
            return [gxs[i] for i in targets]
        return (None,)


def _sum(arrays: Sequence[Any]) -> Any:
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total


def allgather(comm: MpiCommunicatorBase, x: VariableLike) -> tuple[Variable, ...]:
    """Sends an array of each rank to all ranks; collective, backward too.

    Args:
        comm (CommunicatorBase): Communicator.
        x (:class:`~chainer.Variable` or array): Array to send. Shapes may differ.

    Returns:
        tuple of ~chainer.Variable: One array from each rank.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> chainermn.functions.allgather(comm, np.ones(2, np.float32))
        (variable([1., 1.]),)

    """
    return AllGather(comm).apply((x,))


def alltoall(comm: MpiCommunicatorBase, xs: Sequence[VariableLike]) -> tuple[Variable, ...]:
    """Sends an array from each rank to each rank; collective, backward too.

    Args:
        comm (CommunicatorBase): Communicator.
        xs (tuple of :class:`~chainer.Variable` or arrays): ``xs[i]`` goes to rank ``i``.

    Returns:
        tuple of ~chainer.Variable: Element ``i`` comes from rank ``i``.

    Raises:
        ValueError: If there is not one array for each rank.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> chainermn.functions.alltoall(comm, (np.ones(2, np.float32),))
        (variable([1., 1.]),)

    """
    if len(xs) != comm.size:
        raise ValueError(f'alltoall: xs must have {comm.size} elements, one for each rank')
    return AllToAll(comm).apply(tuple(xs))


def bcast(comm: MpiCommunicatorBase, x: VariableLike | None, root: int = 0) -> Variable:
    """Sends an array of the root to all ranks; collective, backward too.

    Backward adds the gradients of all ranks.

    Args:
        comm (CommunicatorBase): Communicator.
        x (:class:`~chainer.Variable` or array): Array to send. Ignored on other ranks than the
            root.
        root (int): Rank that sends.

    Returns:
        ~chainer.Variable: Array of the root.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> chainermn.functions.bcast(comm, np.ones(2, np.float32))
        variable([1., 1.])

    """
    inputs = () if comm.rank != root or x is None else (x,)
    return Bcast(comm, root)(*inputs)


def gather(comm: MpiCommunicatorBase, x: VariableLike, root: int = 0) -> Any:
    """Sends an array of each rank to the root; collective, backward too.

    Args:
        comm (CommunicatorBase): Communicator.
        x (:class:`~chainer.Variable` or array): Array to send. Shapes may differ.
        root (int): Rank that receives.

    Returns:
        tuple of ~chainer.Variable: On the root one array from each rank. Elsewhere a scalar, for
        which the program calls ``backward``, directly or by
        :func:`~chainermn.functions.pseudo_connect`.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> chainermn.functions.gather(comm, np.ones(2, np.float32))
        (variable([1., 1.]),)

    """
    ys = Gather(comm, root).apply((x,))
    return ys if comm.rank == root else ys[0]


def scatter(
    comm: MpiCommunicatorBase, xs: Sequence[VariableLike] | None, root: int = 0
) -> Variable:
    """Sends an array from the root to each rank; collective, backward too.

    Args:
        comm (CommunicatorBase): Communicator.
        xs (tuple of :class:`~chainer.Variable` or arrays): ``xs[i]`` goes to rank ``i``. Ignored on
            other ranks than the root.
        root (int): Rank that sends.

    Returns:
        ~chainer.Variable: Array for this rank.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> chainermn.functions.scatter(comm, (np.ones(2, np.float32),))
        variable([1., 1.])

    """
    inputs = () if comm.rank != root or xs is None else tuple(xs)
    return Scatter(comm, root)(*inputs)
