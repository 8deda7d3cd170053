from __future__ import annotations

import datetime
import sys
from typing import IO, TYPE_CHECKING, Any

from chainer.training.extensions import progress_bar, util

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class ProgressBarNotebook(progress_bar.ProgressBar):
    """Version of :class:`~chainer.training.extensions.ProgressBar` for notebooks.

    In Jupyter notebooks it replaces that class. It shows widgets if ipywidgets is installed, and
    writes text otherwise.

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
        self._widgets: list[Any] | None = None

    def initialize(self, trainer: Trainer) -> None:
        try:
            import ipywidgets
            from IPython import display
        except ImportError:
            super().initialize(trainer)
            return
        stop_trigger: Any = trainer.stop_trigger
        length: tuple[float, str] = self._training_length or stop_trigger.get_training_length()
        self._length, self._unit = length
        self._widgets = [
            ipywidgets.FloatProgress(description='total', min=0, max=1),
            ipywidgets.FloatProgress(description='this epoch', min=0, max=1),
            ipywidgets.HTML(),
        ]
        self._update(trainer.updater)
        display.display(ipywidgets.VBox(self._widgets))

    def __call__(self, trainer: Trainer) -> None:
        if self._widgets is None:
            super().__call__(trainer)
        elif trainer.updater.iteration % self._update_interval == 0:
            self._update(trainer.updater)

    def finalize(self) -> None:
        super().finalize()
        if self._widgets is not None:
            total, this_epoch, _ = self._widgets
            total.value = total.max
            this_epoch.value = this_epoch.max

    def _update(self, updater):
        iteration, epoch_detail = updater.iteration, updater.epoch_detail
        done = iteration if self._unit == 'iteration' else epoch_detail
        iters_per_sec, epochs_per_sec = self._speed.update_speed(iteration, epoch_detail)
        speed = iters_per_sec if self._unit == 'iteration' else epochs_per_sec
        remaining = (self._length - done) / speed if speed else 0.0
        total, this_epoch, status = self._widgets
        total.value = done / self._length
        this_epoch.value = epoch_detail - int(epoch_detail)
        status.value = (
            f'{iteration:10} iter, {updater.epoch} epoch / {self._length} {self._unit}s<br />'
            f'{iters_per_sec:10.5g} iters/sec. Estimated time to finish: '
            f'{datetime.timedelta(seconds=remaining)}.'
        )
