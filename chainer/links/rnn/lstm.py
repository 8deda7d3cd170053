from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer import functions, initializers, link
from chainer._core.names import hints
from chainer.backend import using_device
from chainer.links.connection import linear
from chainer.links.rnn import _stateful

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


class LSTMBase(link.Chain):
    """Parameters of an LSTM layer.

    The four gates are interleaved along the output axis, as
    :func:`chainer.functions.lstm` expects. Each is initialized separately.

    Args:
        in_size (int or None): Size of an input vector. If ``None`` or omitted,
            as in ``LSTM(out_size)``, it is inferred from the first input.
        out_size (int): Size of an output vector.
        lateral_init (initializer): Initializer of the weights of the previous
            output.
        upward_init (initializer): Initializer of the weights of the input.
        bias_init (initializer): Initializer of all biases except
            the forget gate's. The default is zero.
        forget_bias_init (initializer): Initializer of the forget gate's biases.
            The default is one.

    Attributes:
        upward (~chainer.links.Linear): Layer from inputs.
        lateral (~chainer.links.Linear): Layer from previous outputs.
        state_size (int): Size of the states.

    .. admonition:: Example

        >>> from chainer.links.rnn.lstm import LSTMBase
        >>> base = LSTMBase(3, 2)
        >>> base.upward.W.shape, base.lateral.W.shape
        ((8, 3), (8, 2))
        >>> base.upward.b.array  # the forget gates start open
        array([0., 0., 1., 0., 0., 0., 1., 0.], dtype=float32)

    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        lateral_init: InitializerSpec | None = None,
        upward_init: InitializerSpec | None = None,
        bias_init: InitializerSpec | None = None,
        forget_bias_init: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        if out_size is None:
            in_size, out_size = None, in_size
        size: Any = out_size
        self.state_size: int = size
        self.lateral_init = lateral_init
        self.upward_init = upward_init
        self.bias_init = 0 if bias_init is None else bias_init
        self.forget_bias_init = 1 if forget_bias_init is None else forget_bias_init
        with self.init_scope():
            self.upward: linear.Linear = linear.Linear(in_size, 4 * size, initialW=0)
            self.lateral: linear.Linear = linear.Linear(size, 4 * size, initialW=0, nobias=True)
            if in_size is not None:
                self._initialize_params()

    def _initialize_params(self):
        size = self.state_size
        lateral_init = initializers.get_initializer(self.lateral_init)
        upward_init = initializers.get_initializer(self.upward_init)
        for start in range(0, 4 * size, size):
            lateral_init(self.lateral.W.array[start : start + size])
            upward_init(self.upward.W.array[start : start + size])
        bias_init = initializers.get_initializer(self.bias_init)
        forget_bias_init = initializers.get_initializer(self.forget_bias_init)
        bias = self.upward.b
        assert bias is not None, 'upward is made with a bias'
        biases = bias.array.reshape(1, size, 4, 1)
        for gate, init in enumerate((bias_init, bias_init, forget_bias_init, bias_init)):
            init(biases[:, :, gate])

    def _initialize_for(self, x):
        if self.upward.W.array is None:
            with using_device(self.device):
                self.upward._initialize_params(math.prod(x.shape[1:]))
                self._initialize_params()


@hints.explain_arguments
class StatelessLSTM(LSTMBase):
    """LSTM layer that takes and returns its states.

    See :class:`~chainer.links.LSTM` for the arguments.

    Raises:
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its size
            is not ``in_size`` or, of a state, ``out_size``.

    .. seealso:: :func:`chainer.functions.lstm`

    .. admonition:: Example

        >>> lstm = L.StatelessLSTM(3, 5)
        >>> c = h = None
        >>> for x in np.ones((4, 2, 3), np.float32):  # four steps of a batch of two
        ...     c, h = lstm(c, h, x)
        >>> c.shape, h.shape
        ((2, 5), (2, 5))

    """

    def forward(
        self, c: VariableLike | None, h: VariableLike | None, x: VariableLike
    ) -> tuple[Variable, ...]:
        """Computes one step.

        Args:
            c (~chainer.Variable or None): Previous cells of the shape
                ``(batch size, out_size)``; ``None`` means zeros.
            h (~chainer.Variable or None): Previous outputs, likewise.
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.

        Returns:
            tuple of ~chainer.Variable: New cells and outputs.

        """
        self._initialize_for(x)
        lstm_in = self.upward(x)
        if h is not None:
            lstm_in += self.lateral(h)
        if c is None:
            c = _stateful.zero_state(self, x, self.state_size)
        return functions.lstm(c, lstm_in)


@hints.explain_arguments
class LSTM(LSTMBase, _stateful.StatefulChain):
    """LSTM layer that keeps its states.

    Batches may shrink from step to step: finished sequences, at the end of the
    batch, keep their states. Sort sequences by descending length.

    Args:
        in_size (int or None): Size of an input vector. If ``None`` or omitted,
            as in ``LSTM(out_size)``, it is inferred from the first input.
        out_size (int): Size of an output vector.
        lateral_init (initializer): Initializer of the weights of the previous
            output, applied to each gate. The default is
            :class:`~chainer.initializers.LeCunNormal`.
        upward_init (initializer): Initializer of the weights of the input,
            likewise.
        bias_init (initializer): Initializer of all biases except
            the forget gate's. The default is zero.
        forget_bias_init (initializer): Initializer of the forget gate's biases.
            The default is one.

    Raises:
        ~chainer.utils.type_check.InvalidType: An input of a call is not floating point, or its size
            is not ``in_size``.

    Attributes:
        upward (~chainer.links.Linear): Layer from inputs.
        lateral (~chainer.links.Linear): Layer from previous outputs.
        c (~chainer.Variable): Cells, or ``None`` before the first step.
        h (~chainer.Variable): Outputs, likewise.

    .. seealso:: :func:`chainer.functions.lstm`

    .. admonition:: Example

        >>> lstm = L.LSTM(3, 5)
        >>> for size in 4, 4, 2:  # two of four sequences end after two steps
        ...     y = lstm(np.zeros((size, 3), np.float32))
        >>> y.shape, lstm.h.shape
        ((2, 5), (4, 5))
        >>> lstm.reset_state()
        >>> lstm.h is None
        True

    """

    _state_names = 'c', 'h'

    c: Variable | None

    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        lateral_init: InitializerSpec | None = None,
        upward_init: InitializerSpec | None = None,
        bias_init: InitializerSpec | None = None,
        forget_bias_init: InitializerSpec | None = None,
    ) -> None:
        super().__init__(in_size, out_size, lateral_init, upward_init, bias_init, forget_bias_init)
        self.reset_state()

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
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors, not
                larger than the batch of the states.

        Returns:
            ~chainer.Variable: Outputs of the shape ``(batch size, out_size)``.

        Raises:
            TypeError: The batch is larger than that of the states.

        """
        self._initialize_for(x)
        batch = x.shape[0]
        lstm_in = self.upward(x)
        h = self.h
        ended = None
        if h is not None:
            if h.shape[0] < batch:
                raise TypeError(
                    'The batch size of x must be equal to or less than the size of the previous '
                    f'state h, but {batch} > {h.shape[0]}'
                )
            if h.shape[0] > batch:
                h, ended = functions.split_axis(h, [batch], axis=0)
            lstm_in += self.lateral(h)
        if self.c is None:
            self.c = _stateful.zero_state(self, x, self.state_size)
        self.c, y = functions.lstm(self.c, lstm_in)
        self.h: Variable | None = y if ended is None else functions.concat([y, ended], axis=0)
        return y
