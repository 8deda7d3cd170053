from chainer.training import extension


def observe_value(observation_key, target_func):
    """Returns an extension that adds a value to the observation.

    Args:
        observation_key (str): Key of the value.
        target_func: Function of the trainer that returns the value.

    """

    @extension.make_extension(trigger=(1, 'epoch'), priority=extension.PRIORITY_WRITER)
    def _observe_value(trainer):
        trainer.observation[observation_key] = target_func(trainer)

    return _observe_value


def observe_lr(optimizer_name='main', observation_key='lr'):
    """Returns an extension that adds the learning rate to the observation.

    Args:
        optimizer_name (str): Name of the optimizer in the updater.
        observation_key (str): Key of the learning rate.

    """
    return observe_value(
        observation_key, lambda trainer: trainer.updater.get_optimizer(optimizer_name).lr)
