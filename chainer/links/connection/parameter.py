from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import link, variable

if TYPE_CHECKING:
    from chainer.types import NdArray
    from chainer.variable import Variable


class Parameter(link.Link):
    """A link that holds one parameter and returns it.

    Args:
        array (:ref:`ndarray` or scalar): Initial value.

    Attributes:
        W (~chainer.Parameter): The parameter.

    .. admonition:: Example

        >>> shift = L.Parameter(np.array([1, 2], np.float32))
        >>> shift()
        variable W([1., 2.])
        >>> [name for name, _ in shift.namedparams()]
        ['/W']

    """

    def __init__(self, array: NdArray | float) -> None:
        super().__init__()
        with self.init_scope():
            self.W = variable.Parameter(array)

    def forward(self, volatile: str = 'off') -> Variable:
        """Returns the parameter.

        Args:
            volatile: Unused.

        """
        return self.W
