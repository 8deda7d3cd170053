from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions, link
from chainer._core.names import hints
from chainer.links.normalization import _parameters

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Parameter, Variable


@hints.explain_arguments
class LayerNormalization(link.Link):
    """Layer normalization layer: normalizes the last axis, of each sample and position.

    See J. L. Ba et al., `Layer Normalization
    <https://arxiv.org/abs/1607.06450>`_.

    Args:
        size (int or None): Number of units. If ``None``, it is inferred
            from the first input.
        eps (float): Small value for numerical stability.
        initial_gamma (initializer): Initializer of the scale, one by default.
        initial_beta (initializer): Initializer of the shift, zero by default.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or its
            last axis is not of ``size``.

    Attributes:
        gamma (~chainer.Parameter): Scale of the shape ``(size,)``.
        beta (~chainer.Parameter): Shift of the shape ``(size,)``.

    .. seealso:: :func:`chainer.functions.layer_normalization`

    .. admonition:: Example

        >>> ln = L.LayerNormalization(3)
        >>> ln(np.array([[1, 2, 3], [10, 20, 30]], np.float32)).array.round(2)
        array([[-1.22,  0.  ,  1.22],
               [-1.22,  0.  ,  1.22]], dtype=float32)
        >>> ln(np.zeros((4, 5, 3), np.float32)).shape  # batch, time, features
        (4, 5, 3)

    """

    def __init__(
        self,
        size: int | None = None,
        eps: float = 1e-6,
        initial_gamma: InitializerSpec | None = None,
        initial_beta: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.eps = eps
        with self.init_scope():
            self.gamma: Parameter = _parameters.make_parameter(initial_gamma, 1)
            self.beta: Parameter = _parameters.make_parameter(initial_beta, 0)
        if size is not None:
            self._initialize_params(size)

    def _initialize_params(self, size):
        self.gamma.initialize(size)
        self.beta.initialize(size)

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
        return functions.layer_normalization(x, self.gamma, self.beta, self.eps)
