class Iterator:
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

    def __del__(self):
        self.finalize()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.finalize()

    def __iter__(self):
        """Returns self."""
        return self

    def __next__(self):
        """Returns the next batch, a list of examples.

        Raises:
            StopIteration: At the end.

        """
        raise NotImplementedError

    def next(self):
        """Same as ``__next__``."""
        return self.__next__()

    def finalize(self):
        """Releases resources such as worker processes. Repeated calls are allowed."""

    def serialize(self, serializer):
        """Reads or writes the position of the iterator."""
