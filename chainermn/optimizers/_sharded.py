"""The optimizer that divides its state between the processes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer.optimizer import GradientMethod
from chainer.optimizer_hooks import GradientLARS
from chainer.variable import Parameter
from chainermn import _arrays, _messages
from chainermn._sharding import parts
from chainermn.means.buckets import ALONE
from chainermn.optimizers._multi_node import MultiNodeOptimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chainermn._sharding.parts import Part


class ShardedOptimizer(MultiNodeOptimizer):
    """Optimizer that updates its part of the parameters and receives the others.

    The parameters, one after the other, are divided into parts of equal size. A part of a parameter
    is a parameter itself, in the same memory, with the same update rule, whose state therefore has
    the size of the part.
    """

    _shards: _Shards | None

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        check_method(self.actual_optimizer)
        vars(self).update(_shards=None)

    def _update_params(self) -> None:
        shards = self._fitting_shards()
        optimizer = self.actual_optimizer
        # The optimizer then updates the shards in place of the parameters.
        optimizer._params_to_update = lambda: [
            shard for _, shard in shards.take_grads(_part_of_grad)
        ]
        try:
            optimizer.update(None)
        finally:
            optimizer._params_to_update = None
        shards.share()

    def _fitting_shards(self) -> _Shards:
        if self._shards is None or not self._shards.fit(self.target):
            self._shards = _Shards(self.target, self.communicator)
        return self._shards


def _part_of_grad(param: Any, part: Part) -> Any:
    grad = param.grad
    return None if grad is None else _arrays.flat(grad)[part.own]


class _Shards:
    """Division of the elements of all parameters."""

    def __init__(self, target: Any, communicator: Any) -> None:
        self._comm = communicator
        self._params = _initialized(target)
        for param in self._params:
            check_rule(param.update_rule)
            # A shard is a view of elements that follow each other in memory.
            if not _is_contiguous(param.array):
                param.array = param.array.copy()
        self._arrays = [param.array for param in self._params]
        self._parts = parts.divide_jointly(communicator, [array.shape for array in self._arrays])
        #: How each parameter is divided, by its id.
        self.parts: dict[int, Part] = {
            id(param): part for param, part in zip(self._params, self._parts)
        }
        self._own = [
            (param, self._make_shard(param, part), part)
            for param, part in zip(self._params, self._parts)
            if part.own.start < part.own.stop
        ]

    def _make_shard(self, param: Any, part: Part) -> Any:
        shard = Parameter(_arrays.flat(param.array)[part.own], name=param.name)
        # The same object: its state has the size of the shard, which it sees first.
        shard.update_rule = param.update_rule
        return shard

    def fit(self, target: Any) -> bool:
        """Tells whether the parameters are still the same and in the same memory."""
        params = _initialized(target)
        return len(params) == len(self._params) and all(
            [
                param is own and param.array is array
                for param, own, array in zip(params, self._params, self._arrays)
            ]
        )

    def take_grads(self, grad_of: Callable[[Any, Part], Any]) -> list[tuple[Any, Any]]:
        """Gives the shards their gradients; returns parameters with shards.

        Args:
            grad_of: Returns this rank's part of the gradient of a parameter, or ``None``.

        """
        for param, shard, part in self._own:
            shard.grad = grad_of(param, part)
            shard._loss_scale = param._loss_scale
        # The shards have taken over the loss scale, which only one of both may divide by.
        for param in self._params:
            param._loss_scale = None
        return [(param, shard) for param, shard, _ in self._own]

    def share(self) -> None:
        """Sends the updated part to all other ranks."""
        for param, shard, part in self._own:
            shard.cleargrad()
            # Some rules replace the array instead of updating it in place.
            piece = _arrays.plain(_arrays.flat(param.array))[part.own]
            array = _arrays.plain(shard.array)
            if _arrays.address(piece) != _arrays.address(array):
                piece[...] = array
                shard.array = _arrays.flat(param.array)[part.own]
        if self._comm.size > 1:
            with self._comm.calls.watching('update'):
                self._exchange()

    def _exchange(self) -> None:
        """Sends this rank's part and receives the others; large pieces of arrays without copies."""
        rank = self._comm.rank
        others = [i for i in range(self._comm.size) if i != rank]
        own, small = self._pieces(rank)
        own.append(_arrays.to_host_bytes(small))
        outgoing = [(i, array) for i in others for array in own]
        incoming, joined = [], []
        for i in others:
            large, small = self._pieces(i)
            data = numpy.empty(sum([piece.nbytes for piece in small]), numpy.uint8)
            incoming += [(i, array) for array in [*large, data]]
            joined.append((data, small))
        _messages.exchange(self._comm.arrays_comm, outgoing, incoming)
        for data, small in joined:
            _arrays.from_host_bytes(data, small)

    def _pieces(self, rank: int) -> tuple[list[Any], list[Any]]:
        """What a rank has of the arrays: large pieces on the host, and others."""
        large: list[Any] = []
        small: list[Any] = []
        for array, part in zip(self._arrays, self._parts):
            piece = _arrays.plain(_arrays.flat(array))[part.slice_of(rank)]
            is_large = isinstance(piece, numpy.ndarray) and piece.nbytes >= ALONE
            (large if is_large else small).append(piece)
        return large, small


def check_method(optimizer: Any) -> None:
    """Raises an error unless an optimizer has update rules.

    Raises:
        TypeError: If it is no :class:`chainer.GradientMethod`.

    """
    if not isinstance(optimizer, GradientMethod):
        raise TypeError(
            f'a sharded optimizer needs a chainer.GradientMethod, not {type(optimizer).__name__}'
        )


def check_hooks(optimizer: Any) -> None:
    """Raises an error if a hook of an optimizer needs whole parameters.

    Raises:
        ValueError: If there is such a hook.

    """
    for hook in (optimizer._pre_update_hooks or {}).values():  # none before `setup`
        if isinstance(hook, GradientLARS):
            raise ValueError('GradientLARS needs norms of whole parameters, which are divided')


@contextlib.contextmanager
def updating_parts(optimizer: Any, communicator: Any) -> Iterator[None]:
    """Context in which an optimizer adds what it computes of all gradients over the ranks."""

    def add(number: float) -> float:
        return float(communicator.allreduce(numpy.array(number)))

    optimizer._sum_over_parts = add
    try:
        yield
    finally:
        optimizer._sum_over_parts = None


def check_rule(rule: Any) -> None:
    """Raises an error unless an update rule works on parts of parameters.

    Raises:
        ValueError: If it does not say so.

    """
    # A rule that looks at a whole parameter, as LARS at its norm, would see a part of it.
    if rule is not None and not rule.is_elementwise:
        raise ValueError(
            f'a sharded optimizer needs update rules that work on each element, and '
            f'{type(rule).__name__} does not say so (is_elementwise)'
        )


def _initialized(target: Any) -> list[Any]:
    return [param for _, param in sorted(target.namedparams()) if param.array is not None]


def _is_contiguous(array: Any) -> bool:
    is_chainerx = isinstance(array, chainerx.ndarray)
    return array.is_contiguous if is_chainerx else array.flags.c_contiguous
