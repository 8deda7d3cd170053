"""Datasets with columns: examples are rows, fetched column by column."""

from chainer.dataset.tabular import tabular_dataset as tabular_dataset  # NOQA
from chainer.dataset.tabular.delegate_dataset import DelegateDataset as DelegateDataset  # NOQA
from chainer.dataset.tabular.from_data import from_data as from_data  # NOQA
