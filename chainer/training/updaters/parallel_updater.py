from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from chainer import backend, function
from chainer.dataset import _converters, convert
from chainer.training.updaters import standard_updater

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.dataset.iterator import Iterator
    from chainer.optimizer import Optimizer
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class ParallelUpdater(standard_updater.StandardUpdater):
    """Updater that splits each batch among copies of the model on several devices.

    The ``i``-th of ``n`` copies computes the loss of the examples ``batch[i::n]``. The updater
    sums all gradients into the main model, updates it and copies it to the others. If the loss
    is a mean over the batch, each loss is the mean over its part, so the gradient is ``n`` times
    that of the whole batch. Divide the learning rate of plain SGD by ``n`` to get the result of
    one device.

    Statistics that a model collects, such as those of batch normalization, come from the part
    of the main model.

    Args:
        iterator: Iterator of the training batches, or a dictionary of iterators.
        optimizer: Optimizer, or a dictionary of optimizers.
        converter: Function that converts a batch to arrays on a device,
            :func:`~chainer.dataset.concat_examples` by default.
        models (dict): Models by name, on their devices; ``'main'`` is the target of the main
            optimizer. If it is ``None`` or empty, copies of the target on each of ``devices``.
        devices (dict): Device specifiers by name, with a key ``'main'``. Supports all devices.
        loss_func: Function of the converted batch that returns the loss; by default, each model.
        loss_scale (float): Scale of the loss, see
            :class:`~chainer.training.updaters.StandardUpdater`.
        auto_new_epoch (bool): If true, calls ``optimizer.new_epoch`` at the end of each epoch.

    Raises:
        ValueError: If neither models nor devices are given.
        KeyError: If ``'main'`` is missing, or a model has no device.

    .. admonition:: Example

        >>> model = L.Classifier(L.Linear(64, 10))
        >>> train, test = chainer.datasets.get_digits()
        >>> iterator = chainer.iterators.SerialIterator(train, 100)
        >>> optimizer = chainer.optimizers.SGD(lr=0.01 / 2).setup(model)
        >>> updater = chainer.training.updaters.ParallelUpdater(
        ...     iterator, optimizer, devices={'main': '@numpy', 'second': '@numpy'})
        >>> updater.update()
        >>> updater.iteration
        1

    """

    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        optimizer: Optimizer | dict[str, Optimizer],
        converter: Callable[..., Any] = convert.concat_examples,
        models: dict[str, Any] | None = None,
        devices: dict[str, Any] | None = None,
        loss_func: Callable[..., Any] | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
    ) -> None:
        super().__init__(
            iterator,
            optimizer,
            converter,
            loss_func=loss_func,
            loss_scale=loss_scale,
            auto_new_epoch=auto_new_epoch,
        )
        if devices is not None:
            devices = {name: _converters.get_device(spec) for name, spec in devices.items()}

        if not models:
            if devices is None:
                raise ValueError('either models or devices must be specified')
            models = _copy_model(self._optimizers['main'].target, devices)
        elif 'main' not in models:
            raise KeyError("'models' must contain a 'main' key.")
        elif devices is None:
            devices = {name: model.device for name, model in models.items()}
        missing = [name for name in models if name not in devices]
        if missing:
            raise KeyError('no device is given for the models: ' + ', '.join(missing))
        self._models = models
        self._devices = devices
        self._synchronized = False  # not known after construction and loading

    def connect_trainer(self, trainer: Trainer) -> None:
        # The copies report too, under names of their own.
        main = self._models['main']
        for name, model in self._models.items():
            if model is main:
                continue
            trainer.reporter.add_observer(name, model)
            trainer.reporter.add_observers(name, model.namedlinks(skipself=True))

    def update_core(self) -> None:
        """Computes the gradients of all parts of a batch and updates all models."""
        optimizer = self.get_optimizer('main')
        iterator = self.get_iterator('main')
        losses = self._compute_losses(self._convert(iterator.next()))
        # Only now, as parameters may have been initialized by the forward computation.
        for model in self._models.values():
            model.cleargrads()
        for loss, device in losses:
            with _using(device):
                loss.backward(loss_scale=self.loss_scale)
        self._update_models(optimizer)
        if self.auto_new_epoch and iterator.is_new_epoch:
            optimizer.new_epoch(auto=True)

    def _convert(self, batch):
        """Inputs of the models that get examples, by their names."""
        n = len(self._models)
        return {
            name: _converters.call_converter(self.converter, batch[i::n], self._devices[name])
            for i, name in enumerate(self._models)
            if len(batch) > i
        }

    def _compute_losses(self, inputs):
        main = self._models['main']
        losses = []
        # The main model comes first, because it may get its parameters initialized here.
        for name in sorted(inputs, key=lambda name: self._models[name] is not main):
            if not self._synchronized and self._models[name] is not main:
                self._models[name].copyparams(main)
            loss_func = self.loss_func or self._models[name]
            with function.force_backprop_mode(), _using(self._devices[name]):
                loss = _converters.call_with(loss_func, inputs[name])
            losses.append((loss, self._devices[name]))
        return losses

    def _update_models(self, optimizer):
        # One optimizer updates the main model, so its device needs the sum and sends the result.
        # This process sees all devices: copies between GPUs do both, without the host where they
        # are connected. NCCL would sum on every device, which pays where each updates its model,
        # as in MultiprocessParallelUpdater.
        main = self._models['main']
        others = [model for model in self._models.values() if model is not main]
        for model in others:
            main.addgrads(model)
        optimizer.update()
        for model in others:
            model.copyparams(main)
        self._synchronized = True

    def serialize(self, serializer: AbstractSerializer) -> None:
        super().serialize(serializer)
        self._synchronized = False


def _using(device):
    return backend.using_device(backend.CpuDevice() if device is None else device)


def _copy_model(main, devices):
    """Returns a copy of a model for each device; the main device gets the model."""
    if 'main' not in devices:
        raise KeyError("'devices' must contain a 'main' key.")
    # Copied before the main model is sent away, so that all copies start alike.
    models = {name: main if name == 'main' else copy.deepcopy(main) for name in devices}
    for name, device in devices.items():
        if device is not None:
            models[name].to_device(device)
    return models
