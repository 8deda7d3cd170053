from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from chainer import backend
from chainer._core.devices.array_types import get_array_types
from chainer.backend import using_device
from chainer.dataset import dataset_mixin
from chainer.dataset.tabular import _selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy

    Rows = slice | Sequence[int] | numpy.ndarray | None
    Keys = str | int | Sequence[str | int] | None


class TabularDataset(dataset_mixin.DatasetMixin):
    """Base of datasets with named columns.

    A subclass defines ``__len__``, ``keys``, ``mode`` and :meth:`get_examples`. All other
    methods return datasets or data derived from these; derived datasets fetch only the
    requested rows and columns.

    .. admonition:: Example

        >>> class Squares(chainer.dataset.TabularDataset):
        ...     keys, mode = ('x', 'y'), tuple
        ...     def __len__(self):
        ...         return 4
        ...     def get_examples(self, indices, key_indices):
        ...         x = np.arange(4) if indices is None else np.arange(4)[indices]
        ...         return tuple([x, x ** 2][i] for i in key_indices or range(2))
        >>> dataset = Squares()
        >>> dataset.asdict().slice[1:].fetch()
        {'x': array([1, 2, 3]), 'y': array([1, 4, 9])}
        >>> dataset.slice[:, 'y'].fetch()
        array([0, 1, 4, 9])

    """

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the columns (tuple of strs)."""
        raise NotImplementedError

    @property
    def mode(self) -> type | None:
        """Form of an example: ``tuple``, ``dict``, or ``None`` for the only column's value."""
        raise NotImplementedError

    def get_examples(
        self, indices: Sequence[int] | slice | None, key_indices: Sequence[int] | None
    ) -> tuple[Any, ...]:
        """Returns some columns of some rows.

        Args:
            indices (list of ints or slice): Rows; ``None`` means all.
            key_indices (tuple of ints): Columns; ``None`` means all.

        Returns:
            tuple: For each column a list or array of its values.

        """
        raise NotImplementedError

    @property
    def slice(self) -> _SliceHelper:
        """Selects rows and columns: ``dataset.slice[rows]``, ``dataset.slice[rows, columns]``.

        Rows are a slice, or a list or array of integers or booleans. Columns are a tuple of
        names or numbers, which keeps the mode, or one name or number, which makes a dataset of
        mode ``None``.
        """
        return _SliceHelper(self)

    def __iter__(self) -> Iterator[Any]:
        """Returns an iterator over the examples."""
        return (self.get_example(i) for i in range(len(self)))

    def get_example(self, i: int) -> Any:
        return self._row(tuple(column[0] for column in self.get_examples([i], None)))

    def fetch(self) -> Any:
        """Returns all values, column by column.

        Returns:
            Tuple or dictionary of columns, or the only column, according to the mode.

        """
        return self._row(self.get_examples(None, None))

    def _row(self, values):
        if self.mode is tuple:
            return tuple(values)
        if self.mode is dict:
            return dict(zip(self.keys, values))
        return values[0]

    def convert(self, data: Any) -> Any:
        """Converts fetched columns to arrays.

        Args:
            data: Result of :meth:`fetch`.

        Returns:
            Array, or tuple or dictionary of arrays.

        """
        if isinstance(data, tuple):
            return tuple(_as_array(column) for column in data)
        if isinstance(data, dict):
            return {key: _as_array(column) for key, column in data.items()}
        return _as_array(data)

    def astuple(self) -> TabularDataset:
        """Returns this dataset with mode ``tuple``."""
        return AsMode(self, tuple)

    def asdict(self) -> TabularDataset:
        """Returns this dataset with mode ``dict``."""
        return AsMode(self, dict)

    def concat(self, *datasets: TabularDataset) -> TabularDataset:
        """Returns the rows of this dataset followed by those of others.

        Args:
            datasets (TabularDataset): Datasets with the same keys. This dataset sets the mode.

        Raises:
            ValueError: If the keys differ.

        """
        return Concat(self, *datasets)

    def join(self, *datasets: TabularDataset) -> TabularDataset:
        """Returns the columns of this dataset followed by those of others.

        The mode is the first one of the datasets that is not ``None``, or else :class:`tuple`.

        Args:
            datasets (TabularDataset): Datasets of the same length with different keys.

        Raises:
            ValueError: If lengths differ or keys conflict.

        """
        return Join(self, *datasets)

    def transform(self, keys: tuple[str, ...], transform: Callable[..., Any]) -> TabularDataset:
        """Returns the dataset of transformed examples.

        Args:
            keys (tuple of strs): Names of the columns of the result.
            transform: Function of one example, whose values are passed as positional or
                keyword arguments according to the mode. Whether it returns a tuple, a
                dictionary or another value decides the mode of the result.

        """
        return Transform(self, keys, transform)

    def transform_batch(
        self, keys: tuple[str, ...], transform_batch: Callable[..., Any]
    ) -> TabularDataset:
        """Returns the dataset of examples that are transformed many at a time.

        Args:
            keys (tuple of strs): Names of the columns of the result.
            transform_batch: Like the function of :meth:`transform`, but of columns
                (lists or arrays) and returning columns.

        """
        return TransformBatch(self, keys, transform_batch)

    def with_converter(self, converter: Callable[..., Any]) -> TabularDataset:
        """Returns this dataset with a different :meth:`convert`.

        Args:
            converter: Function of columns, passed as positional or keyword arguments
                according to the mode.

        """
        return WithConverter(self, converter)


