from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import configuration
from chainer.training import extension
from chainer.variable import Variable

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class unchain_variables(extension.Extension):
    """Extension that frees the graphs of the variables in the observation.

    If reports keep graphs (``chainer.config.keep_graph_on_report``, which
    :class:`~chainer.training.extensions.DumpGraph` turns on), the graphs take memory until the
    next iteration ends. This extension runs after all others and cuts them.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array(2, np.float32))
        >>> trainer.extend(lambda _: chainer.report({'y': x * x}), name='report')
        >>> trainer.extend(chainer.training.extensions.unchain_variables())
        >>> trainer.run()
        >>> trainer.observation['y'].creator is None
        True

    """

    priority = 0

    def __init__(self) -> None:
        self._keep_graph = False

    def initialize(self, _: Trainer) -> None:
        self._keep_graph = configuration.config.keep_graph_on_report

    def trigger(self, _: Trainer) -> bool:
        """Returns whether reports keep or kept graphs."""
        return self._keep_graph or configuration.config.keep_graph_on_report

    def __call__(self, trainer: Trainer) -> None:
        for value in trainer.observation.values():
            if isinstance(value, Variable):
                value.unchain_backward()
        # What was turned on by another extension may have been turned off in this iteration.
        self._keep_graph = configuration.config.keep_graph_on_report
