from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions, link
from chainer.links.normalization import _parameters

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Parameter, Variable


class RMSNormalization(link.Link):
    """Root mean square normalization layer over the last axis.

    See B. Zhang and R. Sennrich, `Root Mean Square Layer Normalization
    <https://arxiv.org/abs/1910.07467>`_.

    Args:
        size (int or None): Number of units. If ``None``, it is inferred
            from the first input.
        eps (float): Small value for numerical stability.
        initial_gamma (initializer): Initializer of the scale, one by default.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or its
            last axis is not of ``size``.

    Attributes:
        gamma (~chainer.Parameter): Scale of the shape ``(size,)``.

    .. seealso:: :func:`chainer.functions.rms_normalization`

    .. admonition:: Example

        >>> L.RMSNormalization(2)(np.array([[1, 7], [10, 70]], np.float32)).array.round(2)
        array([[0.2, 1.4],
               [0.2, 1.4]], dtype=float32)

    """

    def __init__(
        self,
        size: int | None = None,
        eps: float = 1e-6,
        initial_gamma: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.eps = eps
        with self.init_scope():
            self.gamma: Parameter = _parameters.make_parameter(initial_gamma, 1)
        if size is not None:
            self._initialize_params(size)

    def _initialize_params(self, size):
        self.gamma.initialize(size)

    def forward(self, x: VariableLike) -> Variable:
        """Normalizes the last axis.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Array of the shape
                ``(..., size)``.

        Returns:
            ~chainer.Variable: Array of the shape of ``x``.

        """
        if self.gamma.array is None:
            self._initialize_params(x.shape[-1])
        return functions.rms_normalization(x, self.gamma, self.eps)
