from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions, initializers, link, variable
from chainer.backend import using_device
from chainer.links.rnn._sequence_order import (
    argsort_list_descent as argsort_list_descent,
    permutate_list as permutate_list,
)
from chainer.utils import _old_arguments, argument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Parameter, Variable


class NStepRNNBase(link.ChainList):
    """Base of the links of stacked recurrent layers over whole sequences.

    A child link holds the parameters of one layer in one direction: weights
    ``w0``, ``w1``, ... (first for inputs, then for outputs) and biases ``b0``,
    ``b1``, ....

    Args:
        n_layers (int): Number of layers.
        in_size (int): Size of an input vector.
        out_size (int): Size of the states and, in each direction, of outputs.
        dropout (float): Ratio of dropout between the layers.
        initialW (initializer): Initializer of every weight. The default is
            :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer): Initializer of every bias. The default is
            zero.

    Raises:
        ValueError: ``n_layers`` is not positive.

    Attributes:
        ws (list of lists of ~chainer.Parameter): Weights of every layer and direction.
        bs (list of lists of ~chainer.Parameter): Biases, likewise.

    .. admonition:: Example

        >>> rnn = L.NStepRNNTanh(2, 3, 5, 0)  # a subclass
        >>> [[w.shape for w in ws] for ws in rnn.ws]
        [[(5, 3), (5, 5)], [(5, 5), (5, 5)]]
        >>> len(rnn), rnn.n_cells
        (2, 1)

    """

    n_weights: int
    use_bi_direction = False

    def __init__(
        self,
        n_layers: int,
        in_size: int,
        out_size: int,
        dropout: float,
        *,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        **kwargs: Any,
    ) -> None:
        argument.parse_kwargs(
            kwargs,
            use_cudnn=_old_arguments.USE_CUDNN,
            use_bi_direction='use_bi_direction is not supported anymore',
            activation='activation is not supported anymore',
        )
        if n_layers < 1:
            raise ValueError(f'n_layers must be positive, but is {n_layers}')
        direction = 2 if self.use_bi_direction else 1
        initial_bias = 0 if initial_bias is None else initial_bias
        sizes = [in_size] * direction + [out_size * direction] * direction * (n_layers - 1)
        super().__init__(*[self._make_layer(n, out_size, initialW, initial_bias) for n in sizes])
        self.n_layers = n_layers
        self.dropout = dropout
        self.out_size = out_size
        self.direction = direction
        self._list_params()

    def _make_layer(self, in_size, out_size, initialW, initial_bias):
        W_initializer = initializers.get_initializer(initialW)
        bias_initializer = initializers.get_initializer(initial_bias)
        layer = link.Link()
        with layer.init_scope():
            for j in range(self.n_weights):
                n_in = in_size if j < self.n_weights // 2 else out_size
                setattr(layer, f'w{j}', variable.Parameter(W_initializer, (out_size, n_in)))
                setattr(layer, f'b{j}', variable.Parameter(bias_initializer, (out_size,)))
        return layer

    def _list_params(self):
        self.ws: list[list[Parameter]] = self._params_of_layers('w')
        self.bs: list[list[Parameter]] = self._params_of_layers('b')

    def _params_of_layers(self, prefix):
        return [[getattr(layer, f'{prefix}{j}') for j in range(self.n_weights)] for layer in self]

    def copy(self, mode: str = 'share') -> Self:
        ret = super().copy(mode)
        ret._list_params()
        return ret

    def init_hx(self, xs: Sequence[VariableLike]) -> Variable:
        """Returns initial states of zeros.

        Args:
            xs (list of ~chainer.Variable): Input sequences.

        Returns:
            ~chainer.Variable: Array of the shape
            ``(n_layers * directions, number of sequences, out_size)``.

        """
        shape = (self.n_layers * self.direction, len(xs), self.out_size)
        with using_device(self.device):
            return variable.Variable(self.xp.zeros(shape, dtype=xs[0].dtype))

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        """Calls the function of this link."""
        raise NotImplementedError

    @property
    def n_cells(self) -> int:
        """Number of kinds of states."""
        raise NotImplementedError

    def forward(
        self, hx: VariableLike | None, xs: Sequence[VariableLike], **kwargs: Any
    ) -> tuple[Variable, list[Variable]]:
        """Runs all layers over all sequences.

        Args:
            hx (~chainer.Variable or None): Initial states of the shape
                ``(n_layers * directions, number of sequences, out_size)``;
                ``None`` means zeros.
            xs (list of ~chainer.Variable): Input sequences, each of the shape
                ``(length, in_size)``. Lengths may differ.

        Returns:
            tuple: Final states, of the shape of ``hx``, and a list of output
            sequences, each of the shape ``(length, out_size * directions)``.

        """
        return self._forward((hx,), xs, kwargs)

    def _forward(self, states, xs, kwargs):
        argument.parse_kwargs(kwargs, train=_old_arguments.TRAIN)
        assert isinstance(xs, (list, tuple)), (
            f'xs must be a list or tuple of sequences, but is {type(xs)}'
        )
        if not xs:
            raise IndexError('xs must have one sequence at least')

        # The functions want time steps, of the longest sequences first.
        lengths = [len(x) for x in xs]
        if not any(m < n for m, n in zip(lengths, lengths[1:])):
            return self._apply(states, xs)
        indices = argsort_list_descent(xs)
        states = [s if s is None else functions.permutate(s, indices, axis=1) for s in states]
        *states, ys = self._apply(states, permutate_list(xs, indices, inv=False))
        states = [functions.permutate(s, indices, axis=1, inv=True) for s in states]
        return (*states, permutate_list(ys, indices, inv=True))

    def _apply(self, states, xs):
        """Applies the network to sequences of descending length."""
        states = [self.init_hx(xs) if state is None else state for state in states]
        steps = functions.transpose_sequence(xs)
        *states, steps = self.rnn(self.n_layers, self.dropout, *states, self.ws, self.bs, steps)
        ys = list(functions.transpose_sequence(steps))
        # Empty sequences take part in no step.
        ys += [ys[0][:0]] * (len(xs) - len(ys))
        return (*states, ys)


