from __future__ import annotations

from typing import Any

import numpy

from chainer._core.reports import representation


class DatasetMixin:
    """Base of datasets: implements indexing by slices and index arrays.

    A subclass implements :meth:`get_example` and ``__len__``.

    .. admonition:: Example

        >>> class Squares(chainer.dataset.DatasetMixin):
        ...     def __len__(self):
        ...         return 10
        ...     def get_example(self, i):
        ...         return i ** 2
        >>> dataset = Squares()
        >>> dataset[3], dataset[:4], dataset[[2, 5]]
        (9, [0, 1, 4, 9], [4, 25])

    """

    def __repr__(self) -> str:
        return representation.of_length(self)

    def __getitem__(self, index: Any) -> Any:
        """Returns one example, or a list of examples.

        Args:
            index (int, slice, list or numpy.ndarray): An integer selects one example, other
                indices a list of examples. A boolean sequence with the length of the dataset
                works as a mask.

        """
        if isinstance(index, slice):
            current, stop, step = index.indices(len(self))
            return [self.get_example(i) for i in range(current, stop, step)]
        if isinstance(index, numpy.ndarray) and index.ndim == 0:
            return self.get_example(int(index))
        if isinstance(index, (list, numpy.ndarray)):
            if len(index) > 0 and isinstance(index[0], (bool, numpy.bool_)):
                if len(index) != len(self):
                    raise ValueError(
                        f'index is a boolean sequence of length {len(index)}, but the '
                        f'dataset has {len(self)} '
                        'examples'
                    )
                index = numpy.flatnonzero(index)
            return [self.get_example(i) for i in index]
        return self.get_example(index)

    def __len__(self) -> int:
        """Returns the number of examples."""
        raise NotImplementedError

    def get_example(self, i: int) -> Any:
        """Returns the i-th example.

        Args:
            i (int): Index of the example, which may be negative or out of range.

        """
        raise NotImplementedError
