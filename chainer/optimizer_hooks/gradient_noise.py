from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer.optimizer_hooks import _base

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer._core.optimizers.update_rule import UpdateRule
    from chainer._core.settings.types import DTypeSpec, NdArray, Xp


def exponential_decay_noise(
    xp: Xp, shape: tuple[int, ...], dtype: DTypeSpec, hook: GradientNoise, opt: UpdateRule
) -> NdArray:
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

    .. admonition:: Example

        >>> from chainer.optimizer_hooks import gradient_noise
        >>> hook = chainer.optimizer_hooks.GradientNoise(eta=0)
        >>> rule = chainer.UpdateRule()
        >>> gradient_noise.exponential_decay_noise(np, (2,), np.float32, hook, rule)
        array([0., 0.], dtype=float32)

    """
    std = numpy.sqrt(hook.eta / numpy.power(1 + opt.t, 0.55))
    return xp.asarray(xp.random.normal(0, std, shape)).astype(dtype)


class GradientNoise(_base.GradientHook):
    r"""Adds noise to the gradients.

    Args:
        eta (float): Scale of the variance of the noise.
        noise_func (callable): Function that draws the noise, called with the
            array module, the shape, the dtype, the hook and the update rule.
            The default is normal noise of the variance
            :math:`\eta / (1 + t)^{0.55}`, where :math:`t` counts the updates;
            see `Adding Gradient Noise Improves Learning for Very Deep Networks
            <https://arxiv.org/abs/1511.06807>`_.

    .. admonition:: Example

        >>> model = L.Linear(2, 1, nobias=True)
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> def constant_noise(xp, shape, dtype, hook, rule):
        ...     return xp.full(shape, hook.eta, dtype)
        >>> optimizer.add_hook(chainer.optimizer_hooks.GradientNoise(0.5, constant_noise))
        >>> model.W.grad = np.array([[1, 2]], np.float32)
        >>> optimizer.update()
        >>> model.W.grad
        array([[1.5, 2.5]], dtype=float32)

    """

    name = 'GradientNoise'

    def __init__(
        self, eta: float, noise_func: Callable[..., Any] = exponential_decay_noise
    ) -> None:
        self.eta = eta
        self.noise_func = noise_func

    def _apply(self, p, g, scale, rule):
        # NumPy or CuPy draws the noise. The array shares its memory with that of ChainerX, so the
        # sum in place changes the gradient itself.
        g = backend.from_chx(g)
        noise = self.noise_func(backend.get_array_module(g), g.shape, g.dtype, self, rule)
        # The noise is meant for the true gradient, and the hook gets the scaled one.
        g += noise * g.dtype.type(scale)
