from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import optimizer
from chainer._core.optimizers import elementwise as _elementwise

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter, UpdateRule


class CorrectedMomentumSGDRule(_elementwise.ElementwiseRule):
    """Update rule of :class:`~chainer.optimizers.CorrectedMomentumSGD`.

    Args:
        parent_hyperparam (~chainer.optimizer.Hyperparameter): Hyperparameters
            of the optimizer. Without them, the defaults of the optimizer.
        lr (float): Learning rate, of this parameter.
        momentum (float): Exponential decay rate of the first order moment, of this parameter.

    .. admonition:: Example

        >>> from chainer.optimizers.corrected_momentum_sgd import CorrectedMomentumSGDRule
        >>> param = chainer.Parameter(np.array([1, 2], np.float32))
        >>> param.grad = np.array([1, -1], np.float32)
        >>> param.update_rule = CorrectedMomentumSGDRule(lr=0.1)
        >>> param.update()
        >>> param.array.round(3)
        array([0.9, 2.1], dtype=float32)

    """

    _defaults = {'lr': 0.01, 'momentum': 0.9}
    _state_names = ('v',)
    _chainerx_name = 'corrected_momentum_sgd'

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        momentum: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam, lr=lr, momentum=momentum)

    def _step(self, p, g, v, lr, momentum):
        v *= momentum
        v -= g
        # The rate multiplies all of the velocity, so that no step of before keeps an older rate.
        p += lr * v


class CorrectedMomentumSGD(optimizer.GradientMethod):
    r"""Momentum SGD whose velocity does not depend on the learning rate.

    A change of the learning rate applies to the whole velocity at once.

    .. math::

        v &\leftarrow momentum \, v - g \\
        p &\leftarrow p + lr \, v

    See P. Goyal et al., `Accurate, Large Minibatch SGD
    <https://arxiv.org/abs/1706.02677>`_, section 3.

    Args:
        lr (float): Learning rate.
        momentum (float): Exponential decay rate of the first order moment.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.CorrectedMomentumSGD(lr=0.1, momentum=0.9).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.46

    """

    lr: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('lr')
    momentum: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('momentum')

    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None:
        super().__init__()
        _elementwise.set_numbers(self.hyperparam, lr=lr, momentum=momentum)

    def create_update_rule(self) -> UpdateRule:
        return CorrectedMomentumSGDRule(self.hyperparam)
