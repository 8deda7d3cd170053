from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import reporter, serializer as serializer_module
from chainer.training import _serialization, extension, util
from chainer.variable import as_array

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec


class MicroAverage(extension.Extension):
    """Extension that reports the quotient of the sums of two observed values.

    If batches have different sizes, the mean of their quotients is not the quotient over all
    examples. This extension computes the latter: the sum of numerators over an
    interval divided by the sum of denominators.

    Args:
        numerator_key (str): Key of the numerator.
        denominator_key (str): Key of the denominator.
        result_key (str): Key of the reported quotient.
        trigger: Trigger that ends the intervals and reports the quotient.

    .. admonition:: Example

        >>> import tempfile
        >>> from chainer import testing
        >>> counts = iter([(9, 10), (1, 2)])
        >>> def count(trainer):
        ...     correct, total = next(counts)
        ...     chainer.report({'correct': correct, 'total': total})
        >>> trainer = testing.get_trainer_with_mock_updater((2, 'iteration'))
        >>> trainer.extend(count, priority=chainer.training.PRIORITY_WRITER)
        >>> trainer.extend(chainer.training.extensions.MicroAverage(
        ...     'correct', 'total', 'accuracy', trigger=(2, 'iteration')))
        >>> with tempfile.TemporaryDirectory() as trainer.out:
        ...     trainer.run()
        >>> round(trainer.observation['accuracy'], 3)  # 10 of 12
        0.833

    """

    priority = extension.PRIORITY_EDITOR

    def __init__(
        self,
        numerator_key: str,
        denominator_key: str,
        result_key: str,
        trigger: TriggerSpec = (1, 'epoch'),
    ) -> None:
        self._trigger = util.get_trigger(trigger)
        self._numerator_key = numerator_key
        self._denominator_key = denominator_key
        self._result_key = result_key
        self._numerator: Any = 0
        self._denominator = 0

    def __call__(self, trainer: Trainer) -> None:
        observation = trainer.observation
        if not (self._numerator_key in observation and self._denominator_key in observation):
            return
        self._numerator += observation[self._numerator_key]
        self._denominator += observation[self._denominator_key]
        if self._trigger(trainer):
            result = float(as_array(self._numerator / self._denominator))
            self._numerator = 0
            self._denominator = 0
            reporter.report({self._result_key: result})

    def serialize(self, serializer: AbstractSerializer) -> None:
        _serialization.serialize_extras({'_trigger': self._trigger}, serializer)
        self._numerator = _serialize_sum(serializer, '_numerator', self._numerator)
        self._denominator = _serialize_sum(serializer, '_denominator', self._denominator)


def _serialize_sum(serializer, key, value):
    value = as_array(value)
    if isinstance(value, int) and isinstance(serializer, serializer_module.Deserializer):
        value = float(value)  # what is stored need not be an integer
    return reporter._scalar(serializer(key, value))