class _SliceHelper:
    def __init__(self, dataset: TabularDataset) -> None:
        self._dataset = dataset

    def __getitem__(self, args: Any) -> TabularDataset:
        if isinstance(args, tuple):
            indices, keys = args
        else:
            indices, keys = args, None
        return Slice(self._dataset, indices, keys)


def _as_array(column):
    if isinstance(column, get_array_types()):
        return column
    device = backend.get_device_from_array(column[0])
    with using_device(device):
        return device.xp.asarray(column)


class DelegateDataset(TabularDataset):
    """Dataset that leaves everything to another one: a base to override parts of.

    Args:
        dataset (TabularDataset): Underlying dataset, the attribute ``dataset``.

    .. admonition:: Example

        >>> from chainer.dataset import tabular
        >>> class Reversed(tabular.DelegateDataset):
        ...     def get_examples(self, indices, key_indices):
        ...         rows = list(range(len(self)))[::-1]
        ...         rows = rows if indices is None else [rows[i] for i in indices]
        ...         return self.dataset.get_examples(rows, key_indices)
        >>> Reversed(tabular.from_data([1, 2, 3])).fetch()
        [3, 2, 1]

    """

    def __init__(self, dataset: TabularDataset) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def keys(self) -> tuple[str, ...]:
        return self.dataset.keys

    @property
    def mode(self) -> type | None:
        return self.dataset.mode

    def get_examples(
        self, indices: Sequence[int] | slice | None, key_indices: Sequence[int] | None
    ) -> tuple[Any, ...]:
        return self.dataset.get_examples(indices, key_indices)

    def convert(self, data: Any) -> Any:
        return self.dataset.convert(data)


# -- datasets that the methods of TabularDataset return

# The mode before the first call of a function that decides it.
_NOT_KNOWN: Any = ()


class AsMode(DelegateDataset):
    def __init__(self, dataset: TabularDataset, mode: type) -> None:
        super().__init__(dataset)
        self._mode = mode

    @property
    def mode(self) -> type | None:
        return self._mode


class WithConverter(DelegateDataset):
    def __init__(self, dataset: TabularDataset, converter: Callable[..., Any]) -> None:
        super().__init__(dataset)
        self._converter = converter

    def convert(self, data: Any) -> Any:
        return _apply(self._converter, data)


class Slice(TabularDataset):
    def __init__(self, dataset: TabularDataset, rows: Rows, keys: Keys) -> None:
        self._dataset = dataset
        self._rows = _selection.normalize_rows(rows, len(dataset))
        self._unary = keys is not None and not isinstance(keys, (tuple, list))
        self._key_indices: tuple[int, ...] | None = None
        if keys is not None:
            names = (keys,) if self._unary else keys
            self._key_indices = _selection.normalize_keys(names, dataset.keys)

    def __len__(self) -> int:
        return _selection.count(self._rows, len(self._dataset))

    @property
    def keys(self) -> tuple[str, ...]:
        keys = self._dataset.keys
        if self._key_indices is None:
            return keys
        return tuple(keys[i] for i in self._key_indices)

    @property
    def mode(self) -> type | None:
        if self._unary:
            return None
        if self._key_indices is not None and self._dataset.mode is None:
            return tuple
        return self._dataset.mode

    def get_examples(
        self, indices: Sequence[int] | slice | None, key_indices: Sequence[int] | None
    ) -> tuple[Any, ...]:
        rows = _selection.compose(self._rows, indices, len(self._dataset))
        columns = self._key_indices
        if key_indices is not None:
            if columns is not None:
                key_indices = tuple(columns[i] for i in key_indices)
            return self._dataset.get_examples(rows, key_indices)
        return self._dataset.get_examples(rows, columns)

    def convert(self, data: Any) -> Any:
        return self._dataset.convert(data)


