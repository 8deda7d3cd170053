from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from chainer import functions, link
from chainer._core.names import hints
from chainer.links.connection import linear
from chainer.links.rnn import _stateful

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


class GRUBase(link.Chain):
    """Parameters of a GRU layer.

    Args:
        in_size (int or None): Size of an input vector. If ``None``, it is
            inferred from the first input.
        out_size (int): Size of an output vector.
        init (initializer): Initializer of the weights of inputs (``W``,
            ``W_r``, ``W_z``). The default is
            :class:`~chainer.initializers.LeCunNormal`.
        inner_init (initializer): Initializer of the weights of outputs (``U``,
            ``U_r``, ``U_z``), likewise.
        bias_init (initializer): Initializer of the biases. The default is zero.

    .. admonition:: Example

        >>> from chainer.links.rnn.gru import GRUBase
        >>> sorted(child.name for child in GRUBase(3, 5).children())
        ['U', 'U_r', 'U_z', 'W', 'W_r', 'W_z']

    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        init: InitializerSpec | None = None,
        inner_init: InitializerSpec | None = None,
        bias_init: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        upward = functools.partial(linear.Linear, in_size, out_size, False, init, bias_init)
        lateral = functools.partial(linear.Linear, out_size, out_size, False, inner_init, bias_init)
        with self.init_scope():
            self.W_r: linear.Linear = upward()
            self.U_r: linear.Linear = lateral()
            self.W_z: linear.Linear = upward()
            self.U_z: linear.Linear = lateral()
            self.W = upward()
            self.U = lateral()

    def _step(self, h, x):
        if h is None:
            return functions.sigmoid(self.W_z(x)) * functions.tanh(self.W(x))
        r = functions.sigmoid(self.W_r(x) + self.U_r(h))
        z = functions.sigmoid(self.W_z(x) + self.U_z(h))
        h_bar = functions.tanh(self.W(x) + self.U(r * h))
        return functions.linear_interpolate(z, h_bar, h)


@hints.explain_arguments
class StatelessGRU(GRUBase):
    r"""GRU layer that takes and returns its state.

    .. math::

        r &= \sigma(W_r x + U_r h), \\
        z &= \sigma(W_z x + U_z h), \\
        \bar h &= \tanh(W x + U (r \odot h)), \\
        h' &= (1 - z) \odot h + z \odot \bar h

    (omitting the biases of all six layers). See K. Cho et al., `On the
    Properties of Neural Machine Translation
    <https://arxiv.org/abs/1409.1259>`_.

    Args:
        in_size (int or None): Size of an input vector. If ``None``, it is
            inferred from the first input.
        out_size (int): Size of an output vector.
        init (initializer): Initializer of ``W``, ``W_r`` and ``W_z``. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        inner_init (initializer): Initializer of ``U``, ``U_r`` and ``U_z``,
            likewise.
        bias_init (initializer): Initializer of the biases. The default is zero.

    Raises:
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its size
            is not ``in_size`` or, of the state, ``out_size``.

    .. admonition:: Example

        >>> gru = L.StatelessGRU(3, 5)
        >>> h = None
        >>> for x in np.ones((4, 2, 3), np.float32):  # four steps of a batch of two
        ...     h = gru(h, x)
        >>> h.shape
        (2, 5)

    """

    def forward(self, h: VariableLike | None, x: VariableLike) -> Variable:
        """Computes one step.

        Args:
            h (~chainer.Variable or None): Previous outputs of the shape
                ``(batch size, out_size)``; ``None`` means zeros.
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.

        Returns:
            ~chainer.Variable: New outputs.

        """
        return self._step(h, x)


@hints.explain_arguments
class StatefulGRU(GRUBase, _stateful.StatefulChain):
    """GRU layer that keeps its state.

    See :class:`~chainer.links.StatelessGRU` for the computation.

    Args:
        in_size (int or None): Size of an input vector. If ``None``, it is
            inferred from the first input.
        out_size (int): Size of an output vector.
        init (initializer): Initializer of ``W``, ``W_r`` and ``W_z``. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        inner_init (initializer): Initializer of ``U``, ``U_r`` and ``U_z``,
            likewise.
        bias_init (initializer): Initializer of the biases.

    Raises:
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its size
            is not ``in_size``.

    Attributes:
        h (~chainer.Variable): Outputs, or ``None`` before the first step.

    .. admonition:: Example

        >>> gru = L.StatefulGRU(3, 5)
        >>> for x in np.ones((4, 2, 3), np.float32):  # four steps of a batch of two
        ...     y = gru(x)
        >>> y.shape, gru.h is y
        ((2, 5), True)
        >>> gru.reset_state()
        >>> gru.h is None
        True

    """

    _state_names = ('h',)

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        init: InitializerSpec | None = None,
        inner_init: InitializerSpec | None = None,
        bias_init: InitializerSpec = 0,
    ) -> None:
        super().__init__(in_size, out_size, init, inner_init, bias_init)
        self.state_size = out_size
        self.reset_state()

    def set_state(self, h: Variable) -> None:
        """Sets the state, which is moved to the device of the link.

        Args:
            h (~chainer.Variable): Outputs of the shape ``(batch size, out_size)``.

        """
        self._set_state(h)

    def forward(self, x: VariableLike) -> Variable:
        """Computes one step and replaces the state.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.

        Returns:
            ~chainer.Variable: Outputs of the shape ``(batch size, out_size)``.

        """
        self.h: Variable | None = self._step(self.h, x)
        return self.h


@hints.explain_arguments
class GRU(StatefulGRU):
    """GRU layer that keeps its state; the same as :class:`~chainer.links.StatefulGRU`.

    It rejects the arguments of :class:`StatelessGRU` with a hint.

    Raises:
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its size
            is not ``in_size``.

    .. admonition:: Example

        >>> gru = L.GRU(3, 5)
        >>> gru(np.ones((2, 3), np.float32)).shape
        (2, 5)

    """

    def forward(self, *args: Any) -> Variable:
        """Computes one step; see :class:`~chainer.links.StatefulGRU`.

        Args:
            args: The batch of input vectors, of the shape ``(batch size, in_size)``.

        Returns:
            ~chainer.Variable: New outputs of the shape ``(batch size, out_size)``.

        Raises:
            ValueError: The number of arguments is not one.

        """
        if len(args) != 1:
            hint = ''
            if len(args) == 2:
                hint = (
                    ' Since Chainer v2 this link keeps its state. '
                    'Use chainer.links.StatelessGRU for one that does not.'
                )
            raise ValueError(
                f'Invalid argument. The number of arguments of GRU must be 1, but {len(args)} '
                f'were given.{hint}'
            )
        return super().forward(*args)
