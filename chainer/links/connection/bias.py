from chainer import link, variable
from chainer.functions.math import bias


class Bias(link.Link):
    """Adds a bias, broadcast from an axis on.

    Args:
        axis (int): First axis of the input along which the bias is applied.
        shape (tuple of ints): Shape of the bias, which starts as zeros. If
            ``None``, the link has no parameter and the bias is the second
            argument of a call.

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

    def __init__(self, axis=1, shape=None):
        super().__init__()
        self.axis = axis
        if shape is not None:
            with self.init_scope():
                self.b = variable.Parameter(0, shape)

    def forward(self, *xs):
        """Adds the bias.

        Args:
            xs (~chainer.Variable or :ref:`ndarray`): The input, and the bias if
                the link has none.

        Returns:
            ~chainer.Variable: Array of the shape of the input.

        """
        n_expected = 1 if hasattr(self, 'b') else 2
        if len(xs) != n_expected:
            raise ValueError(
                f'{n_expected} input(s) expected by a Bias link '
                f'{"with" if n_expected == 1 else "without"} a parameter, but {len(xs)} given')
        y = self.b if n_expected == 1 else xs[1]
        return bias.bias(xs[0], y, self.axis)
