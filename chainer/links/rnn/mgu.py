from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions, link
from chainer.links.connection import linear
from chainer.links.rnn import _stateful

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class MGUBase(link.Chain):
    """Parameters of a minimal gated unit layer.

    Args:
        n_inputs (int): Size of an input vector.
        n_units (int): Size of an output vector.

    .. admonition:: Example

        >>> from chainer.links.rnn.mgu import MGUBase
        >>> base = MGUBase(3, 5)
        >>> base.W_f.W.shape, base.W_h.W.shape
        ((5, 8), (5, 8))

    """

    def __init__(self, n_inputs: int, n_units: int) -> None:
        super().__init__()
        with self.init_scope():
            self.W_f: linear.Linear = linear.Linear(n_inputs + n_units, n_units)
            self.W_h: linear.Linear = linear.Linear(n_inputs + n_units, n_units)

    def _step(self, h, x):
        f = functions.sigmoid(self.W_f(functions.concat([h, x])))
        h_bar = functions.tanh(self.W_h(functions.concat([f * h, x])))
        return functions.linear_interpolate(f, h_bar, h)


class StatelessMGU(MGUBase):
    r"""Minimal gated unit layer that takes and returns its state.

    .. math::

        f &= \sigma(W_f [h, x]), \\
        \bar h &= \tanh(W_h [f \odot h, x]), \\
        h' &= (1 - f) \odot h + f \odot \bar h

    (omitting the biases). See G.-B. Zhou et al., `Minimal Gated Unit
    for Recurrent Neural Networks <https://arxiv.org/abs/1603.09420>`_.

    Args:
        n_inputs (int): Size of an input vector.
        n_units (int): Size of an output vector.

    Raises:
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its size
            is not ``n_inputs`` or, of the state, ``n_units``.

    .. admonition:: Example

        >>> mgu = L.StatelessMGU(3, 5)
        >>> h = np.zeros((2, 5), np.float32)
        >>> for x in np.ones((4, 2, 3), np.float32):  # four steps of a batch of two
        ...     h = mgu(h, x)
        >>> h.shape
        (2, 5)

    """

    def forward(self, h: VariableLike, x: VariableLike) -> Variable:
        """Computes one step.

        Args:
            h (~chainer.Variable or :ref:`ndarray`): Previous outputs of the
                shape ``(batch size, n_units)``.
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.

        Returns:
            ~chainer.Variable: New outputs.

        """
        return self._step(h, x)


class StatefulMGU(MGUBase, _stateful.StatefulChain):
    """Minimal gated unit layer that keeps its state.

    See :class:`~chainer.links.StatelessMGU` for the computation.

    Args:
        in_size (int): Size of an input vector.
        out_size (int): Size of an output vector.

    Raises:
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its size
            is not ``in_size``.

    Attributes:
        h (~chainer.Variable): Outputs, or ``None`` before the first step.

    .. admonition:: Example

        >>> mgu = L.StatefulMGU(3, 5)
        >>> mgu(np.ones((2, 3), np.float32)).shape
        (2, 5)
        >>> mgu.h.shape
        (2, 5)

    """

    _state_names = ('h',)

    h: Variable | None

    def __init__(self, in_size: int, out_size: int) -> None:
        super().__init__(in_size, out_size)
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
        if self.h is None:
            self.h = _stateful.zero_state(self, x, self.W_h.out_size)
        self.h = self._step(self.h, x)
        return self.h
