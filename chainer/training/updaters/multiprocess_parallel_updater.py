from __future__ import annotations

import multiprocessing.util
import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, reporter
from chainer._core.processes import start_method
from chainer.backends import cuda
from chainer.dataset import _converters, convert
from chainer.training import _processes
from chainer.training.updaters import standard_updater
from chainer.training.updaters._flat_link import (
    gather_grads as gather_grads,
    gather_params as gather_params,
    scatter_grads as scatter_grads,
    scatter_params as scatter_params,
    size_num_grads as size_num_grads,
)
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from chainer.dataset.iterator import Iterator
    from chainer.optimizer import Optimizer


def _nccl():
    """Returns CuPy's NCCL module, or ``None``."""
    if not cuda.available:
        return None
    try:
        from cupy.cuda import nccl

        return nccl if nccl.get_version() > 0 else None
    except (ImportError, AttributeError):
        return None


class _CupyGroup:
    """GPUs of CuPy, each of a process, that combine arrays in place by NCCL."""

    def __init__(self, size, name, rank):
        self.comm = _nccl().NcclCommunicator(size, name, rank)

    def sum(self, array, root):
        pointer = array.data.ptr
        kind = _nccl_type(array)
        stream = cuda.Stream.null.ptr
        self.comm.reduce(pointer, pointer, array.size, kind, _nccl().NCCL_SUM, root, stream)

    def broadcast(self, array, root):
        stream = cuda.Stream.null.ptr
        self.comm.bcast(array.data.ptr, array.size, _nccl_type(array), root, stream)


def _make_group_name(device):
    if isinstance(device, backend.ChainerxDevice):
        return _internal.make_device_group_name(device.device)
    return _nccl().get_unique_id()


def _join_group(device, size, name, rank):
    if isinstance(device, backend.ChainerxDevice):
        return _internal.DeviceGroup(device.device, size, name, rank)
    return _CupyGroup(size, name, rank)


def _is_of_chainerx(device):
    """Whether a device, or a specifier of one, is a GPU of ChainerX."""
    return str(getattr(device, 'name', device)).startswith('cuda:')


