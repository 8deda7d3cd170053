from chainer.dataset.tabular import tabular_dataset


class DelegateDataset(tabular_dataset.TabularDataset):
    """Dataset that delegates everything to another one; subclasses override parts.

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

    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    @property
    def keys(self):
        return self.dataset.keys

    @property
    def mode(self):
        return self.dataset.mode

    def get_examples(self, indices, key_indices):
        return self.dataset.get_examples(indices, key_indices)

    def convert(self, data):
        return self.dataset.convert(data)
