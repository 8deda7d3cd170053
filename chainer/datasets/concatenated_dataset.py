from __future__ import annotations

import bisect
import itertools
from typing import TYPE_CHECKING, Any

from chainer.dataset import dataset_mixin

if TYPE_CHECKING:
    from chainer.types import Dataset


class ConcatenatedDataset(dataset_mixin.DatasetMixin):
    """Dataset that concatenates several datasets.

    Args:
        datasets: Datasets to concatenate.

    .. admonition:: Example

        >>> dataset = chainer.datasets.ConcatenatedDataset([1, 2], [3])
        >>> len(dataset), dataset[2]
        (3, 3)

    """

    def __init__(self, *datasets: Dataset) -> None:
        self._datasets = datasets

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._datasets)

    def get_example(self, i: int) -> Any:
        ends = list(itertools.accumulate(len(dataset) for dataset in self._datasets))
        if i < 0:
            raise IndexError(f'index must not be negative, but is {i}')
        k = bisect.bisect_right(ends, i)
        if k == len(ends):
            raise IndexError(f'index {i} is out of range')
        return self._datasets[k][i - (ends[k - 1] if k > 0 else 0)]
