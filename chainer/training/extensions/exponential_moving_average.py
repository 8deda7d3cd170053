from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, serializer as serializer_module
from chainer._core.models import saving
from chainer.training import _serialization, extension

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType

    from chainer.link import Link
    from chainer.serializer import AbstractSerializer
    from chainer.training.extension import Extension
    from chainer.training.trainer import Trainer
    from chainer.types import NdArray


class ExponentialMovingAverage(extension.Extension):
    """Extension that averages the parameters of a model over the updates.

    The average :math:`a` starts as a copy of a parameter :math:`p` at the first call. Each later
    call makes it :math:`a \\leftarrow d a + (1 - d) p` with the decay :math:`d`. Averaged
    parameters often generalize better than those of the last update. The training does
    not use them; apply them with :meth:`applied` or :meth:`wrap`.

    Averages of float16 parameters are float32. Persistent values, such as the statistics of
    batch normalization, are not averaged.

    Source: Polyak and Juditsky, `Acceleration of Stochastic Approximation by Averaging
    <https://doi.org/10.1137/0330046>`_; in this form e.g. in section 7 of Szegedy et al.,
    `Rethinking the Inception Architecture <https://arxiv.org/abs/1512.00567>`_.

    The extension runs before those that write to the observation, so that an evaluator in the
    same iteration uses the latest average.

    Args:
        target (chainer.Link): Model.
        decay (float): Decay :math:`d`, at least 0 and less than 1.
        warmup (bool): If true, the decay of the ``t``-th call after the first is at most
            ``(1 + t) / (10 + t)``, which makes the average useful from the first updates on.

    Raises:
        ValueError: If ``decay`` is out of its range.

    .. admonition:: Example

        Evaluate with the parameters and with their averages, and save the latter:

        >>> model = L.Classifier(L.Linear(64, 10))
        >>> train, test = chainer.datasets.get_digits()
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> updater = chainer.training.StandardUpdater(
        ...     chainer.iterators.SerialIterator(train, 100), optimizer)
        >>> trainer = chainer.training.Trainer(updater, (2, 'epoch'))
        >>> extensions = chainer.training.extensions
        >>> def evaluator():
        ...     iterator = chainer.iterators.SerialIterator(test, 100, repeat=False)
        ...     return extensions.Evaluator(iterator, model)
        >>> average = extensions.ExponentialMovingAverage(model, decay=0.999)
        >>> trainer.extend(average)
        >>> trainer.extend(evaluator())
        >>> trainer.extend(average.wrap(evaluator()), name='average')
        >>> trainer.extend(average.wrap(extensions.snapshot_object(model, 'average.npz')))

    """

    priority = extension.PRIORITY_WRITER + 100

    def __init__(self, target: Link, decay: float = 0.999, warmup: bool = False) -> None:
        if not 0 <= decay < 1:
            raise ValueError(f'decay must be at least 0 and less than 1, but is {decay}')
        self._target = target
        self._decay = decay
        self._warmup = warmup
        self._t = 0
        self._averages: dict[str, NdArray | None] = {}

    @property
    def averages(self) -> dict[str, NdArray | None]:
        """Dictionary from the names of the parameters to the arrays of their averages."""
        return self._averages

    def __call__(self, trainer: Trainer | None = None) -> Any:
        """Updates the averages.

        Args:
            trainer (Trainer): Trainer that calls the extension; optional.

        """
        decay = self._decay
        if self._warmup:
            decay = min(decay, (1 + self._t) / (10 + self._t))
        for name, param in self._target.namedparams(include_uninit=False):
            array = param.array
            average = self._averages.get(name)
            with backend.using_device(param.device):
                if average is None:
                    self._averages[name] = array.astype(_average_dtype(array))
                    continue
                if not param.device.is_array_supported(average):
                    average = self._averages[name] = param.device.send(average)
                difference = array - average
                difference *= 1 - decay
                average += difference
        self._t += 1

    @contextlib.contextmanager
    def applied(self) -> Generator[None, None, None]:
        """Context manager within which the parameters have the values of their averages.

        Parameters that have no average yet keep their values.

        .. admonition:: Example

            >>> model = L.Linear(2, 1, nobias=True)
            >>> average = chainer.training.extensions.ExponentialMovingAverage(model, 0.75)
            >>> for value in 1, 5:
            ...     model.W.array[...] = value
            ...     average()
            >>> with average.applied():
            ...     print(model.W.array)
            [[2. 2.]]
            >>> print(model.W.array)
            [[5. 5.]]

        """
        originals = []
        try:
            for name, param in self._target.namedparams(include_uninit=False):
                average = self._averages.get(name)
                if average is not None:
                    with backend.using_device(param.device):
                        average = param.device.send(average).astype(param.dtype, copy=False)
                    # The array itself, not a view, because on ChainerX it has the gradient.
                    originals.append((param, param.raw_array))
                    param.array = average
            yield
        finally:
            # A shared parameter, which has several names, gets its first array at last.
            for param, array in reversed(originals):
                param._set_array(array)

    def wrap(self, extension: Callable[[Trainer], Any]) -> Extension:
        """Returns an extension that calls another one with the averages applied.

        Args:
            extension: Extension, for example an :class:`Evaluator` or one made by
                :func:`snapshot_object`.

        """
        return _WithAverages(self, extension)

    def serialize(self, serializer: AbstractSerializer) -> None:
        saving.remember(serializer, self)
        self._t = serializer('t', self._t)
        averages = serializer['averages']
        if isinstance(serializer, serializer_module.Serializer):
            for name, average in self._averages.items():
                averages(name, average)
            return
        self._averages = {}
        if self._t == 0:
            return
        for name, _ in self._target.namedparams():
            with contextlib.suppress(KeyError):  # the parameter was not initialized yet
                # On the device of the parameter from the next call on.
                average = averages(name, None)
                if average is not None:
                    self._averages[name] = average


def _average_dtype(array):
    dtype = numpy.dtype(str(array.dtype))
    return numpy.dtype('f4') if dtype == 'f2' else dtype


class _WithAverages(extension.Extension):
    """Extension that calls another one with averages applied."""

    def __init__(self, average: ExponentialMovingAverage, base: Any) -> None:
        self._average = average
        self._base = base
        self.trigger = getattr(base, 'trigger', extension.Extension.trigger)
        self.priority = getattr(base, 'priority', extension.Extension.priority)

    @property
    def default_name(self) -> str:
        base = self._base
        name: Any = getattr(base, '__name__', None)
        return getattr(base, 'default_name', name)

    @property
    def name(self) -> str | None:
        return getattr(self._base, 'name', None)

    @name.setter
    def name(self, value: str | None) -> None:
        self._base.name = value  # evaluators report under it

    def __call__(self, trainer: Trainer) -> None:
        with self._average.applied():
            return self._base(trainer)

    def initialize(self, trainer: Trainer) -> None:
        _call(self._base, 'initialize', trainer)

    def on_error(self, trainer: Trainer, exc: Exception, tb: TracebackType) -> None:
        with self._average.applied():
            _call(self._base, 'on_error', trainer, exc, tb)

    def finalize(self) -> None:
        _call(self._base, 'finalize')

    def serialize(self, serializer: AbstractSerializer) -> None:
        _serialization.serialize_part(self._base, serializer)


def _call(base, method, *args):
    method = getattr(base, method, None)
    if method is not None:
        method(*args)
