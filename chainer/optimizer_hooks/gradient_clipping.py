from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING

from chainer._core.reports import representation
from chainer.backends import cuda
from chainer.optimizer_hooks import _base

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer

_no_context = contextlib.nullcontext()


def _using_device_of(array):
    return array.device if isinstance(array, cuda.ndarray) else _no_context


class GradientClipping:
    """Scales all gradients down to keep their joint L2 norm within a threshold.

    See R. Pascanu et al., `On the difficulty of training Recurrent Neural
    Networks <https://arxiv.org/abs/1211.5063>`_.

    Args:
        threshold (float): The largest norm.

    Attributes:
        threshold (float): The largest norm.

    .. admonition:: Example

        >>> model = L.Linear(2, 1, nobias=True)
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(threshold=1))
        >>> model.W.grad = np.array([[3, 4]], np.float32)  # of the norm five
        >>> optimizer.update()
        >>> model.W.grad.round(3)
        array([[0.6, 0.8]], dtype=float32)

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    name = 'GradientClipping'
    timing = 'pre'

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def __call__(self, opt: Optimizer) -> None:
        norms = []
        # Gradients may have different scales, so each norm is divided by its own.
        for param in opt.target.params(False):
            g = param.grad
            if g is not None:
                with _using_device_of(g):
                    norms.append((g, _base.squared_norm(g), _base.loss_scale_of(param)))
        # Reading the numbers last waits for GPUs only once.
        total = sum([float(squared) / scale**2 for _, squared, scale in norms])
        if opt._sum_over_parts is not None:
            total = opt._sum_over_parts(total)
        norm = math.sqrt(total)
        if norm == 0 or self.threshold / norm >= 1:
            return
        # The rate is the same for scaled gradients, whose scale stays.
        rate = self.threshold / norm
        for g, _, _ in norms:
            with _using_device_of(g):
                g *= rate
