from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec


def is_available() -> bool:
    """Returns whether mock updaters are available. They always are.

    Returns:
        bool: ``True``.

    .. admonition:: Example

        >>> from chainer.testing import training
        >>> training.is_available()
        True

    """
    return True


def get_error() -> None:
    """Returns the reason why mock updaters are unavailable: ``None``.

    .. admonition:: Example

        >>> from chainer.testing import training
        >>> training.get_error() is None
        True

    """
    return None


def check_available() -> None:
    """Raises an error unless mock updaters are available. They always are.

    .. admonition:: Example

        >>> from chainer.testing import training
        >>> training.check_available()

    """


def get_trainer_with_mock_updater(
    stop_trigger: TriggerSpec | None = (10, 'iteration'),
    iter_per_epoch: int = 10,
    extensions: Iterable[Any] | None = None,
) -> Trainer:
    """Makes a trainer that counts iterations and epochs without training.

    Its updater is a :class:`unittest.mock.Mock`; the trainer calls its ``update_core`` once per
    iteration. Use it to test extensions and triggers.

    Args:
        stop_trigger: Trigger that ends the training.
        iter_per_epoch (int): Number of iterations per epoch.
        extensions (iterable): Extensions of the trainer.

    Returns:
        chainer.training.Trainer: The trainer.

    .. admonition:: Example

        >>> from chainer import testing
        >>> trainer = testing.get_trainer_with_mock_updater((6, 'iteration'), iter_per_epoch=4)
        >>> for _ in range(6):
        ...     trainer.updater.update()
        >>> trainer.updater.epoch_detail, trainer.stop_trigger(trainer)
        (1.5, True)

    """
    # Loaded on first use: most tests need no trainer.
    from chainer.training import Trainer

    updater = mock.Mock()
    updater.get_all_optimizers.return_value = {}
    updater.iteration = 0
    updater.epoch = 0
    updater.epoch_detail = 0
    updater.is_new_epoch = True
    updater.previous_epoch_detail = None

    def update():
        updater.update_core()
        previous_epoch = updater.epoch
        updater.previous_epoch_detail = updater.epoch_detail
        updater.iteration += 1
        updater.epoch = updater.iteration // iter_per_epoch
        updater.epoch_detail = updater.iteration / iter_per_epoch
        updater.is_new_epoch = updater.epoch != previous_epoch

    updater.update = update
    return Trainer(updater, stop_trigger, extensions=extensions)
