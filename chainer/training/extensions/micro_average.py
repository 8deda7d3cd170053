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

        >>> def lossfun(y, t):  # the recall of zeros, of which batches have different numbers
        ...     zeros = t == 0
        ...     found = zeros & (y.array.argmax(axis=1) == 0)
        ...     chainer.report({'found': found.sum(), 'zeros': zeros.sum()}, model)
        ...     return F.softmax_cross_entropy(y, t)
        >>> model.lossfun = lossfun
        >>> trainer.extend(chainer.training.extensions.MicroAverage(
        ...     'main/found', 'main/zeros', 'recall', trigger=(1, 'epoch')))
        >>> trainer.run()
        >>> round(trainer.observation['recall'], 2)
        0.96

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
