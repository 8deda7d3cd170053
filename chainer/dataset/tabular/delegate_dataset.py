from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.dataset.tabular import tabular_dataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.dataset.tabular.tabular_dataset import TabularDataset


class DelegateDataset(tabular_dataset.TabularDataset):
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
