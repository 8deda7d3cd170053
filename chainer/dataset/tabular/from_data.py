from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.devices.array_types import get_array_types
from chainer.dataset.tabular import _selection, tabular_dataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.dataset.tabular.tabular_dataset import TabularDataset


def from_data(data: Any, *, size: int | None = None) -> TabularDataset:
    """Makes a tabular dataset from arrays, lists or functions.

    Args:
        data: One of

            - an array or list: a dataset of mode ``None`` with one column;
            - a pair ``(key, array or list)``: the same with a name;
            - a pair ``(key, function)`` or ``(keys, function)``: ``size`` rows with the values
              of a function of the index. With a tuple of keys, the function returns a tuple or
              a dictionary;
            - a tuple of the above: a dataset of mode ``tuple``;
            - a dictionary of arrays, lists or functions: a dataset of mode ``dict``.
        size (int): Length of the dataset, required if there are only functions.

    Returns:
        TabularDataset: The dataset.

    Raises:
        ValueError: If the size of a function is unknown or the lengths differ.

    .. admonition:: Example

        >>> from chainer.dataset import tabular
        >>> dataset = tabular.from_data({'x': [1, 2, 3], 'y': lambda i: i * i}, size=3)
        >>> dataset[2]
        {'x': 3, 'y': 4}

    """
    if isinstance(data, tuple):
        if _is_named(data):
            return _make_dataset(data[0], data[1], size)
        members = [member if _is_named(member) else (None, member) for member in data]
        return _join(members, size).astuple()
    if isinstance(data, dict):
        return _join(list(data.items()), size).asdict()
    return _make_dataset(None, data, size)


def _is_named(data):
    if not isinstance(data, tuple) or len(data) != 2:
        return False
    key = data[0]
    return isinstance(key, str) or (
        isinstance(key, tuple) and len(key) > 0 and all(isinstance(k, str) for k in key)
    )


def _join(members, size):
    if size is None:
        sizes = [len(data) for _, data in members if not callable(data)]
        size = sizes[0] if sizes else None
    datasets = [_make_dataset(key, data, size) for key, data in members]
    return datasets[0].join(*datasets[1:])


def _make_dataset(key, data, size):
    if key is None:
        key = f'_{id(data)}'
    if callable(data):
        if size is None:
            raise ValueError('size must be specified for a column made by a function')
        return _Index(size).transform(key, data)
    if isinstance(key, tuple):
        raise ValueError('only a function can make several columns, {}'.format(', '.join(key)))
    if size is not None and len(data) != size:
        raise ValueError(f'the size is {size}, but {key} has {len(data)} rows')
    if not isinstance(data, get_array_types()):
        data = list(data)
    return _Column(key, data)


class _Column(tabular_dataset.TabularDataset):
    """Dataset of one array or list."""

    mode = None

    def __init__(self, key: str, data: Any) -> None:
        self._key = key
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    @property
    def keys(self) -> tuple[str, ...]:
        return (self._key,)

    def get_examples(
        self, indices: Sequence[int] | slice | None, key_indices: Sequence[int] | None
    ) -> tuple[Any, ...]:
        column = _selection.take(self._data, indices)
        return (column,) * (1 if key_indices is None else len(key_indices))


class _Index(tabular_dataset.TabularDataset):
    """Dataset of row numbers."""

    keys = ('index',)
    mode = None

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def get_examples(
        self, indices: Sequence[int] | slice | None, key_indices: Sequence[int] | None
    ) -> tuple[Any, ...]:
        column = _selection.as_list(indices, self._size)
        return (column,) * (1 if key_indices is None else len(key_indices))
