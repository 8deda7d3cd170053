from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import functions, link
from chainer._core.names import hints
from chainer._core.settings.dtype import get_dtype
from chainer.links.normalization import _parameters

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Parameter, Variable


@hints.explain_arguments
class GroupNormalization(link.Link):
    """Group normalization layer: normalizes groups of channels of each sample.

    See Y. Wu and K. He, `Group Normalization
    <https://arxiv.org/abs/1803.08494>`_.

    Args:
        groups (int): Number of groups, which divides the number of channels.
        size (int or None): Number of channels. If ``None``, it is inferred
            from the first input.
        eps (float): Small value for numerical stability.
        initial_gamma (initializer): Initializer of the scale, one by default.
        initial_beta (initializer): Initializer of the shift, zero by default.

    Raises:
        ValueError: ``groups`` is not a divisor of the number of channels, or the input of a call
            has less than two dimensions.
        ~chainer.utils.type_check.InvalidType: The input is not floating point.

    Attributes:
        gamma (~chainer.Parameter): Scale of the shape ``(channels,)``. Its dtype is
            ``chainer.config.dtype``, with ``mixed16`` meaning float32.
        beta (~chainer.Parameter): Shift of the shape ``(channels,)``.

    .. seealso:: :func:`chainer.functions.group_normalization`

    .. admonition:: Example

        >>> gn = L.GroupNormalization(groups=2)
        >>> x = np.array([[1, 3, 10, 30]], np.float32)
        >>> gn(x).array.round(2)  # two groups of two channels
        array([[-1.,  1., -1.,  1.]], dtype=float32)
        >>> gn.gamma.shape
        (4,)

    """

    def __init__(
        self,
        groups: int,
        size: int | None = None,
        eps: float = 1e-5,
        initial_gamma: InitializerSpec | None = None,
        initial_beta: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.groups = groups
        self.eps = eps
        dtype = get_dtype(None, map_mixed16=numpy.float32)
        with self.init_scope():
            self.gamma: Parameter = _parameters.make_parameter(initial_gamma, 1, dtype=dtype)
            self.beta: Parameter = _parameters.make_parameter(initial_beta, 0, dtype=dtype)
        if size is not None:
            self._initialize_params(size)

    def _initialize_params(self, size):
        self.gamma.initialize(size)
        self.beta.initialize(size)

    def forward(self, x: VariableLike) -> Variable:
        """Normalizes each sample.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of the shape
                ``(batch size, channels, ...)``.

        Returns:
            ~chainer.Variable: Array of the shape of ``x``.

        Raises:
            ValueError: ``x`` has less than two axes.

        """
        if self.gamma.array is None:
            if x.ndim < 2:
                raise ValueError(
                    'Input dimension should be at least 2, including batch size dimension '
                    f'(first dimension), but the shape is {x.shape}'
                )
            self._initialize_params(x.shape[1])
        return functions.group_normalization(x, self.groups, self.gamma, self.beta, self.eps)
