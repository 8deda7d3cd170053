from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.reports import representation

if TYPE_CHECKING:
    from chainer.types import Dataset


class TupleDataset:
    """Dataset of tuples, zipped from datasets of equal length.

    Args:
        datasets: Indexable objects with a length, e.g. arrays, lists or datasets.

    Raises:
        ValueError: If no dataset is given or the lengths differ.

    .. admonition:: Example

        >>> dataset = chainer.datasets.TupleDataset([0, 1, 2], [0, 1, 4])
        >>> dataset[1], dataset[1:]
        ((1, 1), [(1, 1), (2, 4)])
        >>> len(dataset)
        3

    """

    def __repr__(self) -> str:
        return representation.of_length(self)

    def __init__(self, *datasets: Dataset) -> None:
        if not datasets:
            raise ValueError('no datasets are given')
        length = len(datasets[0])
        for i, dataset in enumerate(datasets):
            if len(dataset) != length:
                raise ValueError(
                    f'dataset of the index {i} has a wrong length {len(dataset)}, expected {length}'
                )
        self._datasets = datasets
        self._length = length

    def __getitem__(self, index: Any) -> Any:
        columns = [dataset[index] for dataset in self._datasets]
        if isinstance(index, (slice, list, numpy.ndarray)):
            return list(zip(*columns))
        return tuple(columns)

    def __len__(self) -> int:
        return self._length
