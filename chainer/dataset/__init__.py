"""Dataset abstraction: datasets, iterators over them, batch converters and downloads."""

from chainer.dataset import convert as convert  # NOQA
from chainer.dataset import dataset_mixin as dataset_mixin  # NOQA
from chainer.dataset import download as download  # NOQA
from chainer.dataset import iterator as iterator  # NOQA
from chainer.dataset import tabular as tabular  # NOQA
from chainer.dataset.convert import concat_examples as concat_examples  # NOQA
from chainer.dataset.convert import ConcatWithAsyncTransfer as ConcatWithAsyncTransfer  # NOQA
from chainer.dataset.convert import Converter as Converter  # NOQA
from chainer.dataset.convert import converter as converter  # NOQA
from chainer.dataset.convert import to_device as to_device  # NOQA
from chainer.dataset.dataset_mixin import DatasetMixin as DatasetMixin  # NOQA
from chainer.dataset.download import cache_or_load_file as cache_or_load_file  # NOQA
from chainer.dataset.download import cached_download as cached_download  # NOQA
from chainer.dataset.download import get_dataset_directory as get_dataset_directory  # NOQA
from chainer.dataset.download import get_dataset_root as get_dataset_root  # NOQA
from chainer.dataset.download import set_dataset_root as set_dataset_root  # NOQA
from chainer.dataset.iterator import Iterator as Iterator  # NOQA
from chainer.dataset.tabular.tabular_dataset import TabularDataset as TabularDataset  # NOQA
