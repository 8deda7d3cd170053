from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import backend, function_node, functions as F, utils
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import NdArray
    from chainer.variable import Variable


class ModifiedXLogX(function_node.FunctionNode):
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

    def __init__(self, logx: NdArray) -> None:
        self._logx = logx

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        xp = backend.get_array_module(x)
        y = x * xp.where(x == 0, x.dtype.type(0), self._logx)
        return (utils.force_array(y, x.dtype),)

    def backward(
        self, indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        (x,) = self.get_retained_inputs()
        gy: Any = grad_outputs[0]  # the only output has a gradient
        zero = x.array == 0
        xp = backend.get_array_module(x.array)
        slope = F.log(F.where(zero, xp.ones_like(x.array), x)) + 1
        return (gy * F.where(zero, xp.zeros_like(x.array), slope),)


def _modified_xlogx(x):
    x = as_variable(x)
    xp = backend.get_array_module(x.array)
    one_for_zero = xp.where(x.array == 0, x.dtype.type(1), x.array)
    return ModifiedXLogX(xp.log(one_for_zero)).apply((x,))[0]
