from chainer import optimizer
from chainer.optimizers import _elementwise


class SGDRule(_elementwise.ElementwiseRule):
    """Update rule of :class:`~chainer.optimizers.SGD`.

    Args:
        parent_hyperparam (~chainer.optimizer.Hyperparameter): Hyperparameters
            of the optimizer.
        lr (float): Learning rate of this parameter, if it has its own.

    """

    _default_hyperparam = _elementwise.make_hyperparam(lr=0.01)
    _chainerx_name = 'sgd'
    _scalar_names = ('lr',)
    _gpu_code = 'param -= lr * grad;'

    def __init__(self, parent_hyperparam=None, lr=None):
        super().__init__(parent_hyperparam, lr=lr)

    def _step(self, p, g, lr):
        p -= lr * g


class SGD(optimizer.GradientMethod):
    r"""Stochastic gradient descent: :math:`p \leftarrow p - lr \, g`.

    Args:
        lr (float): Learning rate.

    """

    lr = optimizer.HyperparameterProxy('lr')

    def __init__(self, lr=SGDRule._default_hyperparam.lr):
        super().__init__()
        self.hyperparam.lr = lr

    def create_update_rule(self):
        return SGDRule(self.hyperparam)
