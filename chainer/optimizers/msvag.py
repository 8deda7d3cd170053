from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import optimizer
from chainer._core.optimizers import elementwise as _elementwise

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter, UpdateRule


class MSVAGRule(_elementwise.ElementwiseRule):
    """Update rule of :class:`~chainer.optimizers.MSVAG`.

    Args:
        parent_hyperparam (~chainer.optimizer.Hyperparameter): Hyperparameters
            of the optimizer. The other arguments override them for this
            parameter.
        lr (float): Learning rate.
        beta (float): Exponential decay rate of the moments.
        eta (float): Schedule multiplier.
        weight_decay_rate (float): Weight decay rate.

    .. admonition:: Example

        >>> from chainer.optimizers.msvag import MSVAGRule
        >>> param = chainer.Parameter(np.array([1, 2], np.float32))
        >>> param.grad = np.array([1, -1], np.float32)
        >>> param.update_rule = MSVAGRule(lr=0.1)
        >>> param.update()
        >>> param.array.round(3)
        array([0.9, 2.1], dtype=float32)

    """

    _defaults = {'lr': 0.1, 'beta': 0.9, 'eta': 1.0, 'weight_decay_rate': 0}
    _state_names = ('m', 'v')
    _chainerx_name = 'msvag'

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        beta: float | None = None,
        eta: float | None = None,
        weight_decay_rate: float | None = None,
    ) -> None:
        super().__init__(**_elementwise.arguments_of(locals()))

    @property
    def beta_power(self) -> float:
        """``beta`` to the power of the number of updates."""
        return self.hyperparam.beta**self.t

    def _scalars(self):
        hp = self.hyperparam
        power = self.beta_power
        # Ratio of the variance of the mean of the gradients to that of one gradient; exactly
        # one at the first step, despite rounding.
        rho = (
            1.0
            if self.t <= 1
            else ((1.0 - hp.beta) * (1.0 + power) / ((1.0 + hp.beta) * (1.0 - power)))
        )
        return hp.lr, 1.0 - hp.beta, 1.0 - power, rho, hp.eta, hp.weight_decay_rate

    def _step(self, p, g, m, v, lr, rate, fix, rho, eta, weight_decay_rate):
        m += rate * (g - m)
        v += rate * (g * g - v)
        mean = m / fix
        mean2 = mean * mean
        total = mean2
        # In the first step, where `rho` is one, one gradient says nothing about its variance.
        if rho < 1:
            total = mean2 + rho * numpy.maximum((v / fix - mean2) / (1 - rho), 0)
        # The step is zero if all gradients were zero.
        factor = mean2 / numpy.where(total > 0, total, 1)
        p -= eta * (lr * factor * mean + weight_decay_rate * p)


class MSVAG(optimizer.GradientMethod):
    r"""M-SVAG: momentum SGD with variance adaptation.

    :math:`m` and :math:`v` are the moments of Adam, both with the rate
    :math:`\beta` and corrected for their bias:

    .. math::

        \rho &= \frac{(1 - \beta)(1 + \beta^t)}{(1 + \beta)(1 - \beta^t)} \\
        s &= (v - m^2) / (1 - \rho) \\
        p &\leftarrow p - \eta \left(
            lr \frac{m^2}{m^2 + \rho s} m + \lambda p \right)

    See L. Balles and P. Hennig, `Dissecting Adam: The Sign, Magnitude and
    Variance of Stochastic Gradients <https://arxiv.org/abs/1705.07774>`_.

    Args:
        lr (float): Learning rate.
        beta (float): Exponential decay rate of the moments.
        eta (float): Schedule multiplier.
        weight_decay_rate (float): Weight decay rate, :math:`\lambda`.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.MSVAG(lr=0.1).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.6233

    """

    lr: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('lr')
    beta: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('beta')
    eta: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('eta')
    weight_decay_rate: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy(
        'weight_decay_rate'
    )

    def __init__(
        self, lr: float = 0.1, beta: float = 0.9, eta: float = 1.0, weight_decay_rate: float = 0
    ) -> None:
        given = _elementwise.arguments_of(locals())
        super().__init__()
        _elementwise.set_numbers(self.hyperparam, **given)

    def create_update_rule(self) -> UpdateRule:
        return MSVAGRule(self.hyperparam)
