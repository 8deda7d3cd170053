from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.names import hints
from chainer._core.settings.types import Example
from chainer.iterators import _ordered_iterator

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.types import Dataset


@hints.explain_arguments
class SerialIterator(_ordered_iterator.OrderedIterator[Example]):
    """Iterator that reads the examples of a batch sequentially on request.

    The last batch of an epoch continues with examples of the next epoch. If ``repeat`` is
    false, it may be smaller instead.

    Args:
        dataset: Indexable object with a length.
        batch_size (int): Number of examples in a batch.
        repeat (bool): If true, the iterator repeats endlessly; otherwise it stops after one
            epoch.
        shuffle (bool): If true, each epoch has a new random order, drawn from
            ``numpy.random``. The default is true, unless ``order_sampler`` is given.
        order_sampler (callable): Function that decides the order of each epoch, see
            :class:`~chainer.iterators.OrderSampler`. Requires ``shuffle=None``.

    Raises:
        ValueError: If both ``shuffle`` and ``order_sampler`` are given, or (at ``next``) if the
            dataset to repeat is empty.

    .. admonition:: Example

        >>> iterator = chainer.iterators.SerialIterator([1, 2, 3], 2, shuffle=False)
        >>> iterator.next(), iterator.next()
        ([1, 2], [3, 1])
        >>> iterator.epoch, iterator.is_new_epoch, round(iterator.epoch_detail, 3)
        (1, True, 1.333)
        >>> list(chainer.iterators.SerialIterator([1, 2, 3], 2, repeat=False, shuffle=False))
        [[1, 2], [3]]

    """

    def __init__(
        self,
        dataset: Dataset[Example],
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        order_sampler: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler)

    def __next__(self) -> list[Example]:
        state, indices = self._advance(self._state)
        # Before reading: after an error of the dataset the iterator goes on with the next batch.
        self._take_over(state)
        if indices is None:
            raise StopIteration(_ordered_iterator.EXHAUSTED)
        dataset = self.dataset
        return [dataset[i] for i in indices.tolist()]

    next = __next__

    def reset(self) -> None:
        """Returns to the start with a new order."""
        self._reset_state()
