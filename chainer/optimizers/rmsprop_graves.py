from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import optimizer
from chainer._core.optimizers import elementwise as _elementwise

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter, UpdateRule


class RMSpropGravesRule(_elementwise.ElementwiseRule):
    """Update rule of :class:`~chainer.optimizers.RMSpropGraves`.

    Args:
        parent_hyperparam (~chainer.optimizer.Hyperparameter): Hyperparameters
            of the optimizer. Without them, the defaults of the optimizer.
        lr (float): Learning rate, of this parameter.
        alpha (float): Exponential decay rate of the mean square, of this parameter.
        momentum (float): Exponential decay rate of the first order moment, of this parameter.
        eps (float): Small value for the numerical stability, of this parameter.

    .. admonition:: Example

        >>> from chainer.optimizers.rmsprop_graves import RMSpropGravesRule
        >>> param = chainer.Parameter(np.array([1, 2], np.float32))
        >>> param.grad = np.array([1, -1], np.float32)
        >>> param.update_rule = RMSpropGravesRule(lr=0.1)
        >>> param.update()
        >>> param.array.round(3)
        array([0.542, 2.458], dtype=float32)

    """

    _defaults = {'lr': 1e-4, 'alpha': 0.95, 'momentum': 0.9, 'eps': 1e-4}
    _state_names = ('n', 'g', 'delta')
    _chainerx_name = 'rmsprop_graves'

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        alpha: float | None = None,
        momentum: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(**_elementwise.arguments_of(locals()))

    def _step(self, p, grad, n, g, delta, lr, alpha, momentum, eps):
        n *= alpha
        n += (1 - alpha) * grad * grad
        g *= alpha
        g += (1 - alpha) * grad
        delta *= momentum
        # `n - g * g` is a variance, which rounding can make a little negative. So `eps` is larger
        # than that of other rules.
        delta -= lr * grad / numpy.sqrt(n - g * g + eps)
        p += delta


class RMSpropGraves(optimizer.GradientMethod):
    r"""Alex Graves's RMSprop.

    .. math::

        n &\leftarrow \alpha \, n + (1 - \alpha) g^2 \\
        \bar{g} &\leftarrow \alpha \, \bar{g} + (1 - \alpha) g \\
        \delta &\leftarrow momentum \, \delta
            - lr \, g / \sqrt{n - \bar{g}^2 + \epsilon} \\
        p &\leftarrow p + \delta

    See A. Graves, `Generating Sequences With Recurrent Neural Networks
    <https://arxiv.org/abs/1308.0850>`_, equations 38 to 45.

    Args:
        lr (float): Learning rate.
        alpha (float): Exponential decay rate of the mean square.
        momentum (float): Exponential decay rate of the first order moment.
        eps (float): Small value for the numerical stability.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.RMSpropGraves(lr=0.01).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.8799

    """

    lr: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('lr')
    alpha: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('alpha')
    momentum: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('momentum')
    eps: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('eps')

    def __init__(
        self, lr: float = 1e-4, alpha: float = 0.95, momentum: float = 0.9, eps: float = 1e-4
    ) -> None:
        given = _elementwise.arguments_of(locals())
        super().__init__()
        _elementwise.set_numbers(self.hyperparam, **given)

    def create_update_rule(self) -> UpdateRule:
        return RMSpropGravesRule(self.hyperparam)
