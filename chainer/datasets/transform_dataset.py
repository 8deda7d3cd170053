from chainer.dataset import dataset_mixin


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

    def __init__(self, dataset, transform):
        self._dataset = dataset
        self._transform = transform

    def __len__(self):
        return len(self._dataset)

    def get_example(self, i):
        return self._transform(self._dataset[i])
