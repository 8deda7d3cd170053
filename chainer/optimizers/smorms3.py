from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import optimizer
from chainer._core.optimizers import elementwise as _elementwise

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter, UpdateRule
    from chainer.variable import Parameter


class SMORMS3Rule(_elementwise.ElementwiseRule):
    """Update rule of :class:`~chainer.optimizers.SMORMS3`.

    Args:
        parent_hyperparam (~chainer.optimizer.Hyperparameter): Hyperparameters
            of the optimizer. Without them, the defaults of the optimizer.
        lr (float): Learning rate, of this parameter.
        eps (float): Small value for the numerical stability, of this parameter.

    .. admonition:: Example

        >>> from chainer.optimizers.smorms3 import SMORMS3Rule
        >>> param = chainer.Parameter(np.array([1, 2], np.float32))
        >>> param.grad = np.array([1, -1], np.float32)
        >>> param.update_rule = SMORMS3Rule(lr=0.1)
        >>> param.update()
        >>> param.array.round(3)
        array([0.859, 2.141], dtype=float32)

    """

    # `eps` only keeps zero from being divided by zero, and is far below the squares that count.
    _defaults = {'lr': 0.001, 'eps': 1e-16}
    _state_names = ('mem', 'g', 'g2')
    _chainerx_name = 'smorms3'

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam, lr=lr, eps=eps)

    def init_state(self, param: Parameter) -> None:
        super().init_state(param)
        state: Any = self.state
        # A memory of one update: the averages start as halves of the first gradient and its square.
        state['mem'].fill(1)

    def _step(self, p, grad, mem, g, g2, lr, eps):
        r = 1 / (mem + 1)
        g += r * (grad - g)
        g2 += r * (grad * grad - g2)
        # The share of the signal in the mean square: near one, gradients agree, so that the memory
        # becomes short; near zero they are noise, and the averages run over more updates.
        x = g * g / (g2 + eps)
        p -= grad * numpy.minimum(x, lr) / (numpy.sqrt(g2) + eps)
        mem *= 1 - x
        mem += 1


class SMORMS3(optimizer.GradientMethod):
    r"""Simon Funk's SMORMS3.

    .. math::

        r &= 1 / (mem + 1) \\
        \bar{g} &\leftarrow (1 - r) \bar{g} + r g \\
        g_2 &\leftarrow (1 - r) g_2 + r g^2 \\
        x &= \bar{g}^2 / (g_2 + \epsilon) \\
        p &\leftarrow p - g \min(x, lr) / (\sqrt{g_2} + \epsilon) \\
        mem &\leftarrow 1 + mem (1 - x)

    See S. Funk, `RMSprop loses to SMORMS3 - Beware the Epsilon!
    <https://sifter.org/~simon/journal/20150420.html>`_.

    Args:
        lr (float): Learning rate.
        eps (float): Small value for the numerical stability.

    Raises:
        TypeError: If a hyperparameter is no number. A string warns, and fails at an update.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.SMORMS3(lr=0.1).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> round(float(model.W.array[0, 0]), 4)
        0.7473

    """

    lr: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('lr')
    eps: optimizer.HyperparameterProxy = optimizer.HyperparameterProxy('eps')

    def __init__(self, lr: float = 0.001, eps: float = 1e-16) -> None:
        super().__init__()
        _elementwise.set_numbers(self.hyperparam, lr=lr, eps=eps)

    def create_update_rule(self) -> UpdateRule:
        return SMORMS3Rule(self.hyperparam)