class Concat(TabularDataset):
    def __init__(self, *datasets: TabularDataset) -> None:
        for dataset in datasets[1:]:
            if dataset.keys != datasets[0].keys:
                raise ValueError(
                    f'All datasets must have the same keys, but {dataset.keys} != '
                    f'{datasets[0].keys}'
                )
        self._datasets = datasets
        self._ends = list(itertools.accumulate(len(dataset) for dataset in datasets))

    def __len__(self) -> int:
        return self._ends[-1]

    @property
    def keys(self) -> tuple[str, ...]:
        return self._datasets[0].keys

    @property
    def mode(self) -> type | None:
        return self._datasets[0].mode

    def get_examples(
        self, indices: Sequence[int] | slice | None, key_indices: Sequence[int] | None
    ) -> tuple[Any, ...]:
        if indices is None:
            return _selection.join([d.get_examples(None, key_indices) for d in self._datasets])
        if isinstance(indices, slice):
            order, rows_of = None, _selection.split(indices, self._ends)
        else:
            numbers = _selection.as_list(_selection.normalize_rows(indices, len(self)), len(self))
            order, rows_of = _selection.group(numbers, self._ends)
        columns = _selection.join(
            [self._datasets[k].get_examples(rows, key_indices) for k, rows in rows_of]
        )
        if order is None:
            return columns
        return tuple(_selection.take(column, order) for column in columns)

    def convert(self, data: Any) -> Any:
        return self._datasets[0].convert(data)


class Join(TabularDataset):
    def __init__(self, *datasets: TabularDataset) -> None:
        keys = [key for dataset in datasets for key in dataset.keys]
        if len(set(keys)) != len(keys):
            raise ValueError(
                'All keys must be unique among all datasets, but they are {}'.format(
                    ', '.join(keys)
                )
            )
        for dataset in datasets[1:]:
            if len(dataset) != len(datasets[0]):
                raise ValueError(
                    'All datasets must have the same length, but '
                    f'{len(dataset)} != {len(datasets[0])}'
                )
        self._datasets = datasets

    def __len__(self) -> int:
        return len(self._datasets[0])

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for dataset in self._datasets for key in dataset.keys)

    @property
    def mode(self) -> type | None:
        return next((dataset.mode for dataset in self._datasets if dataset.mode), tuple)

    def get_examples(
        self, indices: Sequence[int] | slice | None, key_indices: Sequence[int] | None
    ) -> tuple[Any, ...]:
        if key_indices is None:
            parts = [dataset.get_examples(indices, None) for dataset in self._datasets]
            return tuple(itertools.chain.from_iterable(parts))
        fetched: dict[int, Any] = {}
        start = 0
        for dataset in self._datasets:
            end = start + len(dataset.keys)
            wanted = [i for i in dict.fromkeys(key_indices) if start <= i < end]
            if wanted:
                columns = dataset.get_examples(indices, tuple(i - start for i in wanted))
                fetched.update(zip(wanted, columns))
            start = end
        return tuple(fetched[i] for i in key_indices)

    def convert(self, data: Any) -> Any:
        return self._datasets[0].convert(data)


class TransformBatch(TabularDataset):
    def __init__(
        self, dataset: TabularDataset, keys: tuple[str, ...] | str, transform: Callable[..., Any]
    ) -> None:
        self._dataset = dataset
        self._keys = keys if isinstance(keys, tuple) else (keys,)
        self._transform = transform
        self._mode: type | None = _NOT_KNOWN

    def __len__(self) -> int:
        return len(self._dataset)

    @property
    def keys(self) -> tuple[str, ...]:
        return self._keys

    @property
    def mode(self) -> type | None:
        if self._mode == _NOT_KNOWN:
            self.get_examples([0], None)
        return self._mode

    def get_examples(
        self, indices: Sequence[int] | slice | None, key_indices: Sequence[int] | None
    ) -> tuple[Any, ...]:
        columns = self._columns(self._dataset._row(self._dataset.get_examples(indices, None)))
        if key_indices is not None:
            columns = tuple(columns[i] for i in key_indices)
        return columns

    def _columns(self, data):
        return self._values(_apply(self._transform, data))

    def _values(self, result):
        """Returns the values in the order of the keys, and notes the mode."""
        mode: type | None
        if isinstance(result, tuple):
            mode, values = tuple, result
        elif isinstance(result, dict):
            mode, values = dict, tuple(result[key] for key in self._keys)
        else:
            mode, values = None, (result,)
        self._check_mode(mode)
        if len(values) != len(self._keys):
            raise ValueError(
                'The transformation returned {} values for the keys {}'.format(
                    len(values), ', '.join(self._keys)
                )
            )
        self._mode = mode
        return values

    def _check_mode(self, mode):
        if self._mode not in (_NOT_KNOWN, mode):
            raise ValueError(
                f'Transformed examples must have the same form, but {mode} came after {self._mode}'
            )

    def convert(self, data: Any) -> Any:
        return self._dataset.convert(data)


class Transform(TransformBatch):
    def _columns(self, data):
        rows: Iterable[Any]
        if isinstance(data, tuple):
            rows = zip(*data)
        elif isinstance(data, dict):
            rows = (dict(zip(data, values)) for values in zip(*data.values()))
        else:
            rows = data
        values = [self._values(_apply(self._transform, row)) for row in rows]
        return tuple(list(column) for column in zip(*values)) or ([],) * len(self._keys)


def _apply(func, data):
    if isinstance(data, tuple):
        return func(*data)
    if isinstance(data, dict):
        return func(**data)
    return func(data)
