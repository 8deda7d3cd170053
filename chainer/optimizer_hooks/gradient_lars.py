import chainer
from chainer import backend
from chainer.optimizer_hooks import _arrays


class GradientLARS:
    r"""Layer-wise adaptive rate scaling.

    The gradient of every parameter, with weight decay, is multiplied by

    .. math::

        \frac{threshold \|p\|}{\epsilon + \|g\| + decay \|p\|},

    or by one if the parameter is zero. See Y. You et al., `Large Batch Training
    of Convolutional Networks <https://arxiv.org/abs/1708.03888>`_.

    Args:
        threshold (float): Trust ratio.
        weight_decay (float): Weight decay rate.
        eps (float): Small value for the numerical stability.

    """

    name = 'GradientLARS'
    call_for_each_param = True
    timing = 'pre'

    def __init__(self, threshold=0.01, weight_decay=0.0, eps=1e-9):
        self.threshold = threshold
        self.weight_decay = weight_decay
        self.eps = eps

    def __call__(self, rule, param):
        p, g = _arrays.shared_arrays(param)
        if p is None:
            return
        scale = _arrays.loss_scale_of(param)
        xp = backend.get_array_module(p)
        with chainer.using_device(backend.get_device_from_array(p)):
            p_norm = _norm(xp, p)
            g_norm = _norm(xp, g) / scale
            rate = xp.where(
                p_norm > 0,
                self.threshold * p_norm / (
                    self.eps + g_norm + self.weight_decay * p_norm),
                1.)
            g += (self.weight_decay * scale) * p
            g *= rate.astype(g.dtype)


def _norm(xp, x):
    return xp.sqrt(xp.square(x.astype(xp.promote_types(x.dtype, 'float32'))).sum())
