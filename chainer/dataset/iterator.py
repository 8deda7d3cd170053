from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from chainer._core.reports import representation
from chainer._core.settings.types import Example

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer.dataset._progress import Progress as _Progress
    from chainer.serializer import AbstractSerializer
    from chainer.types import Dataset
else:
    _Progress = object


class Iterator(Generic[Example], _Progress):
    """Base of dataset iterators, which yield lists of examples (batches).

    A subclass implements ``__next__``. Iterators used by a trainer also have the
    attributes ``epoch``, ``epoch_detail``, ``previous_epoch_detail`` and
    ``is_new_epoch``. Leaving a ``with`` statement finalizes the iterator.

    .. admonition:: Example

        >>> class Batches(chainer.dataset.Iterator):
        ...     def __init__(self, dataset):
        ...         self.rest = list(dataset)
        ...     def __next__(self):
        ...         if not self.rest:
        ...             raise StopIteration
        ...         batch, self.rest = self.rest[:2], self.rest[2:]
        ...         return batch
        >>> list(Batches('abc'))
        [['a', 'b'], ['c']]

    """

    if TYPE_CHECKING:
        dataset: Dataset[Example]

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    def __del__(self) -> None:
        self.finalize()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        self.finalize()

    def __iter__(self) -> Self:
        """Returns self."""
        return self

    def __next__(self) -> list[Example]:
        """Returns the next batch, a list of examples.

        Raises:
            StopIteration: At the end.

        """
        raise NotImplementedError

    def next(self) -> list[Example]:
        """Same as ``__next__``."""
        return self.__next__()

    def finalize(self) -> None:
        """Releases resources such as worker processes. Repeated calls are allowed."""

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the position of the iterator."""
