from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions
from chainer.links.connection import linear
from chainer.links.rnn import _gates, _stateful

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class StatefulPeepholeLSTM(_stateful.StatefulChain):
    r"""LSTM layer with peephole connections from the cells to the gates.

    .. math::

        i &= \sigma(W_i x + U_i h + P_i c), \\
        f &= \sigma(W_f x + U_f h + P_f c), \\
        c' &= f \odot c + i \odot \tanh(W_a x + U_a h), \\
        o &= \sigma(W_o x + U_o h + P_o c'), \\
        h' &= o \odot \tanh(c')

    See F. A. Gers and J. Schmidhuber, Recurrent Nets that Time and Count, 2000.

    Args:
        in_size (int or None): Size of an input vector. If ``None``, it is
            inferred from the first input.
        out_size (int): Size of an output vector.

    Raises:
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its size
            is not ``in_size``.

    Attributes:
        upward (~chainer.links.Linear): Layer from inputs.
        lateral (~chainer.links.Linear): Layer from previous outputs.
        peep_i, peep_f, peep_o (~chainer.links.Linear): Layers from cells.
        c (~chainer.Variable): Cells, or ``None`` before the first step.
        h (~chainer.Variable): Outputs, likewise.

    .. admonition:: Example

        >>> lstm = L.StatefulPeepholeLSTM(3, 5)
        >>> lstm(np.ones((2, 3), np.float32)).shape
        (2, 5)
        >>> lstm.c.shape, lstm.peep_i.W.shape
        ((2, 5), (5, 5))

    """

    _state_names = 'c', 'h'

    c: Variable | None

    def __init__(self, in_size: int | None, out_size: int) -> None:
        super().__init__()
        self.state_size = out_size
        self.reset_state()
        with self.init_scope():
            self.upward: linear.Linear = linear.Linear(in_size, 4 * out_size)
            self.lateral: linear.Linear = linear.Linear(out_size, 4 * out_size, nobias=True)
            self.peep_i: linear.Linear = linear.Linear(out_size, out_size, nobias=True)
            self.peep_f: linear.Linear = linear.Linear(out_size, out_size, nobias=True)
            self.peep_o: linear.Linear = linear.Linear(out_size, out_size, nobias=True)

    def forward(self, x: VariableLike) -> Variable:
        """Computes one step and replaces the states.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.

        Returns:
            ~chainer.Variable: Outputs of the shape ``(batch size, out_size)``.

        """
        gates = self.upward(x)
        if self.h is not None:
            gates += self.lateral(self.h)
        if self.c is None:
            self.c = _stateful.zero_state(self, x, self.state_size)
        sigmoid, tanh = functions.sigmoid, functions.tanh
        a, i, f, o = _gates.split_gates(gates)
        i = sigmoid(i + self.peep_i(self.c))
        f = sigmoid(f + self.peep_f(self.c))
        self.c = tanh(a) * i + f * self.c
        o = sigmoid(o + self.peep_o(self.c))
        self.h: Variable | None = o * tanh(self.c)
        return self.h
