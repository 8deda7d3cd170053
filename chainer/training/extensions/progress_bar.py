from __future__ import annotations

import datetime
import math
import sys
from typing import IO, TYPE_CHECKING, Any

from chainer.training import extension
from chainer.training.extensions import util

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class ProgressBar(extension.Extension):
    """Extension that shows the progress of the training on a terminal.

    Where the output goes to a file or a pipe, it writes a line every ten seconds.

    Args:
        training_length (tuple): Number and unit (``'epoch'`` or ``'iteration'``) of the whole
            training. By default, the stop trigger of the trainer defines it.
        update_interval (int): Number of iterations between two updates of the screen.
        bar_length (int): Number of characters of a bar.
        out: File to write to.

    .. admonition:: Example

        >>> import io
        >>> out = io.StringIO()
        >>> trainer.extend(chainer.training.extensions.ProgressBar(update_interval=4, out=out))
        >>> trainer.run()
        >>> [line for line in out.getvalue().splitlines() if 'total' in line]
        ['... total [#########################.........................] 50.00%',
         '... total [##################################################] 100.00%']

    """

    def __init__(
        self,
        training_length: tuple[float, str] | None = None,
        update_interval: int = 100,
        bar_length: int = 50,
        out: IO[Any] = sys.stdout,
    ) -> None:
        self._training_length = training_length
        self._update_interval = update_interval
        self._bar_length = bar_length
        # Look up the default here, because the standard output may have been redirected.
        self._out = sys.stdout if out is None or out is _default_out else out
        self._pbar: _TrainerProgressBar | None = None

    def initialize(self, trainer: Trainer) -> None:
        self._pbar = _TrainerProgressBar(
            trainer, self._training_length, self._bar_length, self._out
        )

    def __call__(self, trainer: Trainer) -> None:
        if self._pbar is None:
            self.initialize(trainer)
        pbar = self._pbar
        if pbar is not None and trainer.updater.iteration % self._update_interval == 0:
            pbar.update()

    def finalize(self) -> None:
        if self._pbar is not None:
            self._pbar.close()


_default_out = sys.stdout


class _TrainerProgressBar(util.ProgressBar):
    def __init__(
        self,
        trainer: Trainer,
        training_length: tuple[float, str] | None,
        bar_length: int,
        out: IO[Any],
    ) -> None:
        super().__init__(bar_length, out)
        self._trainer = trainer
        stop_trigger: Any = trainer.stop_trigger
        self._training_length = training_length or stop_trigger.get_training_length()
        self.update_speed(trainer.updater.iteration, trainer.updater.epoch_detail)

    def get_lines(self) -> list[str]:
        updater = self._trainer.updater
        length, unit = self._training_length
        done = updater.iteration if unit == 'iteration' else updater.epoch_detail
        iters_per_sec, epochs_per_sec = self.update_speed(updater.iteration, updater.epoch_detail)
        speed = iters_per_sec if unit == 'iteration' else epochs_per_sec
        if 0 < speed < math.inf:
            # The last batch of an epoch may reach into the next one.
            remaining = str(datetime.timedelta(seconds=max(length - done, 0) / speed))
        else:
            remaining = 'unknown'
        rate = f'{iters_per_sec:10.5g}' if iters_per_sec < math.inf else f'{"?":>10}'
        return [
            self._format_bar('total', done / length),
            self._format_bar('this epoch', updater.epoch_detail - int(updater.epoch_detail)),
            f'{updater.iteration:10} iter, {updater.epoch} epoch / {length} {unit}s\n',
            f'{rate} iters/sec. Estimated time to finish: {remaining}.\n',
        ]
