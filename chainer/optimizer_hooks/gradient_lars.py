from __future__ import annotations

import numpy

from chainer import backend
from chainer.optimizer_hooks import _base


class GradientLARS(_base.GradientHook):
    r"""Layer-wise adaptive rate scaling.

    Multiplies the gradient of every parameter, with weight decay, by

    .. math::

        \frac{\|p\|}{\epsilon + \|g\| + decay \|p\|},

    or by one if the norm of the parameter is not above the threshold. See Y. You
    et al., `Large Batch Training of Convolutional Networks
    <https://arxiv.org/abs/1708.03888>`_, whose trust coefficient the learning
    rate includes.

    Args:
        threshold (float): Norm up to which a parameter keeps its gradient.
        weight_decay (float): Weight decay rate.
        eps (float): Small value for the numerical stability.

    .. admonition:: Example

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> optimizer.add_hook(chainer.optimizer_hooks.GradientLARS())
        >>> model.W.grad = np.array([[5]], np.float32)
        >>> optimizer.update()
        >>> round(float(model.W.grad[0, 0]), 4)  # of the size of the weight
        1.0

    """

    name = 'GradientLARS'

    def __init__(
        self, threshold: float = 0.01, weight_decay: float = 0.0, eps: float = 1e-9
    ) -> None:
        self.threshold = threshold
        self.weight_decay = weight_decay
        self.eps = eps

    def _apply(self, p, g, scale, rule):
        xp = backend.get_array_module(p)
        p_norm = xp.sqrt(_base.squared_norm(p))
        # The norm of the true gradient, which the hook gets scaled.
        g_norm = xp.sqrt(_base.squared_norm(g)) / scale
        rate = p_norm / (self.eps + g_norm + self.weight_decay * p_norm)
        if xp is numpy:  # numbers, for cheaper branches
            rate = rate if p_norm > self.threshold else numpy.ones_like(rate)
        else:  # reading a number would wait for the GPU
            rate = xp.where(p_norm > self.threshold, rate, 1.0)
        # After the norm, as in the paper: the decay counts by its own norm in the denominator.
        if self.weight_decay:
            g += (self.weight_decay * scale) * p
        g *= rate.astype(g.dtype)
