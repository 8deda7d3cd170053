import numpy

from chainer import backend
from chainer.optimizer_hooks import _base


def exponential_decay_noise(xp, shape, dtype, hook, opt):
    r"""Draws normal noise whose variance decays as :math:`\eta / (1 + t)^{0.55}`.

    See A. Neelakantan et al., `Adding Gradient Noise Improves Learning for Very
    Deep Networks <https://arxiv.org/abs/1511.06807>`_.

    Args:
        xp (module): :mod:`numpy` or :mod:`cupy`.
        shape (tuple of ints): Shape of the noise.
        dtype: Data type of the noise.
        hook (GradientNoise): The hook, which has ``eta``.
        opt (chainer.UpdateRule): The update rule, which has ``t``.

    Returns:
        :ref:`ndarray`: The noise.

    """
    std = numpy.sqrt(hook.eta / numpy.power(1 + opt.t, 0.55))
    return xp.asarray(xp.random.normal(0, std, shape)).astype(dtype)


class GradientNoise(_base.GradientHook):
    """Adds noise to the gradients.

    Args:
        eta (float): Scale of the variance of the noise.
        noise_func (callable): Function that draws the noise, called with the
            array module, the shape, the dtype, the hook and the update rule.

    """

    name = 'GradientNoise'

    def __init__(self, eta, noise_func=exponential_decay_noise):
        self.eta = eta
        self.noise_func = noise_func

    def _apply(self, p, g, scale, rule):
        g = backend.from_chx(g)  # noise is drawn by NumPy or CuPy
        noise = self.noise_func(backend.get_array_module(g), g.shape, g.dtype, self, rule)
        g += noise * g.dtype.type(scale)
