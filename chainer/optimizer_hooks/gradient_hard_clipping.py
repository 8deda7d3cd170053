from __future__ import annotations

import chainerx
from chainer import backend
from chainer.optimizer_hooks import _base


class GradientHardClipping(_base.GradientHook):
    """Clips every element of the gradients to an interval.

    Args:
        lower_bound (float): The smallest element.
        upper_bound (float): The largest element.

    Attributes:
        lower_bound (float): The smallest element.
        upper_bound (float): The largest element.

    .. admonition:: Example

        >>> model = L.Linear(2, 1, nobias=True)
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> optimizer.add_hook(chainer.optimizer_hooks.GradientHardClipping(-1, 1))
        >>> model.W.grad = np.array([[0.5, 4]], np.float32)
        >>> optimizer.update()
        >>> model.W.grad
        array([[0.5, 1. ]], dtype=float32)

    """

    name = 'GradientHardClipping'

    def __init__(self, lower_bound: float, upper_bound: float) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def _apply(self, p, g, scale, rule):
        # Bounds are for true gradients, and the hook gets scaled ones.
        lower, upper = self.lower_bound * scale, self.upper_bound * scale
        # ChainerX clips in one pass, but has no `out`.
        if isinstance(g, chainerx.ndarray):
            g[...] = chainerx.clip(g, lower, upper)
        else:
            xp = backend.get_array_module(g)
            xp.maximum(g, lower, out=g)
            xp.minimum(g, upper, out=g)
