from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from chainer import compilation, device_resident, link, optimizer as optimizer_module
from chainer._core.engines import plan_data
from chainer.backends import cuda
from chainer.dataset import _converters, convert, iterator as iterator_module
from chainer.training import _serialization, _updater
from chainer.utils import argument
from chainer.warnings import PerformanceWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer._core.devices.types import DeviceSpec
    from chainer.backend import Device
    from chainer.dataset.iterator import Iterator
    from chainer.optimizer import Optimizer
    from chainer.serializer import AbstractSerializer


class StandardUpdater(_updater.Updater):
    """Updater for training with one loss: fetch a batch, convert it, update the parameters.

    To customize the training, override :meth:`update_core`. It can use several iterators and
    optimizers, passed as dictionaries with a key ``'main'``.

    Args:
        iterator: Iterator of the training batches, or a dictionary of iterators.
        optimizer: Optimizer, or a dictionary of optimizers, set up with their models.
        converter: Function that converts a batch to arrays on a device,
            :func:`~chainer.dataset.concat_examples` by default.
        device: Device specifier of the models, and of the batches unless ``input_device`` is
            given. ``None`` does not move them.
        loss_func: Function of the converted batch that returns the loss; the model of the
            main optimizer by default.
        loss_scale (float): Scale of the loss, which keeps float16 gradients from
            underflowing; the optimizers divide by it again.
        auto_new_epoch (bool): If true, calls ``optimizer.new_epoch`` at the end of each epoch.
        input_device: Device specifier of the batches.
        compile (bool): Whether updates run under :func:`chainer.compile`. This concerns
            :meth:`update_core` of this class and of
            :class:`~chainer.training.updaters.GradientAccumulationUpdater`: one that replaces it
            has to compile its own step, and the constructor warns of it. With a multi-node
            optimizer, plans compute the gradients only.

    Attributes:
        converter: The converter.
        loss_func: The loss function, or ``None``.
        iteration (int): Number of completed updates.
        auto_new_epoch (bool): Whether ``new_epoch`` is called.

    Raises:
        TypeError: If there are other keyword arguments.

    .. admonition:: Example

        >>> model = L.Classifier(L.Linear(64, 10))
        >>> train, test = chainer.datasets.get_digits()
        >>> iterator = chainer.iterators.SerialIterator(train, 100)
        >>> optimizer = chainer.optimizers.Adam().setup(model)
        >>> updater = chainer.training.StandardUpdater(iterator, optimizer)
        >>> updater.update()
        >>> updater.iteration, updater.epoch, optimizer.t
        (1, 0, 1)

    """

    iteration: int

    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        optimizer: Optimizer | dict[str, Optimizer],
        converter: Callable[..., Any] = convert.concat_examples,
        device: DeviceSpec | None = None,
        loss_func: Callable[..., Any] | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
        **kwargs: Any,
    ) -> None:
        input_device, is_compiled = argument.parse_kwargs(
            kwargs, ('input_device', None), ('compile', False)
        )

        if isinstance(iterator, (link.Link, optimizer_module.Optimizer, list)):
            raise TypeError(
                'iterator must be an iterator, such as SerialIterator(dataset, batch_size), but a '
                f'{type(iterator).__name__} was given'
            )
        if isinstance(optimizer, (link.Link, iterator_module.Iterator)):
            raise TypeError(
                'optimizer must be an optimizer, such as SGD().setup(model), but a '
                f'{type(optimizer).__name__} was given'
            )
        if isinstance(iterator, iterator_module.Iterator) or not isinstance(iterator, dict):
            iterator = {'main': iterator}
        self._iterators = iterator
        if not isinstance(optimizer, dict):
            optimizer = {'main': optimizer}
        self._optimizers = optimizer

        self._device: Device | None = _converters.get_device(device)
        if self._device is not None:
            for opt in self._optimizers.values():
                _send_model(opt.target, self._device)
        self._input_device = self._device
        if input_device is not None:
            self._input_device = _converters.get_device(input_device)

        self.converter = converter
        self.loss_func = loss_func
        self.iteration = 0
        self.auto_new_epoch = auto_new_epoch
        self.loss_scale = loss_scale
        self._update: Callable[..., None] = _update
        if is_compiled:
            self._compile()
            self._warn_unless_compiled()
        if loss_scale is not None:
            for opt in self._optimizers.values():
                opt.set_loss_scale(loss_scale)
        if auto_new_epoch:
            for opt in self._optimizers.values():
                opt.use_auto_new_epoch = True

    def _compile(self) -> None:
        """Compiles what :meth:`update_core` of the same class calls."""
        is_whole = plan_data.reason_to_refuse(type(self._optimizers.get('main'))) is None
        self._update = compilation.compile(_update) if is_whole else _UpdateInParts()

    def _warn_unless_compiled(self) -> None:
        owner, compiled = [
            next(cls for cls in type(self).__mro__ if name in vars(cls))
            for name in ('update_core', '_compile')
        ]
        core = type(self).update_core
        code = getattr(core, '__code__', None)
        # An override may well call that of the base class.
        if owner is compiled or 'update_core' in getattr(code, 'co_names', ()):
            return
        warnings.warn(
            f'compile=True has no effect: {core.__qualname__} replaces the update that it '
            'compiles. Decorate the function that computes the loss and updates with '
            'chainer.compile',
            PerformanceWarning,
            stacklevel=3,
        )

    @property
    def device(self) -> Device | None:
        """Device of the models, or ``None`` if it was not given."""
        return self._device

    @property
    def input_device(self) -> Device | None:
        """Device of the batches, or ``None`` if it was not given."""
        return self._input_device

    @property
    def epoch(self) -> int:
        """Number of completed epochs of the main iterator."""
        return self._iterators['main'].epoch

    @property
    def epoch_detail(self) -> float:
        """Number of completed epochs, with fraction, of the main iterator."""
        return self._iterators['main'].epoch_detail

    @property
    def previous_epoch_detail(self) -> float | None:
        """``epoch_detail`` before the last batch."""
        return self._iterators['main'].previous_epoch_detail

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last batch completed an epoch."""
        return self._iterators['main'].is_new_epoch

    def finalize(self) -> None:
        """Finalizes the iterators."""
        for iterator in self._iterators.values():
            iterator.finalize()

    def get_optimizer(self, name: str) -> Optimizer:
        return self._optimizers[name]

    def get_all_optimizers(self) -> dict[str, Optimizer]:
        return dict(self._optimizers)

    def get_iterator(self, name: str) -> Iterator:
        """Returns an iterator by name.

        Args:
            name (str): Name of the iterator.

        """
        return self._iterators[name]

    def update(self) -> None:
        """Performs one iteration: calls :meth:`update_core` and counts."""
        self.update_core()
        self.iteration += 1

    def update_core(self) -> None:
        """Fetches and converts a batch and updates the model with the main optimizer."""
        iterator = self._iterators['main']
        batch = iterator.next()
        in_arrays = _converters.call_converter(self.converter, batch, self.input_device)

        optimizer = self._optimizers['main']
        loss_func = self.loss_func or optimizer.target
        if isinstance(in_arrays, tuple):
            self._update(optimizer, loss_func, *in_arrays)
        elif isinstance(in_arrays, dict):
            self._update(optimizer, loss_func, **in_arrays)
        else:
            self._update(optimizer, loss_func, in_arrays)

        if self.auto_new_epoch and iterator.is_new_epoch:
            optimizer.new_epoch(auto=True)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the states of iterators, optimizers and models."""
        for name, iterator in self._iterators.items():
            _serialization.serialize_part(iterator, serializer, 'iterator:' + name)
        for name, optimizer in self._optimizers.items():
            optimizer.serialize(serializer['optimizer:' + name])
            optimizer.target.serialize(serializer['model:' + name])
        self.iteration = serializer('iteration', self.iteration)


def _update(optimizer: Optimizer, loss_func: Any, /, *args: Any, **kwargs: Any) -> None:
    optimizer.update(loss_func, *args, **kwargs)


class _UpdateInParts:
    """Compiled gradients, and an update of the optimizer that no plan follows.

    Such an optimizer averages the gradients of several processes, between backward and the steps.
    """

    def __init__(self) -> None:
        self._set_grads = compilation.compile(_set_grads)
        self.report = self._set_grads.report

    def __call__(self, optimizer: Any, loss_func: Any, /, *args: Any, **kwargs: Any) -> None:
        self._set_grads(optimizer.actual_optimizer, loss_func, *args, **kwargs)
        optimizer.update()


def _set_grads(optimizer: Any, loss_func: Any, /, *args: Any, **kwargs: Any) -> None:
    optimizer._replace_grads(loss_func, args, kwargs)


def _send_model(model, device):
    if isinstance(device, cuda.GpuDevice):
        # A model that is spread over several GPUs stays so.
        model.device_resident_accept(
            device_resident._ToDeviceVisitor(device, skip_between_cupy_devices=True)
        )
    else:
        model.to_device(device)