class MultiprocessParallelUpdater(standard_updater.StandardUpdater):
    """Updater that trains on several GPUs with one process for each.

    Each process has an iterator and a copy of the model. NCCL sums the gradients and
    distributes the parameters. The first update starts the other processes, by a fork unless
    :func:`multiprocessing.set_start_method` chose another way. Forked processes cannot use CUDA if
    this one has used it before, so use no GPU until then; the updater sends the model to its GPU
    itself. With ``'forkserver'`` and ``'spawn'`` the arguments must be picklable. GPUs of ChainerX
    (``'cuda:0'``), which cannot be named without CUDA, take ``'forkserver'`` by default. Because
    gradients of all batches are summed, see
    :class:`~chainer.training.updaters.ParallelUpdater` about the learning rate.

    Args:
        iterators (list): Iterator of each process, e.g. over parts of the dataset from
            :func:`~chainer.datasets.split_dataset_n_random`.
        optimizer: Optimizer.
        converter: Function that converts a batch to arrays on a device,
            :func:`~chainer.dataset.concat_examples` by default.
        devices (list or dict): GPU of each process, all of CuPy or all of ChainerX; in a
            dictionary the main one has the key ``'main'``.
        auto_new_epoch (bool): If true, calls ``optimizer.new_epoch`` at the end of each epoch.

    Raises:
        RuntimeError: If the devices are not ChainerX's, and CuPy has no NCCL.
        chainerx.BackendError: At the first update, if ChainerX finds no NCCL.
        ValueError: If the numbers of iterators and devices differ, or a device is not a GPU.

    .. admonition:: Example

        >>> parts = chainer.datasets.split_dataset_n_random(train, 4)  # doctest: +SKIP
        >>> iterators = [chainer.iterators.MultiprocessIterator(part, 64)
        ...              for part in parts]  # doctest: +SKIP
        >>> updater = chainer.training.updaters.MultiprocessParallelUpdater(
        ...     iterators, optimizer, devices=range(4))  # doctest: +SKIP

    """

    comm: Any

    def __init__(
        self,
        iterators: Sequence[Iterator],
        optimizer: Optimizer,
        converter: Callable[..., Any] = convert.concat_examples,
        devices: list[Any] | dict[str, Any] | None = None,
        auto_new_epoch: bool = True,
    ) -> None:
        if isinstance(devices, dict):
            devices = dict(devices)
            devices = [devices.pop('main'), *devices.values()]
        self._is_on_chainerx = bool(devices) and all(map(_is_of_chainerx, devices or ()))
        if not self._is_on_chainerx and not MultiprocessParallelUpdater.available():
            raise RuntimeError(
                'NCCL is not enabled. MultiprocessParallelUpdater requires NCCL, which CuPy '
                'has when it is installed with it.'
            )
        if not devices:
            raise ValueError('devices must be specified')
        devices = [_converters.get_device(device) for device in devices]
        if not self._is_on_chainerx and not all(isinstance(d, cuda.GpuDevice) for d in devices):
            raise ValueError(
                f'all devices must be GPUs of CuPy, or all of ChainerX, but they are {devices}'
            )
        iterators = list(iterators)
        if len(iterators) != len(devices):
            raise ValueError(f'{len(iterators)} iterators are given for {len(devices)} devices')
        for iterator in iterators[1:]:
            if len(iterator.dataset) != len(iterators[0].dataset):
                warnings.warn('The lengths of the datasets of the iterators differ.')

        super().__init__(iterators[0], optimizer, converter, auto_new_epoch=auto_new_epoch)
        optimizer.target.cleargrads()
        self._devices = devices
        self._device = self._input_device = devices[0]
        self._other_iterators = iterators[1:]
        self._pipes: list[Connection] = []
        self._workers: list[BaseProcess] = []
        self.comm = None
        self._group = None
        self._master = optimizer.target

    @staticmethod
    def available() -> bool:
        """Returns whether CuPy and NCCL are available. GPUs of ChainerX do not need CuPy."""
        return _nccl() is not None

    def setup_workers(self) -> None:
        """Starts the processes and connects them. :meth:`update_core` calls it."""
        if self._workers:
            return
        # A process that has used CUDA cannot fork workers; its program chooses another method.
        context = start_method.context('forkserver' if self._is_on_chainerx else 'fork')
        for rank, iterator in enumerate(self._other_iterators, start=1):
            self._start_worker(context, rank, iterator)
        device = self._devices[0]
        device.use()
        self._master.to_device(device)
        if len(self._devices) > 1:
            name = _make_group_name(device)
            self._send_message(('join', name))
            self._group = _join_group(device, len(self._devices), name, 0)
            self.comm = getattr(self._group, 'comm', self._group)

    def _start_worker(self, context, rank, iterator):
        pipe, child_pipe = context.Pipe()
        device = self._devices[rank].name
        model_args = iterator, device, self._master, self.converter
        worker = context.Process(
            target=_processes.run,
            args=(_run_worker, rank, len(self._devices), child_pipe, *model_args),
            daemon=True,
        )
        worker.start()
        # If nobody calls finalize(), the exit of the program would wait for it.
        multiprocessing.util.Finalize(self, worker.kill, exitpriority=20)
        child_pipe.close()
        self._workers.append(worker)
        self._pipes.append(pipe)

    def _send_message(self, message):
        for pipe, worker in zip(self._pipes, self._workers):
            if not worker.is_alive():
                raise RuntimeError(
                    f'worker process {worker.pid} of MultiprocessParallelUpdater ended, '
                    f'exit code {worker.exitcode}'
                )
            pipe.send(message)

    def update_core(self) -> None:
        """Performs one iteration on all GPUs."""
        self.setup_workers()
        self._send_message(('update', None))
        with backend.using_device(self._devices[0]):
            iterator = self.get_iterator('main')
            optimizer = self.get_optimizer('main')
            batch = iterator.next()
            _compute_gradients(self._master, self.converter, batch, self._devices[0])
            if self._group is not None:
                grads = gather_grads(self._master)
                self._group.sum(grads, 0)
                scatter_grads(self._master, grads)
            optimizer.update()
            if self._group is not None:
                self._group.broadcast(gather_params(self._master), 0)
            if self.auto_new_epoch and iterator.is_new_epoch:
                optimizer.new_epoch(auto=True)

    def finalize(self) -> None:
        """Ends the processes."""
        for pipe in self._pipes:
            try:
                pipe.send(('finalize', None))
            except OSError:
                pass  # the process has ended already
        for worker in self._workers:
            worker.join(10)
            if worker.is_alive():
                worker.kill()
        self._workers = []
        self._pipes = []
        super().finalize()


def _compute_gradients(model, converter, batch, device):
    model.cleargrads()
    loss = _converters.call_with(model, _converters.call_converter(converter, batch, device))
    # Again: the loss function may have initialized parameters.
    model.cleargrads()
    loss.backward()


def _run_worker(rank, n_devices, pipe, iterator, device, model, converter):
    """Main function of the other processes."""
    _processes.follow_parent()
    device = backend.get_device(device)
    device.use()
    model.to_device(device)
    _, name = pipe.recv()
    group = _join_group(device, n_devices, name, rank)
    worker_reporter = _make_reporter(model)
    while _receive_message(pipe) != 'finalize':
        with worker_reporter.scope({}):
            _compute_gradients(model, converter, iterator.next(), device)
        group.sum(gather_grads(model), 0)
        params = gather_params(model)
        group.broadcast(params, 0)
        scatter_params(model, params)
        model.cleargrads()
    iterator.finalize()


def _make_reporter(model):
    result = reporter.Reporter()
    result.add_observer('main', model)
    result.add_observers('main', model.namedlinks(skipself=True))
    return result


def _receive_message(pipe):
    try:
        message, _ = pipe.recv()
    except EOFError:
        message = 'finalize'
    return message


def _nccl_type(array):
    nccl = _nccl()
    types = {
        numpy.dtype('f2'): nccl.NCCL_FLOAT16,
        numpy.dtype('f4'): nccl.NCCL_FLOAT32,
        numpy.dtype('f8'): nccl.NCCL_FLOAT64,
    }
    return types[array.dtype]
