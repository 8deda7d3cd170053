import chainer
from chainer import backend
from chainer.backends import cuda
from chainer.optimizer_hooks import _arrays


class Lasso:
    """Lasso (L1 regularization): adds ``rate`` times the sign of a parameter to its gradient.

    Args:
        rate (float): Coefficient.

    Attributes:
        rate (float): Coefficient.

    """

    name = 'Lasso'
    call_for_each_param = True
    timing = 'pre'

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, rule, param):
        p, g = _arrays.shared_arrays(param)
        if p is None:
            return
        rate = self.rate * _arrays.loss_scale_of(param)
        with chainer.using_device(param.device):
            if isinstance(g, cuda.ndarray):
                cuda.elementwise(
                    'T s, T rate', 'T g', 'g += rate * s', 'lasso')(cuda.cupy.sign(p), rate, g)
            else:
                g += rate * backend.get_array_module(p).sign(p)
