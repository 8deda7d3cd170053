from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.reports import representation

if TYPE_CHECKING:
    from chainer.dataset._progress import Progress as _Progress
    from chainer.dataset.iterator import Iterator
    from chainer.optimizer import Optimizer
    from chainer.serializer import AbstractSerializer
else:
    _Progress = object


class Updater(_Progress):
    """Interface of updaters, which perform training iterations.

    An updater also has the attributes ``iteration``, ``epoch``, ``epoch_detail``,
    ``previous_epoch_detail`` and ``is_new_epoch``, which triggers read.

    .. admonition:: Example

        >>> class CountingUpdater(chainer.training.Updater):
        ...     iteration = epoch = 0
        ...     def get_all_optimizers(self):
        ...         return {}
        ...     def update(self):
        ...         self.iteration += 1
        >>> trainer = chainer.training.Trainer(CountingUpdater(), (3, 'iteration'))
        >>> trainer.updater.update()
        >>> trainer.updater.iteration
        1

    """

    if TYPE_CHECKING:
        iteration: int

        def get_iterator(self, name: str) -> Iterator: ...
        def __getattr__(self, name: str) -> Any: ...  # attributes of its class

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    def connect_trainer(self, trainer: Any) -> None:
        """Called once with the trainer that uses the updater.

        Args:
            trainer (Trainer): The trainer.

        """

    def finalize(self) -> None:
        """Called when the training ends, to release resources."""

    def get_optimizer(self, name: str) -> Optimizer:
        """Returns an optimizer by name.

        Args:
            name (str): Name of the optimizer; the main one is ``'main'``.

        """
        raise NotImplementedError

    def get_all_optimizers(self) -> dict[str, Optimizer]:
        """Returns the dictionary of the optimizers by name."""
        raise NotImplementedError

    def update(self) -> None:
        """Performs one iteration."""
        raise NotImplementedError

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the state of the updater."""
        raise NotImplementedError
