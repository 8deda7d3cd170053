from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import link, variable
from chainer.functions.math import scale
from chainer.links.connection import bias

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class Scale(link.Chain):
    """Multiplies by a weight, broadcast from a given axis, and adds a bias.

    Args:
        axis (int): First axis of the input that the weight applies to.
        W_shape (tuple of ints): Shape of the weight, which starts as ones. If
            ``None``, the link has no weight and takes it as the second argument
            of a call.
        bias_term (bool): Whether to add a bias.
        bias_shape (tuple of ints): Shape of the bias, required for ``bias_term``
            without ``W_shape``.

    Raises:
        ValueError: ``bias_shape`` is missing.

    Attributes:
        W (~chainer.Parameter): Weight, if ``W_shape`` is given.
        bias (~chainer.links.Bias): Bias, if ``bias_term`` is true.

    .. seealso:: :func:`chainer.functions.scale`

    .. admonition:: Example

        >>> scale = L.Scale(axis=1, W_shape=(3,), bias_term=True)
        >>> scale.W.array[:] = [1, 2, 3]
        >>> scale.bias.b.array[:] = 10
        >>> scale(np.ones((2, 3), np.float32))
        variable([[11., 12., 13.],
                  [11., 12., 13.]])

    """

    def __init__(
        self,
        axis: int = 1,
        W_shape: tuple[int, ...] | None = None,
        bias_term: bool = False,
        bias_shape: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__()
        self.axis = axis
        if bias_term and W_shape is None and bias_shape is None:
            raise ValueError(
                'bias_shape should be given if W is not learnt parameter and bias_term is True.'
            )
        with self.init_scope():
            if W_shape is not None:
                self.W = variable.Parameter(1, W_shape)
            if bias_term:
                self.bias: bias.Bias = bias.Bias(
                    axis, W_shape if bias_shape is None else bias_shape
                )

    def forward(self, *xs: VariableLike) -> Variable:
        """Scales the input.

        Args:
            xs (~chainer.Variable or :ref:`ndarray`): The input, and the weight
                if the link has no parameter.

        Returns:
            ~chainer.Variable: Array of the shape of the input.

        Raises:
            ValueError: The number of inputs is wrong (in debug mode: AssertionError).

        """
        x, y = bias._get_operands(xs, getattr(self, 'W', None), 'Scale')
        z = scale.scale(x, y, self.axis)
        return self.bias(z) if hasattr(self, 'bias') else z
