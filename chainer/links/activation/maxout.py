from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import link
from chainer._core.devices.array_types import get_array_types
from chainer.functions.activation import maxout
from chainer.initializer import Initializer
from chainer.links.connection import linear

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, NdArray, VariableLike
    from chainer.variable import Variable


class Maxout(link.Chain):
    r"""Fully-connected maxout layer: the maxima of groups of linear units.

    .. math::

        y_i = \max_j (W_{ij \cdot} x + b_{ij})

    See I. J. Goodfellow et al., `Maxout Networks
    <https://arxiv.org/abs/1302.4389>`_.

    Args:
        in_size (int or None): Size of an input vector. If ``None``, it is
            inferred from the first input.
        out_size (int): Size of an output vector.
        pool_size (int): Number of linear units per output.
        initialW (initializer or :ref:`ndarray`): Initializer of the weight. An
            array, and the array that a function is to fill, have the shape
            ``(out_size, pool_size, in_size)``; an :class:`~chainer.Initializer` fills the weight
            of the linear units. The default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer, scalar or :ref:`ndarray`): Initializer of the
            bias, likewise of the shape ``(out_size, pool_size)``. ``None`` means no bias.

    Raises:
        ValueError: An array has another shape.

    Attributes:
        linear (~chainer.links.Linear): The linear units.

    .. seealso:: :func:`chainer.functions.maxout`

    .. admonition:: Example

        >>> W = np.array([[[1, 0], [0, 1]]], np.float32)  # one output, the larger of two inputs
        >>> L.Maxout(2, 1, pool_size=2, initialW=W)(np.array([[1, 5], [3, -2]], np.float32))
        variable([[5.],
                  [3.]])

    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        pool_size: int,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec = 0,
    ) -> None:
        super().__init__()
        self.out_size = out_size
        self.pool_size = pool_size
        groups = out_size, pool_size
        initialW = _of_groups('initialW', initialW, (*groups, in_size))
        initial_bias = _of_groups('initial_bias', initial_bias, groups)
        with self.init_scope():
            self.linear: linear.Linear = linear.Linear(
                in_size, out_size * pool_size, initial_bias is None, initialW, initial_bias
            )

    def forward(self, x: VariableLike) -> Variable:
        """Applies the maxout layer.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.

        Returns:
            ~chainer.Variable: Output of the shape ``(batch size, out_size)``.

        """
        return maxout.maxout(self.linear(x), self.pool_size)


class _OfGroups(Initializer):
    """Initializer of linear units that fills an array with an axis for their groups."""

    def __init__(self, initializer: Any, groups: tuple[int, int]) -> None:
        super().__init__(getattr(initializer, 'dtype', None))
        self._initializer = initializer
        self._groups = groups

    def __call__(self, array: NdArray) -> None:
        self._initializer(array.reshape(*self._groups, *array.shape[1:]))


def _of_groups(name, initializer, shape):
    """Initializer of linear units, from one with an axis for their groups."""
    if isinstance(initializer, get_array_types()):
        actual = initializer.shape
        if len(actual) != len(shape) or any(n not in (m, None) for m, n in zip(actual, shape)):
            raise ValueError(f'{name} must have the shape {shape}, but has {actual}')
        return initializer.reshape(actual[0] * actual[1], *actual[2:])
    if callable(initializer) and not isinstance(initializer, Initializer):
        return _OfGroups(initializer, shape[:2])
    return initializer
