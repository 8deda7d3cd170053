from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import link, variable
from chainer._core.settings.debug import is_debug
from chainer.functions.math import bias

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Parameter, Variable


class Bias(link.Link):
    """Adds a bias, broadcast from a given axis.

    Args:
        axis (int): First axis of the input that the bias applies to.
        shape (tuple of ints): Shape of the bias, which starts as zeros. If
            ``None``, the link has no parameter and the bias is the second
            argument of a call.

    Raises:
        ~chainer.utils.type_check.InvalidType: The shape of the bias does not fit the input of a
            call from ``axis`` on.

    Attributes:
        b (~chainer.Parameter): Bias, if ``shape`` is given.

    .. seealso:: :func:`chainer.functions.bias`

    .. admonition:: Example

        >>> bias = L.Bias(axis=1, shape=(3,))
        >>> bias.b.array[:] = [1, 2, 3]
        >>> bias(np.zeros((2, 3), np.float32))
        variable([[1., 2., 3.],
                  [1., 2., 3.]])
        >>> L.Bias()(np.zeros((1, 2), np.float32), np.array([5, 6], np.float32))
        variable([[5., 6.]])

    """

    def __init__(self, axis: int = 1, shape: tuple[int, ...] | None = None) -> None:
        super().__init__()
        self.axis = axis
        if shape is not None:
            with self.init_scope():
                self.b: Parameter = variable.Parameter(0, shape)

    def forward(self, *xs: VariableLike) -> Variable:
        """Adds the bias.

        Args:
            xs (~chainer.Variable or :ref:`ndarray`): The input, and the bias if
                the link has no parameter.

        Returns:
            ~chainer.Variable: Array of the shape of the input.

        Raises:
            ValueError: The number of inputs is wrong (in debug mode: AssertionError).

        """
        x, y = _get_operands(xs, getattr(self, 'b', None), 'Bias')
        return bias.bias(x, y, self.axis)


def _get_operands(xs, param, name):
    """Returns the input and the other operand, a parameter or the second input."""
    n_expected = 2 if param is None else 1
    if len(xs) != n_expected:
        error = AssertionError if is_debug() else ValueError
        raise error(
            f'{n_expected} input(s) expected by a {name} link '
            f'{"without" if param is None else "with"} a parameter, but {len(xs)} given'
        )
    return xs if param is None else (xs[0], param)
