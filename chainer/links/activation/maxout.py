from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import initializers, link
from chainer.functions.activation import maxout
from chainer.links.connection import linear

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, VariableLike
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
        initialW (initializer or :ref:`ndarray`): Initializer of the weight; an
            array has the shape ``(out_size, pool_size, in_size)``. The default
            is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer, scalar or :ref:`ndarray`): Initializer of the
            bias; an array has the shape ``(out_size, pool_size)``. ``None``
            means no bias.

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
        n_units = out_size * pool_size

        if hasattr(initialW, 'reshape'):
            initialW = initialW.reshape(n_units, in_size)
        if hasattr(initial_bias, 'reshape') and not numpy.isscalar(initial_bias):
            initial_bias = initial_bias.reshape(n_units)

        with self.init_scope():
            self.linear: linear.Linear = linear.Linear(
                in_size,
                n_units,
                nobias=initial_bias is None,
                initialW=initializers._get_initializer(initialW),
                initial_bias=initial_bias,
            )

    def forward(self, x: VariableLike) -> Variable:
        """Applies the maxout layer.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.

        Returns:
            ~chainer.Variable: Output of the shape ``(batch size, out_size)``.

        """
        return maxout.maxout(self.linear(x), self.pool_size)
