from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training import extension

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class FailOnNonNumber(extension.Extension):
    """Extension that stops the training when a parameter is infinite or NaN.

    By default, it checks after each iteration.

    Raises:
        RuntimeError: When called, if there is such a parameter; names the optimizer and the
            parameter.

    .. admonition:: Example

        >>> trainer.extend(chainer.training.extensions.FailOnNonNumber())
        >>> model.predictor.b.array[0] = np.nan
        >>> trainer.run(show_loop_exception_msg=False)
        Traceback (most recent call last):
            ...
        RuntimeError: Kill the process since parameters in optimizer 'main' diverge. R.I.P.
        ...

    """

    def __call__(self, trainer: Trainer) -> None:
        for name, optimizer in trainer.updater.get_all_optimizers().items():
            for param_name, param in sorted(optimizer.target.namedparams()):
                array = param.array
                if array is None:
                    continue
                # NaN and infinity survive summation, so only nonfinite sums (also from overflow)
                # need a closer look.
                if param.xp.isfinite(array.sum()) or param.xp.isfinite(array).all():
                    continue
                raise RuntimeError(
                    f"Kill the process since parameters in optimizer '{name}' diverge. R.I.P.\n"
                    f'{param_name} has an infinite element or one that is not a number.'
                )
