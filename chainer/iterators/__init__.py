"""Iterators over datasets."""

from chainer._core.names import hints as _hints  # NOQA
from chainer.iterators import dali_iterator as dali_iterator  # NOQA
from chainer.iterators import multiprocess_iterator as multiprocess_iterator  # NOQA
from chainer.iterators import multithread_iterator as multithread_iterator  # NOQA
from chainer.iterators import order_samplers as order_samplers  # NOQA
from chainer.iterators import serial_iterator as serial_iterator  # NOQA
from chainer.iterators.dali_iterator import DaliIterator as DaliIterator  # NOQA
from chainer.iterators.multiprocess_iterator import MultiprocessIterator as MultiprocessIterator  # NOQA
from chainer.iterators.multithread_iterator import MultithreadIterator as MultithreadIterator  # NOQA
from chainer.iterators.order_samplers import OrderSampler as OrderSampler  # NOQA
from chainer.iterators.order_samplers import ShuffleOrderSampler as ShuffleOrderSampler  # NOQA
from chainer.iterators.serial_iterator import SerialIterator as SerialIterator  # NOQA


def __getattr__(name: str) -> object:
    raise _hints.of_module(__name__, name)
