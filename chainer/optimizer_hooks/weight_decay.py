from chainer.optimizer_hooks import _base


class WeightDecay(_base.AddingHook):
    r"""Weight decay (L2 regularization): adds ``rate`` times a parameter to its gradient.

    Args:
        rate (float): Coefficient.

    Attributes:
        rate (float): Coefficient.

    .. admonition:: Example

        >>> model = L.Linear(2, 1, initialW=np.array([[2, -3]], np.float32), nobias=True)
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(rate=0.5))
        >>> model.W.grad = np.zeros((1, 2), np.float32)
        >>> optimizer.update()
        >>> model.W.grad
        array([[ 1. , -1.5]], dtype=float32)

    """

    name = 'WeightDecay'

    def _term(self, p):
        # Without the rate, with which one kernel later multiplies while it adds.
        return p
