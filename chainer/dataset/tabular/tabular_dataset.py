import chainer
from chainer import backend
from chainer.dataset import dataset_mixin


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

    def __len__(self):
        raise NotImplementedError

    @property
    def keys(self):
        """Names of the columns (tuple of strs)."""
        raise NotImplementedError

    @property
    def mode(self):
        """Form of an example: ``tuple``, ``dict``, or ``None`` for the only column's value."""
        raise NotImplementedError

    def get_examples(self, indices, key_indices):
        """Returns some columns of some rows.

        Args:
            indices (list of ints or slice): Rows; ``None`` means all.
            key_indices (tuple of ints): Columns; ``None`` means all.

        Returns:
            tuple: For each column a list or array of its values.

        """
        raise NotImplementedError

    @property
    def slice(self):
        """Selects rows and columns: ``dataset.slice[rows]``, ``dataset.slice[rows, columns]``.

        Rows are a slice, or a list or array of integers or booleans. Columns are a tuple of
        names or numbers, which keeps the mode, or one name or number, which makes a dataset of
        mode ``None``.
        """
        return _SliceHelper(self)

    def __iter__(self):
        """Returns an iterator over the examples."""
        return (self.get_example(i) for i in range(len(self)))

    def get_example(self, i):
        return self._row(tuple(column[0] for column in self.get_examples([i], None)))

    def fetch(self):
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

    def convert(self, data):
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

    def astuple(self):
        """Returns this dataset with mode ``tuple``."""
        return _derived().AsMode(self, tuple)

    def asdict(self):
        """Returns this dataset with mode ``dict``."""
        return _derived().AsMode(self, dict)

    def concat(self, *datasets):
        """Returns the rows of this dataset followed by those of others.

        Args:
            datasets (TabularDataset): Datasets with the same keys. This dataset sets the mode.

        Raises:
            ValueError: If the keys differ.

        """
        return _derived().Concat(self, *datasets)

    def join(self, *datasets):
        """Returns the columns of this dataset followed by those of others.

        Args:
            datasets (TabularDataset): Datasets of the same length with different keys.

        Raises:
            ValueError: If lengths differ or keys conflict.

        """
        return _derived().Join(self, *datasets)

    def transform(self, keys, transform):
        """Returns the dataset of transformed examples.

        Args:
            keys (tuple of strs): Names of the columns of the result.
            transform: Function of one example, whose values are passed as positional or
                keyword arguments according to the mode. Whether it returns a tuple, a
                dictionary or another value decides the mode of the result.

        """
        return _derived().Transform(self, keys, transform)

    def transform_batch(self, keys, transform_batch):
        """Returns the dataset of examples that are transformed many at a time.

        Args:
            keys (tuple of strs): Names of the columns of the result.
            transform_batch: Like the function of :meth:`transform`, but of columns
                (lists or arrays) and returning columns.

        """
        return _derived().TransformBatch(self, keys, transform_batch)

    def with_converter(self, converter):
        """Returns this dataset with a different :meth:`convert`.

        Args:
            converter: Function of columns, passed as positional or keyword arguments
                according to the mode.

        """
        return _derived().WithConverter(self, converter)


class _SliceHelper:
    def __init__(self, dataset):
        self._dataset = dataset

    def __getitem__(self, args):
        if isinstance(args, tuple):
            indices, keys = args
        else:
            indices, keys = args, None
        return _derived().Slice(self._dataset, indices, keys)


def _derived():
    # Imported last because the derived datasets are subclasses of TabularDataset.
    from chainer.dataset.tabular import _derived

    return _derived


def _as_array(column):
    if isinstance(column, chainer.get_array_types()):
        return column
    device = backend.get_device_from_array(column[0])
    with chainer.using_device(device):
        return device.xp.asarray(column)
