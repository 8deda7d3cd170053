from chainer import backend
from chainer.backends import cuda
from chainer.optimizer_hooks import _base


class Lasso(_base.GradientHook):
    """Lasso (L1 regularization): adds ``rate`` times the sign of a parameter to its gradient.

    Args:
        rate (float): Coefficient.

    Attributes:
        rate (float): Coefficient.

    .. admonition:: Example

        >>> model = L.Linear(2, 1, initialW=np.array([[2, -3]], np.float32), nobias=True)
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> optimizer.add_hook(chainer.optimizer_hooks.Lasso(rate=0.5))
        >>> model.W.grad = np.zeros((1, 2), np.float32)
        >>> optimizer.update()
        >>> model.W.grad
        array([[ 0.5, -0.5]], dtype=float32)

    """

    name = 'Lasso'

    def __init__(self, rate):
        self.rate = rate

    def _apply(self, p, g, scale, rule):
        rate = self.rate * scale
        sign = backend.get_array_module(p).sign(p)
        if isinstance(g, cuda.ndarray):
            cuda.elementwise('T s, T rate', 'T g', 'g += rate * s', 'lasso')(sign, rate, g)
        else:
            g += rate * sign
