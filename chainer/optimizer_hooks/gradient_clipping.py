import math

import numpy

import chainer
from chainer import backend
from chainer.optimizer_hooks import _arrays


def _squared_norm(g):
    """Returns the squared norm as a number, or as a 0-dimensional array on a GPU."""
    g = g.ravel(order='K')
    if g.dtype == numpy.float16:
        g = g.astype(numpy.float32)
    return g.dot(g)


class GradientClipping:
    """Scales all gradients down, so that their joint L2 norm is at most a threshold.

    See R. Pascanu et al., `On the difficulty of training Recurrent Neural
    Networks <https://arxiv.org/abs/1211.5063>`_.

    Args:
        threshold (float): The largest norm.

    Attributes:
        threshold (float): The largest norm.

    """

    name = 'GradientClipping'
    timing = 'pre'

    def __init__(self, threshold):
        self.threshold = threshold

    def __call__(self, opt):
        norms = []
        for param in opt.target.params(False):
            _, g = _arrays.shared_arrays(param)
            if g is not None:
                with chainer.using_device(backend.get_device_from_array(g)):
                    norms.append((param, g, _squared_norm(g)))
        # Reading the numbers last, GPUs are waited for only once.
        norm = math.sqrt(sum(
            float(squared) / _arrays.loss_scale_of(param) ** 2 for param, _, squared in norms))
        if norm == 0 or self.threshold / norm >= 1:
            return
        rate = self.threshold / norm
        for _, g, _ in norms:
            with chainer.using_device(backend.get_device_from_array(g)):
                g *= rate
