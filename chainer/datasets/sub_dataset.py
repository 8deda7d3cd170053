from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer.dataset import dataset_mixin
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import Dataset


class SubDataset(dataset_mixin.DatasetMixin):
    """Subset of a dataset: the interval ``[start, finish)`` of its examples.

    Args:
        dataset: Base dataset.
        start (int): First index of the interval.
        finish (int): Index after the last one.
        order (sequence of ints): Permutation of the indices of the base dataset; the
            interval then refers to the permuted dataset.

    Raises:
        ValueError: If the interval exceeds the dataset or ``order`` has a wrong length.

    .. admonition:: Example

        >>> dataset = chainer.datasets.SubDataset('abcdef', 1, 4)
        >>> len(dataset), dataset[0], dataset[-1]
        (3, 'b', 'd')
        >>> chainer.datasets.SubDataset('abcdef', 1, 4, order=[5, 4, 3, 2, 1, 0])[:]
        ['e', 'd', 'c']

    """

    def __init__(
        self,
        dataset: Dataset,
        start: int,
        finish: int,
        order: Sequence[int] | numpy.ndarray | None = None,
    ) -> None:
        if start < 0 or finish > len(dataset):
            raise ValueError(
                f'subset overruns the base dataset: [{start}, {finish}) of {len(dataset)} examples'
            )
        if order is not None and len(order) != len(dataset):
            raise ValueError(
                'order option must have the same length as the base dataset: '
                f'len(order) = {len(order)} while len(dataset) = {len(dataset)}'
            )
        self._dataset = dataset
        self._start = start
        self._finish = finish
        self._size = finish - start
        self._order = order

    def __len__(self) -> int:
        return self._size

    def get_example(self, i: int) -> Any:
        if i >= 0:
            if i >= self._size:
                raise IndexError('dataset index out of range')
            index = self._start + i
        else:
            if i < -self._size:
                raise IndexError('dataset index out of range')
            index = self._finish + i
        if self._order is not None:
            index = self._order[index]
        return self._dataset[index]


# For checkpoints, which divide the samples of a dataset again.


def place_of(part: SubDataset) -> tuple[int, int, int]:
    """Returns the length of the whole dataset, and the begin and end of a part in its order."""
    return len(part._dataset), part._start, part._finish


def numbers_of(part: SubDataset) -> numpy.ndarray[Any, Any]:
    """Returns the numbers that the samples of a part have in the whole dataset."""
    if part._order is None:
        return numpy.arange(part._start, part._finish)
    return numpy.asarray(part._order[part._start : part._finish])


def renumber(part: SubDataset, numbers: numpy.ndarray[Any, Any]) -> None:
    """Gives a part other samples of the whole dataset."""
    if numpy.array_equal(numbers_of(part), numbers):
        return
    order = numpy.arange(len(part._dataset)) if part._order is None else numpy.array(part._order)
    order[part._start : part._finish] = numbers
    part._order = order


def split_dataset(
    dataset: Dataset, split_at: int, order: Sequence[int] | numpy.ndarray | None = None
) -> tuple[SubDataset, SubDataset]:
    """Splits a dataset into two subsets.

    Args:
        dataset: Dataset to split.
        split_at (int): Number of examples of the first subset.
        order (sequence of ints): Permutation of the indices, applied before splitting.

    Returns:
        tuple: Two :class:`SubDataset` objects.

    Raises:
        TypeError: If ``split_at`` is not an integer.
        ValueError: If it is negative or larger than the dataset.

    .. admonition:: Example

        >>> first, second = chainer.datasets.split_dataset([0, 1, 2, 3, 4], 3)
        >>> first[:], second[:]
        ([0, 1, 2], [3, 4])

    """
    n_examples = len(dataset)
    if not isinstance(split_at, (int, numpy.integer)):
        raise TypeError(f'split_at must be int, got {type(split_at)} instead')
    if split_at < 0:
        raise ValueError('split_at must be non-negative')
    if split_at > n_examples:
        raise ValueError(f'split_at exceeds the dataset size: {split_at} > {n_examples}')
    return (
        SubDataset(dataset, 0, split_at, order),
        SubDataset(dataset, split_at, n_examples, order),
    )


def split_dataset_random(
    dataset: Dataset, first_size: int, seed: int | None = None
) -> tuple[SubDataset, SubDataset]:
    """Splits a dataset into two random subsets.

    Args:
        dataset: Dataset to split.
        first_size (int): Number of examples of the first subset.
        seed (int): Seed of the permutation; ``None`` draws a new one at each call.

    Returns:
        tuple: Two :class:`SubDataset` objects.

    Raises:
        TypeError: If ``first_size`` is not an integer.
        ValueError: If it is negative or larger than the dataset.

    .. admonition:: Example

        >>> first, second = chainer.datasets.split_dataset_random([0, 1, 2, 3, 4], 3, seed=0)
        >>> len(first), len(second), sorted(first[:] + second[:])
        (3, 2, [0, 1, 2, 3, 4])

    """
    return split_dataset(dataset, first_size, _random_order(dataset, seed))


