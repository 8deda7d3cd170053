from __future__ import annotations

from chainer.dataset.tabular.tabular_dataset import DelegateDataset  # noqa: F401
