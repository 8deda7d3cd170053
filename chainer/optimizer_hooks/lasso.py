from chainer import backend
from chainer.optimizer_hooks import _base


class Lasso(_base.AddingHook):
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

    def _term(self, p):
        # The derivative of the absolute value; zero at zero, where it has none.
        return backend.get_array_module(p).sign(p)