def split_dataset_n(
    dataset: Dataset, n: int, order: Sequence[int] | numpy.ndarray | None = None
) -> list[SubDataset]:
    """Splits a dataset into ``n`` subsets of ``len(dataset) // n`` examples each.

    It drops the remaining examples.

    Args:
        dataset: Dataset to split.
        n (int): Number of subsets.
        order (sequence of ints): Permutation of the indices, applied before splitting.

    Returns:
        list: ``n`` :class:`SubDataset` objects.

    .. admonition:: Example

        >>> parts = chainer.datasets.split_dataset_n([0, 1, 2, 3, 4], 2)
        >>> [part[:] for part in parts]
        [[0, 1], [2, 3]]

    """
    size = len(dataset) // n
    return [SubDataset(dataset, size * i, size * (i + 1), order) for i in range(n)]


def split_dataset_n_random(dataset: Dataset, n: int, seed: int | None = None) -> list[SubDataset]:
    """Splits a dataset into ``n`` random subsets of equal size.

    Args:
        dataset: Dataset to split.
        n (int): Number of subsets.
        seed (int): Seed of the permutation; ``None`` draws a new one at each call.

    Returns:
        list: ``n`` :class:`SubDataset` objects of ``len(dataset) // n`` examples.

    .. admonition:: Example

        >>> parts = chainer.datasets.split_dataset_n_random([0, 1, 2, 3, 4], 2, seed=0)
        >>> [len(part) for part in parts]
        [2, 2]

    """
    return split_dataset_n(dataset, n, _random_order(dataset, seed))


def get_cross_validation_datasets(
    dataset: Dataset,
    n_folds: int | None = None,
    order: Sequence[int] | numpy.ndarray | None = None,
    **kwargs: Any,
) -> list[tuple[SubDataset, SubDataset]]:
    """Makes the training and test datasets of n-fold cross validation.

    Args:
        dataset: Dataset to split.
        n_folds (int): Number of folds. The sizes of the test sets differ by one at most.
        order (sequence of ints): Permutation of the indices, applied before splitting.

    Returns:
        list of tuples: Pairs of training and test subset.

    Raises:
        ValueError: If there are more folds than examples.
        ZeroDivisionError: If ``n_folds`` is zero.

    .. admonition:: Example

        >>> folds = chainer.datasets.get_cross_validation_datasets([0, 1, 2, 3, 4], 2)
        >>> [(sorted(train[:]), sorted(test[:])) for train, test in folds]
        [([0, 1], [2, 3, 4]), ([2, 3, 4], [0, 1])]

    """
    n_folds = _parse_n_folds(n_folds, kwargs)
    n_total = len(dataset)
    if n_total // n_folds < 1:
        raise ValueError(f'n_folds must be from 1 to the number of examples, {n_total}: {n_folds}')
    # A copy, as it is rotated below.
    rotated = numpy.arange(n_total) if order is None else numpy.array(order)

    splits = []
    for i in reversed(range(n_folds)):
        test_size = n_total * (i + 1) // n_folds - n_total * i // n_folds
        split_at = n_total - test_size
        # The test part is the end of the order; rotating brings the next one there.
        splits.append(split_dataset(dataset, split_at, rotated))
        rotated = numpy.roll(rotated, test_size)
    return splits


def get_cross_validation_datasets_random(
    dataset: Dataset, n_folds: int, seed: int | None = None, **kwargs: Any
) -> list[tuple[SubDataset, SubDataset]]:
    """Makes the datasets of n-fold cross validation in random order.

    Args:
        dataset: Dataset to split.
        n_folds (int): Number of folds.
        seed (int): Seed of the permutation; ``None`` draws a new one at each call.

    Returns:
        list of tuples: Pairs of training and test subset.

    .. admonition:: Example

        >>> folds = chainer.datasets.get_cross_validation_datasets_random(range(5), 2, seed=0)
        >>> [(len(train), len(test)) for train, test in folds]
        [(2, 3), (3, 2)]

    """
    n_folds = _parse_n_folds(n_folds, kwargs)
    return get_cross_validation_datasets(dataset, n_folds, _random_order(dataset, seed))


def _parse_n_folds(n_folds, kwargs):
    (n_fold,) = argument.parse_kwargs(kwargs, ('n_fold', None))
    if n_fold is None:
        return n_folds
    warnings.warn(
        'Argument `n_fold` is deprecated. Please use `n_folds` instead.',
        DeprecationWarning,
        stacklevel=3,
    )
    return n_fold


def _random_order(dataset, seed):
    return numpy.random.RandomState(seed).permutation(len(dataset))
