from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import initializers, link, variable
from chainer.functions.activation import swish

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Parameter, Variable


class Swish(link.Link):
    r"""Swish, :math:`x \sigma(\beta x)`, with trainable :math:`\beta`.

    See P. Ramachandran et al., `Searching for Activation Functions
    <https://arxiv.org/abs/1710.05941>`_.

    Args:
        beta_shape (tuple of ints or None): Shape of ``beta``, which applies to
            the leading axes of an input after the batch axis. If ``None``, it is
            inferred from the first input: all axes but the batch axis.
        beta_init (float): Initial value of ``beta``.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or its
            shape does not begin with ``beta_shape`` after the first axis.

    Attributes:
        beta (~chainer.Parameter): The parameter.

    .. seealso:: :func:`chainer.functions.swish`

    .. admonition:: Example

        >>> swish = L.Swish(None)
        >>> [round(float(y), 3) for y in swish(np.array([[-1, 0, 2]], np.float32)).array[0]]
        [-0.269, 0.0, 1.762]
        >>> swish.beta
        variable beta([1., 1., 1.])

    """

    def __init__(self, beta_shape: tuple[int, ...] | None, beta_init: float = 1.0) -> None:
        super().__init__()
        with self.init_scope():
            initializer = initializers.Constant(beta_init)
            self.beta: Parameter = variable.Parameter(initializer, beta_shape)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the activation function.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Input.

        Returns:
            ~chainer.Variable: Array of the shape of ``x``.

        """
        if self.beta.array is None:
            self.beta.initialize(x.shape[1:])
        return swish.swish(x, self.beta)
