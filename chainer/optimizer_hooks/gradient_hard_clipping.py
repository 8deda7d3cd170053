import chainer
from chainer import backend
from chainer.optimizer_hooks import _arrays


class GradientHardClipping:
    """Clips every element of the gradients to an interval.

    Args:
        lower_bound (float): The smallest element.
        upper_bound (float): The largest element.

    Attributes:
        lower_bound (float): The smallest element.
        upper_bound (float): The largest element.

    """

    name = 'GradientHardClipping'
    call_for_each_param = True
    timing = 'pre'

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def __call__(self, rule, param):
        _, g = _arrays.shared_arrays(param)
        if g is None:
            return
        scale = _arrays.loss_scale_of(param)
        with chainer.using_device(param.device):
            backend.get_array_module(g).clip(
                g, self.lower_bound * scale, self.upper_bound * scale, out=g)
