from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from chainer.training.extensions import _interval_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.types import TriggerSpec


class LoggerReport(_interval_report.IntervalReport):
    """Extension that gives the means of observed values to an experiment tracker.

    A trigger sets the intervals. At the end of each interval, the extension hands the means and
    ``epoch`` to the logger, with the iteration as the step. Start and finish runs yourself.

    .. list-table::
       :header-rows: 1

       * - Tracker
         - Logger
       * - Weights & Biases
         - ``wandb.init(project='digits')``, a run
       * - MLflow
         - the module ``mlflow``, or an object with ``log_metrics(values, step=step)``
       * - Trackio
         - the module ``trackio``, after ``trackio.init(project='digits')``
       * - TensorBoard
         - a ``SummaryWriter`` (see :class:`TensorBoardReport`, which makes it itself)
       * - Others
         - a callable of a dictionary and the step

    Args:
        logger: Object with one of the methods ``log_metrics(values, step=step)``,
            ``log(values, step=step)`` and ``add_scalar(key, value, step)``, or a callable
            ``logger(values, step)``.
        keys (iterable of strs): Keys of the values; all values by default.
        trigger: Trigger that ends the intervals. (The trainer must call the extension after
            each iteration.)
        postprocess: Function that may change the dictionary of an interval before it is logged.

    Raises:
        TypeError: If ``logger`` is none of these.

    .. admonition:: Example

        >>> trainer.extend(chainer.training.extensions.LoggerReport(
        ...     lambda values, step: print(step, values), trigger=(1, 'epoch')))
        >>> trainer.run()
        4 {'main/loss': ..., 'main/accuracy': ..., 'epoch': 1}
        8 {'main/loss': ..., 'main/accuracy': ..., 'epoch': 2}

    """

    def __init__(
        self,
        logger: Any,
        keys: Iterable[str] | None = None,
        trigger: TriggerSpec = (1, 'epoch'),
        postprocess: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(keys, trigger, postprocess)
        self._log = _log_function(logger)

    def _record(self, trainer, stats):
        # Trackers know the step and the time of every value.
        values = {k: v for k, v in stats.items() if k not in ('iteration', 'elapsed_time')}
        self._log(values, trainer.updater.iteration)


def _log_function(logger: Any) -> Callable[[dict[str, Any], int], Any]:
    """A function of a dictionary and the step."""
    if not isinstance(logger, logging.Logger):  # whose `log` writes messages
        for name in 'log_metrics', 'log':
            method = getattr(logger, name, None)
            if callable(method):
                return lambda values, step: method(values, step=step)
        if hasattr(logger, 'add_scalar'):
            return lambda values, step: _add_scalars(logger, values, step)
        if callable(logger):
            return logger
    raise TypeError(
        'logger must be callable as logger(values, step), or have a method log_metrics, log or '
        f'add_scalar of an experiment tracker, but is {type(logger)}'
    )


def _add_scalars(writer: Any, values: dict[str, Any], step: int) -> None:
    for key, value in values.items():
        writer.add_scalar(key, value, step)
    writer.flush()
