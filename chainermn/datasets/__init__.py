"""Division of datasets between processes."""

from chainermn.datasets.empty_dataset import create_empty_dataset as create_empty_dataset
from chainermn.datasets.scatter import (
    DataSizeError as DataSizeError,
    scatter_dataset as scatter_dataset,
    scatter_index as scatter_index,
)
