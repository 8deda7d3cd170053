from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer import initializers, link, variable
from chainer._core.names import hints
from chainer.functions.connection import linear
from chainer.links.connection import _bias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Parameter, Variable


@hints.explain_arguments
class Linear(link.Link):
    r"""Linear layer, :math:`Y = x W^\top + b`.

    Args:
        in_size (int or None): Size of an input vector. If ``None``, it is
            inferred from the first input.
        out_size (int): Size of an output vector. If it is the only size, it may
            be the first argument.
        nobias (bool): If ``True``, there is no bias.
        initialW (initializer or :ref:`ndarray`): Initializer of the weight: a
            callable, a number, or an array of the shape ``(out_size, in_size)``.
            The default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias:
            a callable, a number, or an array of the shape ``(out_size,)``. The
            default is zero.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or has not
            ``in_size`` elements from the axis ``n_batch_axes`` on.

    Attributes:
        W (~chainer.Parameter): Weight of the shape ``(out_size, in_size)``. Its
            dtype is ``chainer.config.dtype`` unless the initializer has one.
        b (~chainer.Parameter): Bias of the shape ``(out_size,)``, or ``None``.

    .. seealso:: :func:`chainer.functions.linear`

    .. admonition:: Example

        >>> x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
        >>> layer = L.Linear(3, 2, initialW=1, initial_bias=np.array([0, 10], np.float32))
        >>> layer(x)
        variable([[ 6., 16.],
                  [15., 25.]])
        >>> layer = L.Linear(4)  # the size of inputs is not known yet
        >>> layer.W.is_initialized
        False
        >>> layer(np.zeros((10, 3, 2), np.float32)).shape, layer.W.shape
        ((10, 4), (4, 6))

    """

    b: Parameter | None

    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        if out_size is None:
            in_size, out_size = None, in_size
        size: Any = out_size
        self.in_size = in_size
        self.out_size: int = size
        with self.init_scope():
            self.W = variable.Parameter(initializers.get_initializer(initialW))
            if in_size is not None:
                self._initialize_params(in_size)
            self.b = _bias.make_bias(nobias, initial_bias, out_size)

    def _initialize_params(self, in_size):
        self.W.initialize((self.out_size, in_size))

    @classmethod
    def from_params(
        cls, W: VariableLike, b: VariableLike | None = None, nobias: bool = False
    ) -> Self:
        """Makes a link with given parameters.

        Args:
            W (:ref:`ndarray` or ~chainer.Variable): Weight.
            b (:ref:`ndarray` or ~chainer.Variable): Bias, or ``None``.
            nobias (bool): If ``True``, there is no bias.

        Returns:
            ~chainer.links.Linear: New link with copies of the arrays.

        """
        out_size, in_size = W.shape
        if b is None:
            nobias = True
        return cls(
            in_size,
            out_size,
            nobias,
            initialW=variable.as_array(W),
            initial_bias=variable.as_array(b),
        )

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        yield 'in_size', self.in_size
        yield 'out_size', self.out_size
        yield 'nobias', self.b is None

    def forward(self, x: VariableLike, n_batch_axes: int = 1) -> Variable:
        """Applies the linear layer.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors, floats
                of the weight's dtype. All axes after the batch axes are flattened.
            n_batch_axes (int): Number of batch axes.

        Returns:
            ~chainer.Variable: Output of the shape
            ``(batch axes..., out_size)``.

        Raises:
            ~chainer.utils.type_check.InvalidType: ``x`` does not fit the weight.

        """
        if self.W.array is None:
            self._initialize_params(math.prod(x.shape[n_batch_axes:]))
        return linear.linear(x, self.W, self.b, n_batch_axes=n_batch_axes)
