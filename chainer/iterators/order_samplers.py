from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.data import random_state
from chainer._core.reports import representation

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer


class OrderSampler:
    """Interface of the functions that decide the order of the examples of an epoch.

    .. admonition:: Example

        >>> class Backwards(chainer.iterators.OrderSampler):
        ...     def __call__(self, current_order, current_position):
        ...         return np.sort(current_order)[::-1]
        >>> iterator = chainer.iterators.SerialIterator('abc', 3, order_sampler=Backwards())
        >>> iterator.next()
        ['c', 'b', 'a']

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    def __call__(self, current_order: numpy.ndarray, current_position: int) -> numpy.ndarray:
        """Returns the order of the next epoch.

        Args:
            current_order (numpy.ndarray): Indices in the order of the current epoch;
                ``arange`` of the dataset before the first one.
            current_position (int): Number of these indices before the start of the last batch.

        Returns:
            numpy.ndarray: Indices of the next epoch, with the length of ``current_order``.

        """
        raise NotImplementedError


class ShuffleOrderSampler(OrderSampler):
    """Sampler of uniformly random permutations.

    Args:
        random_state (numpy.random.RandomState): Generator; NumPy's global one by default.

    .. admonition:: Example

        >>> sampler = chainer.iterators.ShuffleOrderSampler(np.random.RandomState(0))
        >>> order = sampler(np.arange(5), 0)
        >>> sorted(order.tolist())
        [0, 1, 2, 3, 4]

    """

    def __init__(self, random_state: numpy.random.RandomState | None = None) -> None:
        self._random_state = random_state
        self._permutation = (random_state or numpy.random).permutation

    def __call__(self, current_order: numpy.ndarray, current_position: int) -> numpy.ndarray:
        return self._permutation(len(current_order))

    def __getstate__(self) -> dict[str, Any]:
        return {'_random_state': self._random_state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        ShuffleOrderSampler.__init__(self, state['_random_state'])

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the state of the generator, unless it is the global one."""
        if isinstance(self._random_state, numpy.random.RandomState):
            random_state.serialize_random_state(serializer, self._random_state)
