"""The update rule of Adam and its variants."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import TYPE_CHECKING

import numpy

from chainer._core.names.set_module import set_module
from chainer._core.optimizers import elementwise as _elementwise

if TYPE_CHECKING:
    from chainer.optimizer import Hyperparameter


def alpha_t(hyperparam, t):
    """Returns the step size with the correction of the moments' bias."""
    if t == 0:
        raise RuntimeError(
            "Can't determine the learning rate of Adam optimizer because the update steps have "
            'not been started.'
        )
    # Both moments start at zero, so after `t` updates they have this share of the full weight. The
    # step size takes both corrections, which costs less than two more passes over the arrays.
    fix1 = 1.0 - math.pow(hyperparam.beta1, t)
    fix2 = 1.0 - math.pow(hyperparam.beta2, t)
    return hyperparam.alpha * math.sqrt(fix2) / fix1


def warn_of_lr(name):
    warnings.warn(
        f'{name}.lr has been renamed to {name}.alpha_t. Use of {name}.lr is deprecated in '
        'Chainer v6.',
        DeprecationWarning,
        stacklevel=3,
    )


@set_module('chainer.optimizers.adam')
class AdamRule(_elementwise.ElementwiseRule):
    """Update rule of :class:`~chainer.optimizers.Adam` and its variants.

    Args:
        parent_hyperparam (~chainer.optimizer.Hyperparameter): Hyperparameters
            of the optimizer. The other arguments override them for this
            parameter.
        alpha (float): Coefficient of the learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier.
        weight_decay_rate (float): Weight decay rate.
        amsgrad (bool): Whether to use AMSGrad.
        adabound (bool): Whether to use AdaBound.
        final_lr (float): Final learning rate of AdaBound.
        gamma (float): Convergence speed of AdaBound's bounds.

    .. admonition:: Example

        >>> from chainer.optimizers.adam import AdamRule
        >>> param = chainer.Parameter(np.array([1, 2], np.float32))
        >>> param.grad = np.array([1, -1], np.float32)
        >>> param.update_rule = AdamRule(alpha=0.1)
        >>> param.update()
        >>> param.array.round(3)
        array([0.9, 2.1], dtype=float32)

    """

    _defaults = {
        'alpha': 0.001,
        'beta1': 0.9,
        'beta2': 0.999,
        'eps': 1e-8,
        'eta': 1.0,
        'weight_decay_rate': 0,
        'amsgrad': False,
        'adabound': False,
        'final_lr': 0.1,
        'gamma': 0.001,
    }

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        alpha: float | None = None,
        beta1: float | None = None,
        beta2: float | None = None,
        eps: float | None = None,
        eta: float | None = None,
        weight_decay_rate: float | None = None,
        amsgrad: bool | None = None,
        adabound: bool | None = None,
        final_lr: float | None = None,
        gamma: float | None = None,
    ) -> None:
        super().__init__(**_elementwise.arguments_of(locals()))
        if self.hyperparam.adabound:
            # The bounds follow later changes of alpha in proportion.
            self.initial_alpha: float = self.hyperparam.alpha
            # Only rules with equal values update together.
            is_number = isinstance(self.initial_alpha, numbers.Number)
            self._own_values = self.initial_alpha if is_number else self

    @property
    def alpha_t(self) -> float:
        """Learning rate with the bias correction at the current step.

        Raises:
            RuntimeError: If there was no update yet.

        """
        return alpha_t(self.hyperparam, self.t)

    @property
    def lr(self) -> float:
        """Deprecated name of :attr:`alpha_t`."""
        warn_of_lr('AdamRule')
        return self.alpha_t

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound of AdaBound's step sizes at the current step.

        Raises:
            RuntimeError: If there was no update yet.

        """
        if self.t == 0:
            raise RuntimeError(
                "Can't determine the bounds of AdaBound optimizer because the update steps have "
                'not been started.'
            )
        hp = self.hyperparam
        final_lr = hp.final_lr * hp.alpha / self.initial_alpha
        return (
            final_lr * (1.0 - 1.0 / (hp.gamma * self.t + 1)),
            final_lr * (1.0 + 1.0 / (hp.gamma * self.t)),
        )

    # Properties, since a program may turn AMSGrad on and off by its hyperparameter at any time.

    @property
    def _chainerx_name(self):  # type: ignore[override]  # which class attributes define elsewhere
        return 'amsgrad' if self.hyperparam.amsgrad else 'adam'

    @property
    def _state_names(self):  # type: ignore[override]  # the same
        return ('m', 'v', 'vhat') if self.hyperparam.amsgrad else ('m', 'v')

    def _scalars(self):
        hp = self.hyperparam
        # Infinite bounds let one kernel serve with and without AdaBound.
        bounds = self.bounds if hp.adabound else (-math.inf, math.inf)
        return (
            self.alpha_t,
            1.0 - hp.beta1,
            1.0 - hp.beta2,
            hp.eps,
            hp.eta,
            hp.weight_decay_rate,
            *bounds,
        )

    def _step(self, p, g, m, v, *args):
        # In place and in this order, so that it rounds as the kernel of ChainerX does. A single
        # temporary array serves all: new memory for each result costs more than the arithmetic.
        *vhats, alpha_t, rate1, rate2, eps, eta, weight_decay_rate, lower, upper = args
        step = numpy.empty_like(p)
        numpy.subtract(g, m, out=step)
        step *= rate1
        m += step
        numpy.multiply(g, g, out=step)
        step -= v
        step *= rate2
        v += step
        # AMSGrad steps by the maximum, while `v` itself goes on as in Adam.
        if self.hyperparam.amsgrad:
            (vhat,) = vhats
            v = numpy.maximum(vhat, v, out=vhat)
        numpy.sqrt(v, out=step)
        step += eps
        # The bounds hold for the rate of each element, so it is formed before `m` multiplies it.
        numpy.divide(alpha_t, step, out=step)
        if self.hyperparam.adabound:
            numpy.clip(step, lower, upper, out=step)
        step *= m
        # By default both change nothing, and each is a pass over the arrays.
        if weight_decay_rate:
            step += weight_decay_rate * p
        if eta != 1:
            step *= eta
        p -= step
