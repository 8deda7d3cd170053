"""Datasets returned by the methods of TabularDataset."""

import bisect
import itertools

import chainer
from chainer.dataset.tabular import _selection, delegate_dataset, tabular_dataset


class AsMode(delegate_dataset.DelegateDataset):
    def __init__(self, dataset, mode):
        super().__init__(dataset)
        self._mode = mode

    @property
    def mode(self):
        return self._mode


class WithConverter(delegate_dataset.DelegateDataset):
    def __init__(self, dataset, converter):
        super().__init__(dataset)
        self._converter = converter

    def convert(self, data):
        return _apply(self._converter, data)


class Slice(tabular_dataset.TabularDataset):
    def __init__(self, dataset, rows, keys):
        self._dataset = dataset
        self._rows = _selection.normalize_rows(rows, len(dataset))
        self._unary = keys is not None and not isinstance(keys, (tuple, list))
        if keys is None:
            self._key_indices = None
        else:
            if self._unary:
                keys = (keys,)
            self._key_indices = _selection.normalize_keys(keys, dataset.keys)

    def __len__(self):
        return _selection.count(self._rows, len(self._dataset))

    @property
    def keys(self):
        keys = self._dataset.keys
        if self._key_indices is None:
            return keys
        return tuple(keys[i] for i in self._key_indices)

    @property
    def mode(self):
        if self._unary:
            return None
        if self._key_indices is not None and self._dataset.mode is None:
            return tuple
        return self._dataset.mode

    def get_examples(self, indices, key_indices):
        rows = _selection.compose(self._rows, indices, len(self._dataset))
        columns = self._key_indices
        if key_indices is not None:
            columns = key_indices if columns is None else tuple(columns[i] for i in key_indices)
        return self._dataset.get_examples(rows, columns)

    def convert(self, data):
        return self._dataset.convert(data)


class Concat(tabular_dataset.TabularDataset):
    def __init__(self, *datasets):
        for dataset in datasets[1:]:
            if dataset.keys != datasets[0].keys:
                raise ValueError(
                    f'All datasets must have the same keys, but {dataset.keys} != '
                    f'{datasets[0].keys}'
                )
        self._datasets = datasets
        self._ends = list(itertools.accumulate(len(dataset) for dataset in datasets))

    def __len__(self):
        return self._ends[-1]

    @property
    def keys(self):
        return self._datasets[0].keys

    @property
    def mode(self):
        return self._datasets[0].mode

    def get_examples(self, indices, key_indices):
        if indices is None:
            parts = [dataset.get_examples(None, key_indices) for dataset in self._datasets]
            return tuple(_concat_columns(columns) for columns in zip(*parts))

        # Fetch from each dataset once, then restore the requested order of rows.
        indices = _selection.as_list(_selection.normalize_rows(indices, len(self)), len(self))
        rows_of = {}
        places = {}
        for place, i in enumerate(indices):
            k = bisect.bisect_right(self._ends, i)
            start = self._ends[k - 1] if k > 0 else 0
            rows_of.setdefault(k, []).append(i - start)
            places.setdefault(k, []).append(place)
        if not rows_of:
            return self._datasets[0].get_examples([], key_indices)
        parts = [self._datasets[k].get_examples(rows, key_indices) for k, rows in rows_of.items()]
        if len(parts) == 1:
            return tuple(parts[0])
        order = list(itertools.chain.from_iterable(places.values()))
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return tuple(_selection.take(_concat_columns(columns), inverse) for columns in zip(*parts))

    def convert(self, data):
        return self._datasets[0].convert(data)


def _concat_columns(columns):
    if all(isinstance(column, chainer.get_array_types()) for column in columns):
        device = chainer.backend.get_device_from_array(*columns)
        with chainer.using_device(device):
            return device.xp.concatenate(columns)
    return [value for column in columns for value in column]


class Join(tabular_dataset.TabularDataset):
    def __init__(self, *datasets):
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

    def __len__(self):
        return len(self._datasets[0])

    @property
    def keys(self):
        return tuple(key for dataset in self._datasets for key in dataset.keys)

    @property
    def mode(self):
        return self._datasets[0].mode or tuple

    def get_examples(self, indices, key_indices):
        if key_indices is None:
            return tuple(
                column
                for dataset in self._datasets
                for column in dataset.get_examples(indices, None)
            )
        fetched = {}
        start = 0
        for dataset in self._datasets:
            end = start + len(dataset.keys)
            wanted = [i for i in dict.fromkeys(key_indices) if start <= i < end]
            if wanted:
                columns = dataset.get_examples(indices, tuple(i - start for i in wanted))
                fetched.update(zip(wanted, columns))
            start = end
        return tuple(fetched[i] for i in key_indices)

    def convert(self, data):
        return self._datasets[0].convert(data)


class TransformBatch(tabular_dataset.TabularDataset):
    def __init__(self, dataset, keys, transform):
        self._dataset = dataset
        self._keys = keys if isinstance(keys, tuple) else (keys,)
        self._transform = transform
        self._mode = ()  # unknown before the first call of the function

    def __len__(self):
        return len(self._dataset)

    @property
    def keys(self):
        return self._keys

    @property
    def mode(self):
        if self._mode == ():
            self.get_examples([0], None)
        return self._mode

    def get_examples(self, indices, key_indices):
        columns = self._columns(self._dataset._row(self._dataset.get_examples(indices, None)))
        if key_indices is not None:
            columns = tuple(columns[i] for i in key_indices)
        return columns

    def _columns(self, data):
        return self._values(_apply(self._transform, data))

    def _values(self, result):
        """Returns the values in the order of the keys and records the mode."""
        if isinstance(result, tuple):
            mode, values = tuple, result
        elif isinstance(result, dict):
            mode, values = dict, tuple(result[key] for key in self._keys)
        else:
            mode, values = None, (result,)
        if self._mode not in ((), mode):
            raise ValueError(
                f'Transformed examples must have the same form, but {mode} came after {self._mode}'
            )
        if len(values) != len(self._keys):
            raise ValueError(
                'The transformation returned {} values for the keys {}'.format(
                    len(values), ', '.join(self._keys)
                )
            )
        self._mode = mode
        return values

    def convert(self, data):
        return self._dataset.convert(data)


class Transform(TransformBatch):
    def _columns(self, data):
        if isinstance(data, tuple):
            rows = zip(*data)
        elif isinstance(data, dict):
            rows = (dict(zip(data, values)) for values in zip(*data.values()))
        else:
            rows = data
        rows = [self._values(_apply(self._transform, row)) for row in rows]
        return tuple(list(column) for column in zip(*rows)) or ([],) * len(self._keys)


def _apply(func, data):
    if isinstance(data, tuple):
        return func(*data)
    if isinstance(data, dict):
        return func(**data)
    return func(data)
