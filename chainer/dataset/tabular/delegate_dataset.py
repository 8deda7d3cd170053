from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.dataset.tabular.tabular_dataset import DelegateDataset  # noqa: F401

if TYPE_CHECKING:
    pass
