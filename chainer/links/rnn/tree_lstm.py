from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions, link, variable
from chainer.backend import using_device
from chainer.links.connection import linear

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class _TreeLSTM(link.Chain):
    """Handling of missing inputs for both tree LSTM links."""

    def _read_inputs(self, cshsx):
        """Returns the cells and outputs of children, and the input; zeros replace missing ones."""
        n_children = len(cshsx) // 2
        cs, hs, x = cshsx[:n_children], cshsx[n_children:-1], cshsx[-1]
        given = next((v for v in (x, *cs, *hs) if v is not None), None)
        if given is None:
            raise ValueError('All inputs (cs, hs, x) are None.')

        def fill(value, size):
            if value is not None:
                return value
            with using_device(self.device):
                return variable.Variable(self.xp.zeros((given.shape[0], size), dtype=given.dtype))

        return (
            [fill(c, self.state_size) for c in cs],
            [fill(h, self.state_size) for h in hs],
            fill(x, self.in_size),
        )


class ChildSumTreeLSTM(_TreeLSTM):
    r"""LSTM layer over nodes of a tree with any number of unordered children.

    .. math::

        a &= \tanh(V_a x + W_a \textstyle\sum_k h_k), \\
        i &= \sigma(V_i x + W_i \textstyle\sum_k h_k), \\
        o &= \sigma(V_o x + W_o \textstyle\sum_k h_k), \\
        f_k &= \sigma(V_f x + W_f h_k), \\
        c &= a \odot i + \textstyle\sum_k f_k \odot c_k, \\
        h &= o \odot \tanh(c)

    (omitting the biases of inputs). See K. S. Tai et al., `Improved
    Semantic Representations From Tree-Structured Long Short-Term Memory
    Networks <https://arxiv.org/abs/1503.00075>`_.

    Args:
        in_size (int): Size of an input vector.
        out_size (int): Size of cells and outputs.

    Raises:
        AssertionError: A call gets no input, or not a hidden state for each cell.
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its size
            is not ``in_size`` or, of a state, ``out_size``.

    Attributes:
        W_x (~chainer.links.Linear): Layer from inputs.
        W_h_aio (~chainer.links.Linear): Layer from outputs of children to
            :math:`a`, :math:`i` and :math:`o`.
        W_h_f (~chainer.links.Linear): Layer from outputs of children to
            :math:`f_k`.

    .. admonition:: Example

        >>> lstm = L.ChildSumTreeLSTM(3, 5)
        >>> x = np.ones((2, 3), np.float32)
        >>> c1, h1 = lstm(x)  # leaves have no children
        >>> c2, h2 = lstm(x)
        >>> c, h = lstm(c1, c2, h1, h2, x)
        >>> c.shape, h.shape
        ((2, 5), (2, 5))

    """

    def __init__(self, in_size: int, out_size: int) -> None:
        super().__init__()
        with self.init_scope():
            self.W_x: linear.Linear = linear.Linear(in_size, 4 * out_size)
            self.W_h_aio: linear.Linear = linear.Linear(out_size, 3 * out_size, nobias=True)
            self.W_h_f: linear.Linear = linear.Linear(out_size, out_size, nobias=True)
        self.in_size = in_size
        self.state_size = out_size

    def forward(self, *cshsx: VariableLike | None) -> tuple[Variable, Variable]:
        """Computes the states of nodes.

        Args:
            cshsx: Cells of each child, outputs of each child, and the input,
                in this order. Each is a variable with a batch axis or ``None``,
                which means zeros.

        Returns:
            tuple of ~chainer.Variable: Cells and outputs of the nodes.

        Raises:
            AssertionError: The number of arguments is even.
            ValueError: All arguments are ``None``.

        """
        assert len(cshsx) % 2 == 1, (
            'cells and outputs of all children and the input must be given, but there are '
            f'{len(cshsx)} arguments'
        )
        cs, hs, x = self._read_inputs(cshsx)
        size = self.state_size
        x_aio, x_f = functions.split_axis(self.W_x(x), [3 * size], axis=1)
        if not hs:
            a, i, o = functions.split_axis(x_aio, 3, axis=1)
            c = functions.sigmoid(i) * functions.tanh(a)
            return c, functions.sigmoid(o) * functions.tanh(c)
        total: Any = sum(map(variable.as_variable, hs))
        aio = x_aio + self.W_h_aio(total)
        h_f = self.W_h_f(functions.concat(hs, axis=0))
        fs = [x_f + f for f in functions.split_axis(h_f, len(hs), axis=0)]
        return functions.tree_lstm(*cs, functions.concat([aio, *fs], axis=1))


