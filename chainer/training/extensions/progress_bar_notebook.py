from __future__ import annotations

import datetime
import sys
from typing import IO, TYPE_CHECKING, Any

from chainer.training.extensions import _ipynb, progress_bar, util

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer
    from chainer.training.updater import Updater


class ProgressBarNotebook(progress_bar.ProgressBar):
    """Version of :class:`~chainer.training.extensions.ProgressBar` for notebooks.

    In Jupyter notebooks it replaces that class. It shows bars in the output of the cell, and
    updates them in their place. Where IPython is not installed, it writes text.

    Args:
        training_length (tuple): Number and unit (``'epoch'`` or ``'iteration'``) of the whole
            training. By default, the stop trigger of the trainer defines it.
        update_interval (int): Number of iterations between two updates.
        bar_length (int): Number of characters of a bar, in text.
        out: File to write text to.

    """

    def __init__(
        self,
        training_length: tuple[float, str] | None = None,
        update_interval: int = 100,
        bar_length: int = 50,
        out: IO[Any] = sys.stdout,
    ) -> None:
        super().__init__(training_length, update_interval, bar_length, out)
        self._speed = util.ProgressBar()
        self._output: _ipynb.Output | None = None
        self._updater: Updater | None = None  # of the last call

    def initialize(self, trainer: Trainer) -> None:
        try:
            self._output = _ipynb.Output()
        except ImportError:
            super().initialize(trainer)
            return
        stop_trigger: Any = trainer.stop_trigger
        length: tuple[float, str] = self._training_length or stop_trigger.get_training_length()
        self._length, self._unit = length
        self._update(self._output, trainer.updater)

    def __call__(self, trainer: Trainer) -> None:
        if self._output is None:
            super().__call__(trainer)
        elif trainer.updater.iteration % self._update_interval == 0:
            self._update(self._output, trainer.updater)
        self._updater = trainer.updater

    def finalize(self) -> None:
        super().finalize()
        if self._output is not None and self._updater is not None:
            self._update(self._output, self._updater)

    def _update(self, output, updater):
        iteration, epoch_detail = updater.iteration, updater.epoch_detail
        done = iteration if self._unit == 'iteration' else epoch_detail
        iters_per_sec, epochs_per_sec = self._speed.update_speed(iteration, epoch_detail)
        speed = iters_per_sec if self._unit == 'iteration' else epochs_per_sec
        remaining = max(self._length - done, 0) / speed if speed else 0.0
        output.show_html(
            f'{_bar("total", done / self._length)}'
            f'{_bar("this epoch", epoch_detail - int(epoch_detail))}'
            f'{iteration:10} iter, {updater.epoch} epoch / {self._length} {self._unit}s<br />'
            f'{iters_per_sec:10.5g} iters/sec. Estimated time to finish: '
            f'{datetime.timedelta(seconds=remaining)}.'
        )


def _bar(name: str, rate: float) -> str:
    return f'<progress value="{rate:.4f}" max="1"></progress> {name} {rate:.2%}<br />'
