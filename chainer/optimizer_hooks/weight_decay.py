from chainer.backends import cuda
from chainer.optimizer_hooks import _base


class WeightDecay(_base.GradientHook):
    r"""Weight decay (L2 regularization): adds ``rate`` times a parameter to its gradient.

    Args:
        rate (float): Coefficient.

    Attributes:
        rate (float): Coefficient.

    """

    name = 'WeightDecay'

    def __init__(self, rate):
        self.rate = rate

    def _apply(self, p, g, scale, rule):
        rate = self.rate * scale
        if isinstance(g, cuda.ndarray):
            cuda.elementwise('T p, T rate', 'T g', 'g += rate * p', 'weight_decay')(p, rate, g)
        else:
            g += rate * p
