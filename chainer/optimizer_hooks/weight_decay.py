import chainerx
from chainer import _update
from chainer.backends import cuda
from chainer.optimizer_hooks import _base


class WeightDecay(_base.GradientHook):
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

    def __init__(self, rate):
        self.rate = rate

    def _call_for_all(self, params):
        # On ChainerX all are decayed in one call, by a step of gradient descent: g - (-rate) p.
        groups = {}
        for param in params:
            array = param._array
            if type(array) is chainerx.ndarray and param._requires_grad:
                if array.grad is not None:
                    key = array.dtype, array.device, _base.loss_scale_of(param)
                    groups.setdefault(key, []).append(param)
            else:
                self(param.update_rule, param)
        for (_, _, scale), group in groups.items():
            arrays = [param._array for param in group]
            grads = [array.grad for array in arrays]
            if not _update.run_kernel('sgd', grads + arrays, [-float(self.rate) * scale]):
                super()._call_for_all(group)

    def _apply(self, p, g, scale, rule):
        rate = self.rate * scale
        if isinstance(g, cuda.ndarray):
            cuda.elementwise('T p, T rate', 'T g', 'g += rate * p', 'weight_decay')(p, rate, g)
        else:
            g += rate * p
