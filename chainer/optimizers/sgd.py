from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import optimizer
from chainer._core.optimizers import elementwise as _elementwise

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter, UpdateRule


class SGDRule(_elementwise.ElementwiseRule):
    """Update rule of :class:`~chainer.optimizers.SGD`.

    Args:
        parent_hyperparam (~chainer.optimizer.Hyperparameter): Hyperparameters
            of the optimizer. Without them, the defaults of the optimizer.
        lr (float): Learning rate, of this parameter.

    .. admonition:: Example

        >>> from chainer.optimizers.sgd import SGDRule
        >>> param = chainer.Parameter(np.array([1, 2], np.float32))
        >>> param.grad = np.array([1, -1], np.float32)
        >>> param.update_rule = SGDRule(lr=0.1)
        >>> param.update()
        >>> param.array.round(3)
        array([0.9, 2.1], dtype=float32)

    """

    _defaults = {'lr': 0.01}
    _chainerx_name = 'sgd'

    def __init__(
        self, parent_hyperparam: Hyperparameter | None = None, lr: float | None = None
    ) -> None:
        super().__init__(parent_hyperparam, lr=lr)

    def _step(self, p, g, lr):
        # Not by `g *= lr`: hooks after the update read the gradient.
        p -= lr * g


class SGD(optimizer.GradientMethod):
    r"""Stochastic gradient descent: :math:`p \leftarrow p - lr \, g`.

    Args:
        lr (float): Learning rate.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.64

    """

    lr: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('lr')

    def __init__(self, lr: float = 0.01) -> None:
        super().__init__()
        _elementwise.set_numbers(self.hyperparam, lr=lr)

    def create_update_rule(self) -> UpdateRule:
        return SGDRule(self.hyperparam)
