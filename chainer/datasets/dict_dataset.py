from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.reports import representation

if TYPE_CHECKING:
    from chainer.types import Dataset


class DictDataset:
    """Dataset of dictionaries, built from datasets of equal length.

    Args:
        datasets: Indexable objects with a length, by the key they get in the examples.

    Raises:
        ValueError: If no dataset is given or the lengths differ.

    .. admonition:: Example

        >>> dataset = chainer.datasets.DictDataset(x=[0, 1, 2], y=[0, 1, 4])
        >>> dataset[2]
        {'x': 2, 'y': 4}

    """

    def __repr__(self) -> str:
        return representation.of_length(self)

    def __init__(self, **datasets: Dataset) -> None:
        if not datasets:
            raise ValueError('no datasets are given')
        self._length = len(next(iter(datasets.values())))
        for key, dataset in datasets.items():
            if len(dataset) != self._length:
                raise ValueError(
                    f'dataset length conflicts at "{key}": {len(dataset)}, expected {self._length}'
                )
        self._datasets = datasets

    def __getitem__(self, index: Any) -> Any:
        columns = {key: dataset[index] for key, dataset in self._datasets.items()}
        if isinstance(index, (slice, list, numpy.ndarray)):
            return [dict(zip(columns, row)) for row in zip(*columns.values())]
        return columns

    def __len__(self) -> int:
        return self._length
