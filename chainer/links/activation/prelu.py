from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import link, variable
from chainer.functions.activation import prelu

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class PReLU(link.Link):
    r"""Parametric ReLU, :math:`\max(x, 0) + W \min(x, 0)`.

    See K. He et al., `Delving Deep into Rectifiers
    <https://arxiv.org/abs/1502.01852>`_.

    Args:
        shape (tuple of ints): Shape of the slopes; they apply to the leading
            axes of an input after the batch axis.
        init (float): Initial slope.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or its
            shape does not begin with ``shape`` after the first axis.

    Attributes:
        W (~chainer.Parameter): Slopes.

    .. seealso:: :func:`chainer.functions.prelu`

    .. admonition:: Example

        >>> prelu = L.PReLU((2,), init=0.5)
        >>> prelu(np.array([[-2, 2], [4, -4]], np.float32))
        variable([[-1.,  2.],
                  [ 4., -2.]])
        >>> prelu.W.shape
        (2,)

    """

    def __init__(self, shape: tuple[int, ...] = (), init: float = 0.25) -> None:
        super().__init__()
        with self.init_scope():
            self.W = variable.Parameter(init, shape)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the activation function.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Input.

        Returns:
            ~chainer.Variable: Array of the shape of ``x``.

        """
        return prelu.prelu(x, self.W)
