from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.dataset import dataset_mixin

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.types import Dataset


class TransformDataset(dataset_mixin.DatasetMixin):
    """Dataset that applies a function to the examples of another dataset.

    Args:
        dataset: Dataset to transform.
        transform: Function of an example (one argument, even for tuples), called at each
            access to an example.

    .. admonition:: Example

        >>> dataset = chainer.datasets.TransformDataset([1, 2, 3], lambda x: x * 10)
        >>> dataset[1]
        20

    """

    def __init__(self, dataset: Dataset, transform: Callable[[Any], Any]) -> None:
        self._dataset = dataset
        self._transform = transform

    def __len__(self) -> int:
        return len(self._dataset)

    def get_example(self, i: int) -> Any:
        return self._transform(self._dataset[i])
