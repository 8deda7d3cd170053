from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.training import extension, util

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec


class OptunaPruning(extension.Extension):
    """Extension that reports values to a trial of Optuna, and stops trials that promise little.

    Each time the trigger fires, it reports the value to the trial. If the pruner of the study then
    advises to, it raises ``optuna.TrialPruned``, which leaves ``Trainer.run`` and tells the study.
    Run the trainer by ``trainer.run(show_loop_exception_msg=False)``, or it prints the exception.
    Programs that used ``optuna.integration.ChainerPruningExtension`` give the same arguments.

    Args:
        trial (optuna.trial.Trial): Trial of the study.
        observation_key (str): Key of the value, such as ``'validation/main/loss'``.
        trigger: Trigger of the reports. It must fire in iterations that observe the value; the
            unit of a pair, ``'epoch'`` or ``'iteration'``, counts the steps of the trial.

    Raises:
        TypeError: If ``trial`` has no methods ``report`` and ``should_prune``.
        KeyError: If the trigger fires, but the value is not observed.

    .. admonition:: Example

        >>> class Trial:  # stands for a trial of study.optimize(objective, n_trials=100)
        ...     def report(self, value, step):
        ...         print(f'loss {value:.2f} at step {step}')
        ...     def should_prune(self):
        ...         return False
        >>> def objective(trial):
        ...     trainer.extend(chainer.training.extensions.OptunaPruning(
        ...         trial, 'main/loss', (1, 'epoch')))
        ...     trainer.run(show_loop_exception_msg=False)
        ...     return float(trainer.observation['main/loss'])
        >>> round(objective(Trial()), 2)
        loss 2.20 at step 1
        loss 1.87 at step 2
        1.87

    """

    priority: int = extension.PRIORITY_READER

    def __init__(
        self, trial: Any, observation_key: str, trigger: TriggerSpec = (1, 'epoch')
    ) -> None:
        for method in 'report', 'should_prune':
            if not callable(getattr(trial, method, None)):
                raise TypeError(
                    f'trial must be a trial of Optuna, with a method {method}(), not {type(trial)}'
                )
        self._trial = trial
        self._key = observation_key
        self.trigger: TriggerSpec = util.get_trigger(trigger)

    def __call__(self, trainer: Trainer) -> None:
        observation = trainer.observation
        if self._key not in observation:
            raise KeyError(
                f'observation_key {self._key!r} is not observed in iteration '
                f'{trainer.updater.iteration}, but the trigger fires in it. Observed are '
                f'{sorted(observation)}'
            )
        in_epochs = getattr(self.trigger, 'unit', 'iteration') == 'epoch'
        step = trainer.updater.epoch if in_epochs else trainer.updater.iteration
        self._trial.report(float(observation[self._key]), step)
        if self._trial.should_prune():
            from optuna import TrialPruned

            raise TrialPruned(f'pruned after {step} {"epochs" if in_epochs else "iterations"}')
