from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from chainer import reporter
from chainer.training import _serialization, extension, util

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec


class IntervalReport(extension.Extension):
    """Base of the extensions that record the means of observed values over intervals.

    A subclass defines :meth:`_record`. The trigger ends the intervals; the trainer must call
    the extension after each iteration.

    """

    _has_warned = False

    def __init__(
        self,
        keys: Iterable[str] | None,
        trigger: TriggerSpec,
        postprocess: Callable[..., Any] | None,
    ) -> None:
        self._keys = keys
        self._trigger = util.get_trigger(trigger)
        self._postprocess = postprocess
        self._init_summary()

    def _init_summary(self) -> None:
        # Subclasses of LogReport written for Chainer 7 call this method at the end of an interval.
        self._summary = reporter.DictSummary()

    def __call__(self, trainer: Trainer) -> None:
        observation = trainer.observation
        if self._keys is not None:
            observation = {key: observation[key] for key in self._keys if key in observation}
        self._summary.add(observation)

        if not (trainer.is_before_training or self._trigger(trainer)):
            return
        # float() also copies from GPUs.
        stats = {key: float(value) for key, value in self._summary.compute_mean().items()}
        self._warn_of_nan(stats)
        updater = trainer.updater
        stats.update(epoch=updater.epoch, iteration=updater.iteration)
        stats['elapsed_time'] = trainer.elapsed_time
        if self._postprocess is not None:
            self._postprocess(stats)
        self._init_summary()
        self._record(trainer, stats)

    def _warn_of_nan(self, stats):
        # Other values, such as precisions without any positive, may well be NaN.
        losses = [key for key, value in stats.items() if value != value and 'loss' in key]
        if losses and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f'{losses[0]} is NaN: the training has probably diverged. '
                'trainer.extend(extensions.FailOnNonNumber()) stops it at the first parameter that '
                'is not finite, and chainer.set_debug(True) finds the function where NaN begins.',
                stacklevel=2,
            )

    def _record(self, trainer, stats):
        """Writes the dictionary of an interval."""
        raise NotImplementedError

    def serialize(self, serializer: AbstractSerializer) -> None:
        _serialization.serialize_part(self._trigger, serializer, '_trigger')
        self._summary.serialize(serializer['_summary'])
