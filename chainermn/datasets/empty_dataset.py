"""Datasets without data, for processes that get theirs from others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.types import Dataset


def create_empty_dataset(dataset: Dataset) -> list[tuple[()]]:
    """Returns a dataset of empty examples, as long as another one.

    In a model that is spread over processes, those that receive their input from others iterate
    over it, and so count epochs as the others do.

    Args:
        dataset: Dataset.

    Returns:
        list: Empty tuples.

    .. admonition:: Example

        >>> chainermn.datasets.create_empty_dataset([1, 2, 3])
        [(), (), ()]

    """
    return [()] * len(dataset)
