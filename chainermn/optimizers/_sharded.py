"""The optimizer that divides its state between the processes."""

from __future__ import annotations

from typing import Any

import numpy

import chainerx
from chainer.optimizer import GradientMethod
from chainer.variable import Parameter
from chainermn import _arrays, _messages
from chainermn.means.buckets import bounds_of, cut
from chainermn.optimizers._multi_node import MultiNodeOptimizer


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
        if self._shards is None or not self._shards.fit(self.target):
            self._shards = _Shards(self.target, self.communicator)
        optimizer = self.actual_optimizer
        # The optimizer then updates the shards in place of the parameters.
        optimizer._params_to_update = self._shards.own_params
        try:
            optimizer.update(None)
        finally:
            optimizer._params_to_update = None
        self._shards.share()


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
        starts = numpy.cumsum([0, *[array.size for array in self._arrays]]).tolist()
        bounds = bounds_of(starts[-1], communicator.size)
        #: For each rank, the slices of its part: number of the parameter, first and last element.
        self._pieces = [cut(starts, *part) for part in zip(bounds, bounds[1:])]
        self._own = [self._make_shard(*piece) for piece in self._pieces[communicator.rank]]

    def _make_shard(self, number: int, first: int, last: int) -> tuple[Any, Any, int, int]:
        param = self._params[number]
        shard = Parameter(_arrays.flat(param.array)[first:last], name=param.name)
        # The same object: its state has the size of the shard, which it sees first.
        shard.update_rule = param.update_rule
        return param, shard, first, last

    def fit(self, target: Any) -> bool:
        """Tells whether the parameters are still the same and in the same memory."""
        params = _initialized(target)
        return len(params) == len(self._params) and all(
            [
                param is own and param.array is array
                for param, own, array in zip(params, self._params, self._arrays)
            ]
        )

    def own_params(self) -> list[Any]:
        """Parts of this rank with their gradients."""
        for param, shard, first, last in self._own:
            grad = param.grad
            shard.grad = None if grad is None else _arrays.flat(grad)[first:last]
            shard._loss_scale = param._loss_scale
        # The shards have taken over the loss scale, which only one of both may divide by.
        for param in self._params:
            param._loss_scale = None
        return [shard for _, shard, _, _ in self._own]

    def share(self) -> None:
        """Sends the updated part to all other ranks."""
        for param, shard, first, last in self._own:
            shard.cleargrad()
            # Some rules replace the array instead of updating it in place.
            piece = _arrays.plain(_arrays.flat(param.array))[first:last]
            array = _arrays.plain(shard.array)
            if _arrays.address(piece) != _arrays.address(array):
                piece[...] = array
                shard.array = _arrays.flat(param.array)[first:last]
        if self._comm.size > 1:
            with self._comm.calls.watching('update'):
                self._exchange()

    def _exchange(self) -> None:
        rank = self._comm.rank
        others = [i for i in range(self._comm.size) if i != rank]
        own = _arrays.to_host_bytes([self._piece(*piece) for piece in self._pieces[rank]])
        incoming = {
            i: numpy.empty(sum([self._piece(*p).nbytes for p in self._pieces[i]]), numpy.uint8)
            for i in others
        }
        _messages.exchange(self._comm.arrays_comm, [(i, own) for i in others], [*incoming.items()])
        for i in others:
            _arrays.from_host_bytes(incoming[i], [self._piece(*piece) for piece in self._pieces[i]])

    def _piece(self, number: int, first: int, last: int) -> Any:
        return _arrays.plain(_arrays.flat(self._arrays[number]))[first:last]


def check_method(optimizer: Any) -> None:
    """Raises an error unless an optimizer has update rules.

    Raises:
        TypeError: If it is no :class:`chainer.GradientMethod`.

    """
    if not isinstance(optimizer, GradientMethod):
        raise TypeError(
            f'a sharded optimizer needs a chainer.GradientMethod, not {type(optimizer).__name__}'
        )


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
