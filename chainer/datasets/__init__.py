"""Dataset classes and functions that provide well-known data."""

from chainer._core.names import hints as _hints  # NOQA
from chainer.datasets import cifar as cifar  # NOQA
from chainer.datasets import concatenated_dataset as concatenated_dataset  # NOQA
from chainer.datasets import dict_dataset as dict_dataset  # NOQA
from chainer.datasets import digits as digits  # NOQA
from chainer.datasets import fashion_mnist as fashion_mnist  # NOQA
from chainer.datasets import image_dataset as image_dataset  # NOQA
from chainer.datasets import kuzushiji_mnist as kuzushiji_mnist  # NOQA
from chainer.datasets import mnist as mnist  # NOQA
from chainer.datasets import pickle_dataset as pickle_dataset  # NOQA
from chainer.datasets import ptb as ptb  # NOQA
from chainer.datasets import sub_dataset as sub_dataset  # NOQA
from chainer.datasets import svhn as svhn  # NOQA
from chainer.datasets import text_dataset as text_dataset  # NOQA
from chainer.datasets import transform_dataset as transform_dataset  # NOQA
from chainer.datasets import tuple_dataset as tuple_dataset  # NOQA
from chainer.datasets.cifar import get_cifar10 as get_cifar10  # NOQA
from chainer.datasets.cifar import get_cifar100 as get_cifar100  # NOQA
from chainer.datasets.concatenated_dataset import ConcatenatedDataset as ConcatenatedDataset  # NOQA
from chainer.datasets.dict_dataset import DictDataset as DictDataset  # NOQA
from chainer.datasets.digits import get_digits as get_digits  # NOQA
from chainer.datasets.fashion_mnist import get_fashion_mnist as get_fashion_mnist  # NOQA
from chainer.datasets.fashion_mnist import get_fashion_mnist_labels as get_fashion_mnist_labels  # NOQA
from chainer.datasets.image_dataset import ImageDataset as ImageDataset  # NOQA
from chainer.datasets.image_dataset import LabeledImageDataset as LabeledImageDataset  # NOQA
from chainer.datasets.image_dataset import LabeledZippedImageDataset as LabeledZippedImageDataset  # NOQA
from chainer.datasets.image_dataset import MultiZippedImageDataset as MultiZippedImageDataset  # NOQA
from chainer.datasets.image_dataset import ZippedImageDataset as ZippedImageDataset  # NOQA
from chainer.datasets.kuzushiji_mnist import get_kuzushiji_mnist as get_kuzushiji_mnist  # NOQA
from chainer.datasets.kuzushiji_mnist import (
    get_kuzushiji_mnist_labels as get_kuzushiji_mnist_labels,
)  # NOQA
from chainer.datasets.mnist import get_mnist as get_mnist  # NOQA
from chainer.datasets.pickle_dataset import open_pickle_dataset as open_pickle_dataset  # NOQA
from chainer.datasets.pickle_dataset import open_pickle_dataset_writer as open_pickle_dataset_writer  # NOQA
from chainer.datasets.pickle_dataset import PickleDataset as PickleDataset  # NOQA
from chainer.datasets.pickle_dataset import PickleDatasetWriter as PickleDatasetWriter  # NOQA
from chainer.datasets.ptb import get_ptb_words as get_ptb_words  # NOQA
from chainer.datasets.ptb import get_ptb_words_vocabulary as get_ptb_words_vocabulary  # NOQA
from chainer.datasets.sub_dataset import (
    get_cross_validation_datasets as get_cross_validation_datasets,
)  # NOQA
from chainer.datasets.sub_dataset import (
    get_cross_validation_datasets_random as get_cross_validation_datasets_random,
)  # NOQA
from chainer.datasets.sub_dataset import split_dataset as split_dataset  # NOQA
from chainer.datasets.sub_dataset import split_dataset_n as split_dataset_n  # NOQA
from chainer.datasets.sub_dataset import split_dataset_n_random as split_dataset_n_random  # NOQA
from chainer.datasets.sub_dataset import split_dataset_random as split_dataset_random  # NOQA
from chainer.datasets.sub_dataset import SubDataset as SubDataset  # NOQA
from chainer.datasets.svhn import get_svhn as get_svhn  # NOQA
from chainer.datasets.text_dataset import TextDataset as TextDataset  # NOQA
from chainer.datasets.transform_dataset import TransformDataset as TransformDataset  # NOQA
from chainer.datasets.tuple_dataset import TupleDataset as TupleDataset  # NOQA


def __getattr__(name: str) -> object:
    raise _hints.of_module(__name__, name)
