from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import optimizer
from chainer._core.optimizers import elementwise as _elementwise

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter, UpdateRule


class RMSpropRule(_elementwise.ElementwiseRule):
    """Update rule of :class:`~chainer.optimizers.RMSprop`.

    Args:
        parent_hyperparam (~chainer.optimizer.Hyperparameter): Hyperparameters
            of the optimizer. Without them, the defaults of the optimizer.
        lr (float): Learning rate, of this parameter.
        alpha (float): Exponential decay rate of the mean square, of this parameter.
        eps (float): Small value for the numerical stability, of this parameter.
        eps_inside_sqrt (bool): Whether to add ``eps`` before taking the root,
            of this parameter.

    .. admonition:: Example

        >>> from chainer.optimizers.rmsprop import RMSpropRule
        >>> param = chainer.Parameter(np.array([1, 2], np.float32))
        >>> param.grad = np.array([1, -1], np.float32)
        >>> param.update_rule = RMSpropRule(lr=0.01)
        >>> param.update()
        >>> param.array.round(3)
        array([0.9, 2.1], dtype=float32)

    """

    _defaults = {'lr': 0.01, 'alpha': 0.99, 'eps': 1e-8, 'eps_inside_sqrt': False}
    _state_names = ('ms',)
    _chainerx_name = 'rmsprop'

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        alpha: float | None = None,
        eps: float | None = None,
        eps_inside_sqrt: bool | None = None,
    ) -> None:
        super().__init__(**_elementwise.arguments_of(locals()))

    def _step(self, p, g, ms, lr, alpha, eps, eps_inside_sqrt):
        ms *= alpha
        ms += (1 - alpha) * g * g
        # TensorFlow adds it inside of the root, PyTorch outside: small mean squares show which.
        p -= lr * g / (numpy.sqrt(ms + eps) if eps_inside_sqrt else numpy.sqrt(ms) + eps)


class RMSprop(optimizer.GradientMethod):
    r"""RMSprop.

    .. math::

        ms &\leftarrow \alpha \, ms + (1 - \alpha) g^2 \\
        p &\leftarrow p - lr \, g / (\sqrt{ms} + \epsilon)

    See T. Tieleman and G. Hinton, Lecture 6.5 - rmsprop, COURSERA: Neural
    Networks for Machine Learning, 2012.

    Args:
        lr (float): Learning rate.
        alpha (float): Exponential decay rate of the mean square.
        eps (float): Small value for the numerical stability.
        eps_inside_sqrt (bool): Whether to add ``eps`` before taking the root.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.RMSprop(lr=0.01).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.8329

    """

    lr: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('lr')
    alpha: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('alpha')
    eps: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('eps')
    eps_inside_sqrt: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy(
        'eps_inside_sqrt'
    )

    def __init__(
        self,
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
        eps_inside_sqrt: bool = False,
    ) -> None:
        given = _elementwise.arguments_of(locals())
        super().__init__()
        _elementwise.set_numbers(self.hyperparam, **given)

    def create_update_rule(self) -> UpdateRule:
        return RMSpropRule(self.hyperparam)
