"""Datasets without data, for processes that receive their input from other ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.types import Dataset


def create_empty_dataset(dataset: Dataset) -> list[tuple[()]]:
    """Returns a dataset of empty examples with the length of another one.

    In a model-parallel training, the processes that receive their input from other ranks iterate
    over it, so that they count the same epochs.

    Args:
        dataset: Dataset.

    Returns:
        list: Empty tuples.

    .. admonition:: Example

        >>> chainermn.datasets.create_empty_dataset([1, 2, 3])
        [(), (), ()]

    """
    return [()] * len(dataset)
