from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import optimizer
from chainer._core.optimizers import elementwise as _elementwise

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter, UpdateRule


class AdaDeltaRule(_elementwise.ElementwiseRule):
    """Update rule of :class:`~chainer.optimizers.AdaDelta`.

    Args:
        parent_hyperparam (~chainer.optimizer.Hyperparameter): Hyperparameters
            of the optimizer. Without them, the defaults of the optimizer.
        rho (float): Exponential decay rate of the mean squares, of this parameter.
        eps (float): Small value for the numerical stability, of this parameter.

    .. admonition:: Example

        >>> from chainer.optimizers.ada_delta import AdaDeltaRule
        >>> param = chainer.Parameter(np.array([1, 2], np.float32))
        >>> param.grad = np.array([1, -1], np.float32)
        >>> param.update_rule = AdaDeltaRule(eps=0.01)
        >>> param.update()
        >>> param.array.round(3)
        array([0.592, 2.408], dtype=float32)

    """

    _defaults = {'rho': 0.95, 'eps': 1e-6}
    _state_names = ('msg', 'msdx')
    _chainerx_name = 'ada_delta'

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        rho: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam, rho=rho, eps=eps)

    def _step(self, p, g, msg, msdx, rho, eps):
        msg *= rho
        msg += (1 - rho) * g * g
        # `msdx` is that of earlier steps, as this one is not known yet. At first it is zero, and
        # `eps` alone gives the size of the step.
        dx = numpy.sqrt((msdx + eps) / (msg + eps)) * g
        msdx *= rho
        msdx += (1 - rho) * dx * dx
        p -= dx


class AdaDelta(optimizer.GradientMethod):
    r"""AdaDelta.

    .. math::

        msg &\leftarrow \rho \, msg + (1 - \rho) g^2 \\
        dx &= \sqrt{(msdx + \epsilon) / (msg + \epsilon)} \, g \\
        msdx &\leftarrow \rho \, msdx + (1 - \rho) dx^2 \\
        p &\leftarrow p - dx

    See M. Zeiler, `ADADELTA: An Adaptive Learning Rate Method
    <https://arxiv.org/abs/1212.5701>`_.

    Args:
        rho (float): Exponential decay rate of the mean squares.
        eps (float): Small value for the numerical stability.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.AdaDelta(rho=0.9, eps=0.01).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.4291

    """

    rho: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('rho')
    eps: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('eps')

    def __init__(self, rho: float = 0.95, eps: float = 1e-6) -> None:
        super().__init__()
        _elementwise.set_numbers(self.hyperparam, rho=rho, eps=eps)

    def create_update_rule(self) -> UpdateRule:
        return AdaDeltaRule(self.hyperparam)
