from __future__ import annotations

from chainer.functions.math import sqrt
from chainer.link_hooks import _weight


class WeightStandardization(_weight.WeightHook):
    r"""Weight standardization: filters with zero mean and unit variance.

    For each index of the first axis, which is the output channel (in deconvolutions, the input
    channel), :math:`\hat{W} = (W - \mu) / \sqrt{\sigma^2 + \epsilon}`.
    See S. Qiao et al., `Weight Standardization
    <https://arxiv.org/abs/1903.10520>`_.

    Args:
        eps (float): Small value for the numerical stability.
        weight_name (str): Name of the weight.
        name (str): Name of the hook.

    Raises:
        ValueError: The link has no such weight when the hook is added.
        NotImplementedError: The hook is used in a ``with`` statement.

    .. admonition:: Example

        >>> from chainer.link_hooks import WeightStandardization
        >>> layer = L.Linear(2, 1, initialW=np.array([[1, 5]], np.float32))
        >>> layer.add_hook(WeightStandardization())(np.array([[10, 1]], np.float32)).array.round(3)
        array([[-9.]], dtype=float32)

    """

    name = 'WeightStandardization'
    _calls_kernels_only = True

    def __init__(
        self, *, eps: float = 1e-5, weight_name: str = 'W', name: str | None = None
    ) -> None:
        super().__init__(weight_name, name)
        self.eps = eps

    def _transform(self, link):
        W = getattr(link, self.weight_name)
        axes = tuple(range(1, W.ndim))
        centered = W - W.mean(axis=axes, keepdims=True)
        variance = (centered * centered).mean(axis=axes, keepdims=True)
        return centered / sqrt.sqrt(variance + self.eps)
