from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions
from chainer.links.connection import linear
from chainer.links.rnn import _gates, _stateful
from chainer.utils import _old_arguments, argument

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class StatefulZoneoutLSTM(_stateful.StatefulChain):
    """LSTM layer that keeps random elements of the previous states.

    See D. Krueger et al., `Zoneout: Regularizing RNNs by Randomly Preserving
    Hidden Activations <https://arxiv.org/abs/1606.01305>`_.

    Args:
        in_size (int or None): Size of an input vector. If ``None``, it is
            inferred from the first input.
        out_size (int): Size of an output vector.
        c_ratio (float): Ratio of kept cells, at least zero and less than one.
        h_ratio (float): Ratio of kept outputs, likewise.

    Raises:
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its size
            is not ``in_size``.

    Attributes:
        upward (~chainer.links.Linear): Layer from inputs.
        lateral (~chainer.links.Linear): Layer from previous outputs.
        c (~chainer.Variable): Cells, or ``None`` before the first step.
        h (~chainer.Variable): Outputs, likewise.

    .. seealso:: :func:`chainer.functions.zoneout`

    .. admonition:: Example

        >>> lstm = L.StatefulZoneoutLSTM(3, 5, c_ratio=0.5, h_ratio=0.1)
        >>> lstm(np.ones((2, 3), np.float32)).shape
        (2, 5)
        >>> lstm.c.shape
        (2, 5)

    """

    _state_names = 'c', 'h'

    h: Variable | None
    c: Variable | None

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        c_ratio: float = 0.5,
        h_ratio: float = 0.5,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        argument.parse_kwargs(kwargs, train=_old_arguments.TRAIN)
        self.state_size = out_size
        self.c_ratio = c_ratio
        self.h_ratio = h_ratio
        self.reset_state()
        with self.init_scope():
            self.upward: linear.Linear = linear.Linear(in_size, 4 * out_size)
            self.lateral: linear.Linear = linear.Linear(out_size, 4 * out_size, nobias=True)

    def set_state(self, c: Variable, h: Variable) -> None:
        """Sets the states, which are moved to the device of the link.

        Args:
            c (~chainer.Variable): Cells of the shape ``(batch size, out_size)``.
            h (~chainer.Variable): Outputs, likewise.

        """
        self._set_state(c, h)

    def forward(self, x: VariableLike) -> Variable:
        """Computes one step and replaces the states.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.

        Returns:
            ~chainer.Variable: Outputs of the shape ``(batch size, out_size)``.

        """
        gates = self.upward(x)
        if self.h is None:
            self.h = _stateful.zero_state(self, x, self.state_size)
        else:
            gates += self.lateral(self.h)
        if self.c is None:
            self.c = _stateful.zero_state(self, x, self.state_size)
        sigmoid, tanh = functions.sigmoid, functions.tanh
        a, i, f, o = _gates.split_gates(gates)
        c = tanh(a) * sigmoid(i) + sigmoid(f) * self.c
        self.c = functions.zoneout(self.c, c, self.c_ratio)
        self.h = functions.zoneout(self.h, sigmoid(o) * tanh(c), self.h_ratio)
        return self.h