class NaryTreeLSTM(_TreeLSTM):
    r"""LSTM layer over nodes of a tree with a fixed number of ordered children.

    .. math::

        a &= \tanh(V_a x + \textstyle\sum_k W_{a,k} h_k), \\
        i &= \sigma(V_i x + \textstyle\sum_k W_{i,k} h_k), \\
        o &= \sigma(V_o x + \textstyle\sum_k W_{o,k} h_k), \\
        f_n &= \sigma(V_{f,n} x + \textstyle\sum_k W_{f,n,k} h_k), \\
        c &= a \odot i + \textstyle\sum_n f_n \odot c_n, \\
        h &= o \odot \tanh(c)

    (omitting the biases of inputs). See K. S. Tai et al., `Improved
    Semantic Representations From Tree-Structured Long Short-Term Memory
    Networks <https://arxiv.org/abs/1503.00075>`_.

    Args:
        in_size (int): Size of an input vector.
        out_size (int): Size of cells and outputs.
        n_ary (int): Number of children of a node, at least one.

    Raises:
        AssertionError: ``n_ary`` is not positive.

    Attributes:
        W_x (~chainer.links.Linear): Layer from inputs.
        W_h1, W_h2, ... (~chainer.links.Linear): Layers from outputs of
            children.

    .. admonition:: Example

        >>> lstm = L.NaryTreeLSTM(3, 5, n_ary=2)
        >>> x = np.ones((2, 3), np.float32)
        >>> c1, h1 = lstm(None, None, None, None, x)  # a leaf
        >>> c, h = lstm(c1, None, h1, None, x)  # a node with a left child
        >>> c.shape, h.shape
        ((2, 5), (2, 5))

    """

    def __init__(self, in_size: int, out_size: int, n_ary: int = 2) -> None:
        assert n_ary > 0, f'n_ary must be positive, but is {n_ary}'
        super().__init__()
        with self.init_scope():
            self.W_x: linear.Linear = linear.Linear(in_size, (3 + n_ary) * out_size)
            for i in range(1, n_ary + 1):
                setattr(
                    self, f'W_h{i}', linear.Linear(out_size, (3 + n_ary) * out_size, nobias=True)
                )
        self.in_size = in_size
        self.state_size = out_size
        self.n_ary = n_ary

    def forward(self, *cshsx: VariableLike | None) -> tuple[Variable, Variable]:
        """Computes the states of nodes.

        Args:
            cshsx: Cells of each child, outputs of each child, and the input,
                in this order. Each is a variable with a batch axis or ``None``,
                which means zeros.

        Returns:
            tuple of ~chainer.Variable: Cells and outputs of the nodes.

        Raises:
            AssertionError: The number of arguments does not fit.
            ValueError: All arguments are ``None``.

        """
        assert len(cshsx) == 2 * self.n_ary + 1, (
            f'{2 * self.n_ary + 1} arguments expected (cells and outputs of {self.n_ary} '
            f'children, and the input), but {len(cshsx)} given'
        )
        cs, hs, x = self._read_inputs(cshsx)
        y = self.W_x(x)
        for i, h in enumerate(hs, start=1):
            y += getattr(self, f'W_h{i}')(h)
        return functions.tree_lstm(*cs, y)
