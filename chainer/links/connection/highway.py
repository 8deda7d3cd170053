from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import link
from chainer.functions.activation import relu, sigmoid
from chainer.links.connection import linear

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


class Highway(link.Chain):
    r"""Highway layer: a gate chooses between a transformed and the plain input.

    .. math::

        y = t \odot f(W_h x + b_h) + (1 - t) \odot x, \quad
        t = \sigma(W_t x + b_t)

    Input and output have the shape ``(N, in_out_size)``.

    See R. K. Srivastava et al., `Highway Networks
    <https://arxiv.org/abs/1505.00387>`_.

    Args:
        in_out_size (int): Size of input and output vectors.
        nobias (bool): If ``True``, there are no biases.
        activate (callable): Activation function :math:`f`.
        init_Wh (initializer or :ref:`ndarray`): Initializer of ``plain.W``.
        init_bh (initializer or :ref:`ndarray`): Initializer of ``plain.b``.
        init_Wt (initializer or :ref:`ndarray`): Initializer of ``transform.W``.
        init_bt (initializer or :ref:`ndarray`): Initializer of ``transform.b``.
            Negative values favor the plain input.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or its
            size is not ``in_out_size``.

    .. admonition:: Example

        >>> x = np.array([[1, 2]], np.float32)
        >>> L.Highway(2, init_Wt=0, init_bt=-100)(x)  # a closed gate lets the input pass
        variable([[1., 2.]])
        >>> L.Highway(2, init_Wh=1, init_Wt=0, init_bt=100)(x)
        variable([[3., 3.]])

    """

    def __init__(
        self,
        in_out_size: int,
        nobias: bool = False,
        activate: Callable[..., Any] = relu.relu,
        init_Wh: InitializerSpec | None = None,
        init_Wt: InitializerSpec | None = None,
        init_bh: InitializerSpec | None = None,
        init_bt: InitializerSpec = -1,
    ) -> None:
        super().__init__()
        self.activate = activate
        sizes = in_out_size, in_out_size
        with self.init_scope():
            self.plain: linear.Linear = linear.Linear(*sizes, nobias, init_Wh, init_bh)
            self.transform: linear.Linear = linear.Linear(*sizes, nobias, init_Wt, init_bt)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the highway layer.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.

        Returns:
            ~chainer.Variable: Array of the shape of ``x``.

        """
        t = sigmoid.sigmoid(self.transform(x))
        return t * self.activate(self.plain(x)) + (1 - t) * x
