from chainer import backend, utils
from chainer.functions._base import Operation
from chainer.variable import as_array, as_variable


class ModifiedXLogX(Operation):
    r"""Elementwise :math:`x \log x` that is zero, with a zero gradient, at zero.

    Args:
        logx (array): Logarithm of the input; ``-inf`` where the input is zero.

    .. admonition:: Example

        >>> from chainer.distributions.utils import ModifiedXLogX
        >>> x = np.array([0, 1, np.e])
        >>> y, = ModifiedXLogX(np.array([-np.inf, 0, 1])).apply((x,))
        >>> y.array.round(3)
        array([0.   , 0.   , 2.718])

    """

    def __init__(self, logx):
        self._logx = logx

    def forward(self, inputs):
        (x,) = inputs
        self.retain_inputs((0,))
        xp = backend.get_array_module(x)
        y = x * xp.where(x == 0, x.dtype.type(0), self._logx)
        return (utils.force_array(y, x.dtype),)

    def gradients(self, m, targets, xs, ys, gys):
        (x,) = xs
        zero = as_array(x) == 0
        return (gys[0] * m.where(zero, 0, m.log(m.where(zero, 1, x)) + 1),)


def _modified_xlogx(x):
    x = as_variable(x)
    xp = backend.get_array_module(x.array)
    one_for_zero = xp.where(x.array == 0, x.dtype.type(1), x.array)
    return ModifiedXLogX(xp.log(one_for_zero)).apply((x,))[0]
