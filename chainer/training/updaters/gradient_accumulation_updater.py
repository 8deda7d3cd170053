from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from chainer import compilation
from chainer.dataset import _converters
from chainer.training.updaters import standard_updater
from chainer.training.updaters._observations import Observations

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.dataset.iterator import Iterator
    from chainer.optimizer import Optimizer
    from chainer.serializer import AbstractSerializer


class GradientAccumulationUpdater(standard_updater.StandardUpdater):
    """Updater that sums the gradients of several batches before each update.

    It simulates a batch that is ``accumulation_steps`` times as large, with the memory of one
    batch. If the loss is the mean over the examples, the result equals that of the large batch;
    batches of different sizes are weighted by their sizes. (Batch normalization still computes
    its statistics over each batch.)

    An iteration of the trainer is an update: it takes ``accumulation_steps`` batches from the
    iterator, or the remaining ones if it does not repeat. Reported values are means over these
    batches.

    Args:
        iterator: Iterator of the training batches, or a dictionary of iterators.
        optimizer: Optimizer, or a dictionary of optimizers.
        accumulation_steps (int): Number of batches for each update.
        kwargs: Further arguments of :class:`~chainer.training.updaters.StandardUpdater`.

    Raises:
        ValueError: If ``accumulation_steps`` is not positive.

    .. admonition:: Example

        >>> model = L.Classifier(L.Linear(64, 10))
        >>> train, test = chainer.datasets.get_digits()
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> iterator = chainer.iterators.SerialIterator(train, 32)
        >>> updater = chainer.training.updaters.GradientAccumulationUpdater(
        ...     iterator, optimizer, accumulation_steps=8)  # has the effect of 256 examples
        >>> updater.update()
        >>> optimizer.t, round(updater.epoch_detail * len(train))
        (1, 256)

    """

    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        optimizer: Optimizer | dict[str, Optimizer],
        accumulation_steps: int,
        **kwargs: Any,
    ) -> None:
        if accumulation_steps < 1:
            raise ValueError(f'accumulation_steps must be positive, but is {accumulation_steps}')
        self._backward: Callable[..., None] = _backward
        self._apply: Callable[[Optimizer], None] = _apply
        super().__init__(iterator, optimizer, **kwargs)
        self._accumulation_steps = accumulation_steps
        self._is_new_epoch = False
        self._previous_epoch_detail = -1.0

    @property
    def is_new_epoch(self) -> bool:
        """Whether a batch of the last update completed an epoch."""
        return self._is_new_epoch

    @property
    def previous_epoch_detail(self) -> float | None:
        """``epoch_detail`` before the first batch of the last update, or ``None``."""
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    def _compile(self) -> None:
        # One plan for the first batch, which clears gradients, one for those that add to them, and
        # one for the update. Reports are averaged between, where Python reads them.
        self._backward = compilation.compile(_backward)
        self._apply = compilation.compile(_apply)

    def update_core(self) -> None:
        """Sums the gradients of the batches and updates the model with the main optimizer."""
        optimizer = self._optimizers['main']
        batches, n_epochs = self._next_batches()
        self._accumulate(optimizer, batches)
        self._apply(optimizer)
        if self.auto_new_epoch:
            for _ in range(n_epochs):
                optimizer.new_epoch(auto=True)

    def _accumulate(self, optimizer, batches):
        """Adds up the gradients of batches, and reports the means of what they report."""
        n_examples = sum(map(len, batches))
        loss_func = self.loss_func or optimizer.target
        observations = Observations()
        for i, batch in enumerate(batches):
            weight = len(batch) / n_examples
            in_arrays = _converters.call_converter(self.converter, batch, self.input_device)
            with observations.collect(weight):
                backward = functools.partial(self._backward, optimizer, loss_func, weight, i == 0)
                _converters.call_with(backward, in_arrays)
        observations.report()

    def _next_batches(self):
        """Returns the batches of an update and their number of completed epochs."""
        iterator = self._iterators['main']
        previous_epoch_detail = iterator.epoch_detail
        batches = [iterator.next()]
        n_epochs = int(iterator.is_new_epoch)
        while len(batches) < self._accumulation_steps:
            try:
                batches.append(iterator.next())
            except StopIteration:
                break
            n_epochs += iterator.is_new_epoch
        self._previous_epoch_detail = previous_epoch_detail
        self._is_new_epoch = n_epochs > 0
        return batches, n_epochs

    def serialize(self, serializer: AbstractSerializer) -> None:
        super().serialize(serializer)
        try:
            self._is_new_epoch = serializer('is_new_epoch', self._is_new_epoch)
            self._previous_epoch_detail = serializer(
                'previous_epoch_detail', self._previous_epoch_detail
            )
        except KeyError:  # saved by a StandardUpdater
            iterator = self._iterators['main']
            self._is_new_epoch = iterator.is_new_epoch
            if iterator.previous_epoch_detail is not None:
                self._previous_epoch_detail = iterator.previous_epoch_detail


def _backward(
    optimizer: Optimizer,
    loss_func: Any,
    weight: float,
    is_first: bool,
    /,
    *args: Any,
    **kwargs: Any,
) -> None:
    """Adds the gradients of a batch, or sets them if it is the first one."""
    loss = loss_func(*args, **kwargs)
    if is_first:
        # Only now, as parameters may have been initialized by the loss function.
        optimizer.target.cleargrads()
    (loss * weight).backward(loss_scale=optimizer._loss_scale)


def _apply(optimizer: Optimizer) -> None:
    optimizer.update()