class _OneStateRNN(NStepRNNBase):
    n_weights = 2

    @property
    def n_cells(self) -> int:
        return 1


class NStepRNNTanh(_OneStateRNN):
    """Stacked recurrent layers with tanh over whole sequences.

    See :class:`NStepRNNBase <chainer.links.rnn.n_step_rnn.NStepRNNBase>` for
    the arguments.

    Raises:
        AssertionError: ``xs`` of a call is no list or tuple.
        IndexError: ``xs`` has no sequence.
        ~chainer.utils.type_check.InvalidType: A sequence is not floating point, its vectors are not
            of ``in_size``, or a state does not fit.

    .. seealso:: :func:`chainer.functions.n_step_rnn`

    .. admonition:: Example

        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 4)]
        >>> hy, ys = L.NStepRNNTanh(n_layers=2, in_size=3, out_size=5, dropout=0.1)(None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((2, 2, 5), [(2, 5), (4, 5)])

    """

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        function: Callable[..., Any] = functions.n_step_rnn
        return function(*args, activation='tanh')


class NStepRNNReLU(_OneStateRNN):
    """Stacked recurrent layers with ReLU over whole sequences.

    See :class:`NStepRNNBase <chainer.links.rnn.n_step_rnn.NStepRNNBase>` for
    the arguments and shapes.

    Raises:
        AssertionError: ``xs`` of a call is no list or tuple.
        IndexError: ``xs`` has no sequence.
        ~chainer.utils.type_check.InvalidType: A sequence is not floating point, its vectors are not
            of ``in_size``, or a state does not fit.

    .. seealso:: :func:`chainer.functions.n_step_rnn`

    .. admonition:: Example

        >>> rnn = L.NStepRNNReLU(1, 2, 1, 0, initialW=1)
        >>> hy, ys = rnn(None, [np.array([[1, 2], [3, 4]], np.float32)])
        >>> ys[0]  # 1 + 2, and 3 + 4 with the output before
        variable([[ 3.],
                  [10.]])

    """

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        function: Callable[..., Any] = functions.n_step_rnn
        return function(*args, activation='relu')


class NStepBiRNNTanh(_OneStateRNN):
    """Stacked recurrent layers with tanh over whole sequences, in both directions.

    See :class:`NStepRNNBase <chainer.links.rnn.n_step_rnn.NStepRNNBase>` for
    the arguments.

    Raises:
        AssertionError: ``xs`` of a call is no list or tuple.
        IndexError: ``xs`` has no sequence.
        ~chainer.utils.type_check.InvalidType: A sequence is not floating point, its vectors are not
            of ``in_size``, or a state does not fit.

    .. seealso:: :func:`chainer.functions.n_step_birnn`

    .. admonition:: Example

        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 4)]
        >>> hy, ys = L.NStepBiRNNTanh(n_layers=2, in_size=3, out_size=5, dropout=0.1)(None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((4, 2, 5), [(2, 10), (4, 10)])

    """

    use_bi_direction = True

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        function: Callable[..., Any] = functions.n_step_birnn
        return function(*args, activation='tanh')


class NStepBiRNNReLU(_OneStateRNN):
    """Stacked recurrent layers with ReLU over whole sequences, in both directions.

    See :class:`NStepRNNBase <chainer.links.rnn.n_step_rnn.NStepRNNBase>` for
    the arguments and shapes.

    Raises:
        AssertionError: ``xs`` of a call is no list or tuple.
        IndexError: ``xs`` has no sequence.
        ~chainer.utils.type_check.InvalidType: A sequence is not floating point, its vectors are not
            of ``in_size``, or a state does not fit.

    .. seealso:: :func:`chainer.functions.n_step_birnn`

    .. admonition:: Example

        >>> rnn = L.NStepBiRNNReLU(1, 2, 1, 0, initialW=1)
        >>> hy, ys = rnn(None, [np.array([[1, 2], [3, 4]], np.float32)])
        >>> ys[0]  # forward and backward sums
        variable([[ 3., 10.],
                  [10.,  7.]])

    """

    use_bi_direction = True

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        function: Callable[..., Any] = functions.n_step_birnn
        return function(*args, activation='relu')
