from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import link, variable
from chainer.functions.math import identity

if TYPE_CHECKING:
    from chainer.types import NdArray
    from chainer.variable import Variable


class Parameter(link.Link):
    """A link that holds one parameter and returns its value.

    Args:
        array (:ref:`ndarray`): Initial value.

    Attributes:
        W (~chainer.Parameter): The parameter, of the shape of ``array``.

    Raises:
        AttributeError: ``array`` is not an array.

    .. admonition:: Example

        >>> shift = L.Parameter(np.array([1, 2], np.float32))
        >>> shift()
        variable([1., 2.])
        >>> [name for name, _ in shift.namedparams()]
        ['/W']

    """

    def __init__(self, array: NdArray) -> None:
        if not hasattr(array, 'shape'):
            raise AttributeError(f'array must have a shape, but {type(array)} was given')
        super().__init__()
        with self.init_scope():
            self.W = variable.Parameter(array)

    def forward(self, volatile: str = 'off') -> Variable:
        """Returns the value of the parameter.

        Args:
            volatile: Unused.

        Returns:
            ~chainer.Variable: Variable through which gradients flow into the parameter.

        """
        return identity.identity(self.W)
