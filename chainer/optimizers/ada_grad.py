from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import optimizer
from chainer._core.optimizers import elementwise as _elementwise

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter, UpdateRule


class AdaGradRule(_elementwise.ElementwiseRule):
    """Update rule of :class:`~chainer.optimizers.AdaGrad`.

    Args:
        parent_hyperparam (~chainer.optimizer.Hyperparameter): Hyperparameters
            of the optimizer. Without them, the defaults of the optimizer.
        lr (float): Learning rate, of this parameter.
        eps (float): Small value for the numerical stability, of this parameter.

    .. admonition:: Example

        >>> from chainer.optimizers.ada_grad import AdaGradRule
        >>> param = chainer.Parameter(np.array([1, 2], np.float32))
        >>> param.grad = np.array([1, -1], np.float32)
        >>> param.update_rule = AdaGradRule(lr=0.1)
        >>> param.update()
        >>> param.array.round(3)
        array([0.9, 2.1], dtype=float32)

    """

    _defaults = {'lr': 0.001, 'eps': 1e-8}
    _state_names = ('h',)
    _chainerx_name = 'ada_grad'

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam, lr=lr, eps=eps)

    def _step(self, p, g, h, lr, eps):
        h += g * g
        # Inside of the root the default of 1e-8 would act as 1e-4.
        p -= lr * g / (numpy.sqrt(h) + eps)


class AdaGrad(optimizer.GradientMethod):
    r"""AdaGrad.

    .. math::

        h &\leftarrow h + g^2 \\
        p &\leftarrow p - lr \, g / (\sqrt{h} + \epsilon)

    See J. Duchi et al., `Adaptive Subgradient Methods for Online Learning and
    Stochastic Optimization <https://jmlr.org/papers/v12/duchi11a.html>`_.

    Args:
        lr (float): Learning rate.
        eps (float): Small value for the numerical stability.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.AdaGrad(lr=0.1).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.8331

    """

    lr: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('lr')
    eps: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('eps')

    def __init__(self, lr: float = 0.001, eps: float = 1e-8) -> None:
        super().__init__()
        _elementwise.set_numbers(self.hyperparam, lr=lr, eps=eps)

    def create_update_rule(self) -> UpdateRule:
        return AdaGradRule(self.hyperparam)
