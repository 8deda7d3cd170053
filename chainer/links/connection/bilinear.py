from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions, initializers, link, variable
from chainer._core.devices.array_types import get_array_types

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Parameter, Variable


class Bilinear(link.Link):
    r"""Bilinear layer with linear terms and a bias.

    .. math::

        y_k = \sum_{ij} e^1_i W_{ijk} e^2_j + \sum_i e^1_i V^1_{ik}
            + \sum_j e^2_j V^2_{jk} + b_k

    Args:
        left_size (int): Size of a left input vector.
        right_size (int): Size of a right input vector.
        out_size (int): Size of an output vector.
        nobias (bool): If ``True``, omits ``V1``, ``V2`` and ``b``.
        initialW (initializer or :ref:`ndarray`): Initializer of ``W``. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (tuple of initializers): Initializers of ``V1``, ``V2`` and
            ``b``. The default is LeCunNormal for the first two and zero.

    Raises:
        ValueError: ``initial_bias`` is not a tuple of three elements.

    Attributes:
        W (~chainer.Parameter): Weight of the shape
            ``(left_size, right_size, out_size)``.
        V1 (~chainer.Parameter): Weight of the shape ``(left_size, out_size)``.
        V2 (~chainer.Parameter): Weight of the shape ``(right_size, out_size)``.
        b (~chainer.Parameter): Bias of the shape ``(out_size,)``.

    .. seealso:: :func:`chainer.functions.bilinear`

    .. admonition:: Example

        >>> layer = L.Bilinear(2, 3, 4)
        >>> layer(np.zeros((5, 2), np.float32), np.zeros((5, 3), np.float32)).shape
        (5, 4)
        >>> sorted((name, param.shape) for name, param in layer.namedparams())
        [('/V1', (2, 4)), ('/V2', (3, 4)), ('/W', (2, 3, 4)), ('/b', (4,))]

    """

    def __init__(
        self,
        left_size: int,
        right_size: int,
        out_size: int,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: tuple[InitializerSpec | None, ...] | None = None,
    ) -> None:
        super().__init__()
        self.in_sizes: tuple[int, int] = (left_size, right_size)
        self.nobias = nobias
        if isinstance(initial_bias, tuple):
            if len(initial_bias) != 3:
                raise ValueError(
                    f'initial_bias must have three elements, but {len(initial_bias)} were given'
                )
        elif initial_bias is None:
            initial_bias = None, None, 0
        else:
            raise ValueError('initial_bias must be a tuple or None')

        with self.init_scope():
            self.W = _parameter(initialW, (left_size, right_size, out_size))
            if not nobias:
                V1, V2, b = initial_bias
                self.V1 = _parameter(V1, (left_size, out_size))
                self.V2 = _parameter(V2, (right_size, out_size))
                self.b: Parameter = _parameter(0 if b is None else b, (out_size,))

    def forward(self, e1: VariableLike, e2: VariableLike) -> Variable:
        """Applies the bilinear layer.

        Args:
            e1 (~chainer.Variable or :ref:`ndarray`): Left input.
            e2 (~chainer.Variable or :ref:`ndarray`): Right input.

        Returns:
            ~chainer.Variable: Output of the shape ``(batch size, out_size)``.

        """
        if self.nobias:
            return functions.bilinear(e1, e2, self.W)
        return functions.bilinear(e1, e2, self.W, self.V1, self.V2, self.b)

    def zero_grads(self) -> None:
        """Fills the gradients with zeros; old name of ``zerograds``."""
        self.zerograds()


def _parameter(initializer, shape):
    if isinstance(initializer, get_array_types()):
        assert initializer.shape == shape, (
            f'the initial value must have the shape {shape}, but has {initializer.shape}'
        )
    initializer = initializers.get_initializer(initializer)
    return variable.Parameter(initializer, shape)
