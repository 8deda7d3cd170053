"""The table of update rules: their formulas, apart from the code of the package, and how they run.

The rows check the kernels of ChainerX, the array references of ``chainer.optimizers`` and the
optimizers. A formula takes the parameter, the gradient, the states and the scalars, and returns
the parameter and the states after a step. It has the name of the kernel.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from chainer import optimizers


def sgd(p, g, lr):
    return (p - lr * g,)


def momentum_sgd(p, g, v, lr, momentum):
    v = momentum * v - lr * g
    return p + v, v


def corrected_momentum_sgd(p, g, v, lr, momentum):
    v = momentum * v - g
    return p + lr * v, v


def nesterov_ag(p, g, v, lr, momentum):
    v = momentum * v - lr * g
    return p + momentum**2 * v - (1 + momentum) * lr * g, v


def ada_grad(p, g, h, lr, eps):
    h = h + g * g
    return p - lr * g / (np.sqrt(h) + eps), h


def ada_delta(p, g, msg, msdx, rho, eps):
    msg = rho * msg + (1 - rho) * g * g
    dx = np.sqrt((msdx + eps) / (msg + eps)) * g
    return p - dx, msg, rho * msdx + (1 - rho) * dx * dx


def rmsprop(p, g, ms, lr, alpha, eps, eps_inside_sqrt):
    ms = alpha * ms + (1 - alpha) * g * g
    return p - lr * g / (np.sqrt(ms + eps) if eps_inside_sqrt else np.sqrt(ms) + eps), ms


def rmsprop_graves(p, g, n, mean, delta, lr, alpha, momentum, eps):
    n = alpha * n + (1 - alpha) * g * g
    mean = alpha * mean + (1 - alpha) * g
    delta = momentum * delta - lr * g / np.sqrt(n - mean * mean + eps)
    return p + delta, n, mean, delta


def smorms3(p, g, mem, mean, square, lr, eps):
    r = 1 / (mem + 1)
    mean = (1 - r) * mean + r * g
    square = (1 - r) * square + r * g * g
    x = mean * mean / (square + eps)
    return p - np.minimum(x, lr) * g / (np.sqrt(square) + eps), 1 + mem * (1 - x), mean, square


def adam(p, g, m, v, alpha, rate1, rate2, eps, eta, decay, lower, upper):
    m = (1 - rate1) * m + rate1 * g
    v = (1 - rate2) * v + rate2 * g * g
    rate = np.clip(alpha / (np.sqrt(v) + eps), lower, upper)
    return p - eta * (rate * m + decay * p), m, v


def amsgrad(p, g, m, v, vhat, alpha, rate1, rate2, eps, eta, decay, lower, upper):
    m = (1 - rate1) * m + rate1 * g
    v = (1 - rate2) * v + rate2 * g * g
    vhat = np.maximum(vhat, v)
    rate = np.clip(alpha / (np.sqrt(vhat) + eps), lower, upper)
    return p - eta * (rate * m + decay * p), m, v, vhat


def msvag(p, g, m, v, lr, rate, fix, rho, eta, decay):
    m = (1 - rate) * m + rate * g
    v = (1 - rate) * v + rate * g * g
    mean2 = (m / fix) ** 2
    noise = np.maximum(v / fix - mean2, 0) / (1 - rho) if rho < 1 else 0
    total = mean2 + rho * noise
    factor = mean2 / np.where(total > 0, total, 1)
    return p - eta * (lr * factor * m / fix + decay * p), m, v


def adam_scalars(h, t):
    rate = h.alpha * math.sqrt(1 - h.beta2**t) / (1 - h.beta1**t)
    bounds = -math.inf, math.inf
    if h.adabound:
        bounds = [h.final_lr * (1 - 1 / (h.gamma * t + 1)), h.final_lr * (1 + 1 / (h.gamma * t))]
    return [rate, 1 - h.beta1, 1 - h.beta2, h.eps, h.eta, h.weight_decay_rate, *bounds]


def msvag_scalars(h, t):
    power = h.beta**t
    rho = (1 - h.beta) * (1 + power) / ((1 + h.beta) * (1 - power)) if t > 1 else 1.0
    return [h.lr, 1 - h.beta, 1 - power, rho, h.eta, h.weight_decay_rate]


class Row(NamedTuple):
    """An optimizer, and the rule that it uses."""

    optimizer: type
    arguments: dict[str, Any]
    formula: Callable
    states: tuple[float, ...] = ()  # their first values
    own_scalars: Callable | None = None

    def make(self):
        return self.optimizer(**self.arguments)

    def scalars(self, h, t):
        """The scalars of the formula from the hyperparameters and the number of the step."""
        if self.own_scalars is not None:
            return self.own_scalars(h, t)
        names = list(inspect.signature(self.formula).parameters)[2 + len(self.states) :]
        return [float(getattr(h, name)) for name in names]


_MOMENTUM = {'lr': 0.5, 'momentum': 0.9}
_ADAM = {'alpha': 0.2, 'eps': 1e-3}
_DECAY = {'eta': 1.5, 'weight_decay_rate': 0.05}
_BOUNDS = {'final_lr': 0.2, 'gamma': 0.5}


def _adam(optimizer, **arguments):
    return Row(optimizer, {**_ADAM, **arguments}, adam, (0, 0), adam_scalars)


def _amsgrad(optimizer, **arguments):
    return Row(optimizer, {**_ADAM, **arguments}, amsgrad, (0, 0, 0), adam_scalars)


ROWS = [
    Row(optimizers.SGD, {'lr': 0.5}, sgd),
    Row(optimizers.MomentumSGD, _MOMENTUM, momentum_sgd, (0,)),
    Row(optimizers.CorrectedMomentumSGD, _MOMENTUM, corrected_momentum_sgd, (0,)),
    Row(optimizers.NesterovAG, _MOMENTUM, nesterov_ag, (0,)),
    Row(optimizers.AdaGrad, {'lr': 0.5, 'eps': 1e-2}, ada_grad, (0,)),
    Row(optimizers.AdaDelta, {'rho': 0.9, 'eps': 1e-2}, ada_delta, (0, 0)),
    Row(optimizers.RMSprop, {'lr': 0.5, 'alpha': 0.9, 'eps': 0.1}, rmsprop, (0,)),
    Row(optimizers.RMSprop, {'lr': 0.5, 'eps': 0.1, 'eps_inside_sqrt': True}, rmsprop, (0,)),
    Row(optimizers.RMSpropGraves, {'lr': 0.1, 'eps': 5.0}, rmsprop_graves, (0, 0, 0)),
    Row(optimizers.SMORMS3, {'lr': 0.5, 'eps': 1e-2}, smorms3, (1, 0, 0)),
    Row(optimizers.MSVAG, {'lr': 0.5}, msvag, (0, 0), msvag_scalars),
    Row(optimizers.MSVAG, {'lr': 0.5, **_DECAY}, msvag, (0, 0), msvag_scalars),
    _adam(optimizers.Adam),
    _adam(optimizers.Adam, **_DECAY),
    _adam(optimizers.AdamW, weight_decay_rate=0.05),
    _adam(optimizers.AdaBound, **_BOUNDS),
    _adam(optimizers.Adam, adabound=True, **_BOUNDS, **_DECAY),
    _amsgrad(optimizers.AMSGrad),
    _amsgrad(optimizers.Adam, amsgrad=True, **_DECAY),
    _amsgrad(optimizers.AMSBound, **_BOUNDS),
    _amsgrad(optimizers.Adam, amsgrad=True, adabound=True, **_BOUNDS, **_DECAY),
]
all_rows = pytest.mark.parametrize(
    'row', ROWS, ids=[f'{row.optimizer.__name__}-{i}' for i, row in enumerate(ROWS)]
)

DEFAULTS = {
    optimizers.SGD: {'lr': 0.01},
    optimizers.MomentumSGD: {'lr': 0.01, 'momentum': 0.9},
    optimizers.CorrectedMomentumSGD: {'lr': 0.01, 'momentum': 0.9},
    optimizers.NesterovAG: {'lr': 0.01, 'momentum': 0.9},
    optimizers.AdaGrad: {'lr': 0.001, 'eps': 1e-8},
    optimizers.AdaDelta: {'rho': 0.95, 'eps': 1e-6},
    optimizers.RMSprop: {'lr': 0.01, 'alpha': 0.99, 'eps': 1e-8, 'eps_inside_sqrt': False},
    optimizers.RMSpropGraves: {'lr': 1e-4, 'alpha': 0.95, 'momentum': 0.9, 'eps': 1e-4},
    optimizers.SMORMS3: {'lr': 0.001, 'eps': 1e-16},
    optimizers.MSVAG: {'lr': 0.1, 'beta': 0.9, 'eta': 1.0, 'weight_decay_rate': 0},
    optimizers.Adam: {
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
    },
}
