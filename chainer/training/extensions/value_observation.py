from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.training import extension

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.training.trainer import Trainer


def observe_value(
    observation_key: str, target_func: Callable[[Trainer], Any]
) -> Callable[[Trainer], None]:
    """Returns an extension that adds a value to the observation.

    Args:
        observation_key (str): Key of the value.
        target_func: Function of the trainer that returns the value.

    Returns:
        Extension, which is called at each epoch by default.

    .. admonition:: Example

        >>> trainer.extend(chainer.training.extensions.observe_value(
        ...     'progress', lambda trainer: trainer.updater.epoch_detail / 2))
        >>> trainer.run()
        >>> trainer.observation['progress']
        1.0

    """

    @extension.make_extension(trigger=(1, 'epoch'), priority=extension.PRIORITY_WRITER)
    def _observe_value(trainer):
        trainer.observation[observation_key] = target_func(trainer)

    return _observe_value


def observe_lr(
    optimizer_name: str = 'main', observation_key: str = 'lr'
) -> Callable[[Trainer], None]:
    """Returns an extension that adds the learning rate to the observation.

    It is ``optimizer.lr``. That of :class:`~chainer.optimizers.Adam` and its variants is the rate
    with the correction of the moments' bias, :attr:`Adam.alpha_t
    <chainer.optimizers.Adam.alpha_t>`, which differs from ``alpha`` until thousands of steps are
    done. To observe ``alpha`` itself, as schedules set it, use ``observe_value('alpha', lambda
    trainer: trainer.updater.get_optimizer('main').alpha)``.

    Args:
        optimizer_name (str): Name of the optimizer in the updater.
        observation_key (str): Key of the learning rate.

    Returns:
        Extension, which is called at each epoch by default.

    .. admonition:: Example

        >>> trainer.extend(chainer.training.extensions.observe_lr())
        >>> trainer.run()
        >>> trainer.observation['lr']
        0.1

    """

    def get_lr(trainer):
        return trainer.updater.get_optimizer(optimizer_name).lr

    return observe_value(observation_key, get_lr)
