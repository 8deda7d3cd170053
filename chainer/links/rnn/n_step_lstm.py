from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions
from chainer._core.names import hints
from chainer.links.rnn import n_step_rnn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class NStepLSTMBase(n_step_rnn.NStepRNNBase):
    """Base of the links of stacked LSTM layers.

    A layer has weights for the input, forget, cell and output gates, from
    inputs (``w0`` to ``w3``) and from outputs (``w4`` to ``w7``).
    See :class:`NStepRNNBase <chainer.links.rnn.n_step_rnn.NStepRNNBase>` for
    the arguments.

    .. admonition:: Example

        >>> from chainer.links.rnn.n_step_lstm import NStepLSTMBase
        >>> issubclass(L.NStepBiLSTM, NStepLSTMBase), NStepLSTMBase.n_weights
        (True, 8)

    """

    n_weights = 8

    @property
    def n_cells(self) -> int:
        return 2

    def forward(  # type: ignore[override]  # there are two kinds of states
        self,
        hx: VariableLike | None,
        cx: VariableLike | None,
        xs: Sequence[VariableLike],
        **kwargs: Any,
    ) -> tuple[Variable, Variable, list[Variable]]:
        """Runs all layers over all sequences.

        Args:
            hx (~chainer.Variable or None): Initial outputs of the shape
                ``(n_layers * directions, number of sequences, out_size)``;
                ``None`` means zeros.
            cx (~chainer.Variable or None): Initial cells, likewise.
            xs (list of ~chainer.Variable): Input sequences, each of the shape
                ``(length, in_size)``. Lengths may differ.

        Returns:
            tuple: Final outputs, final cells, and a list of output sequences,
            each of the shape ``(length, out_size * directions)``.

        """
        return self._forward((hx, cx), xs, kwargs)


@hints.explain_arguments
class NStepLSTM(NStepLSTMBase):
    """Stacked LSTM layers over whole sequences.

    Args:
        n_layers (int): Number of layers.
        in_size (int): Size of an input vector.
        out_size (int): Size of states and outputs.
        dropout (float): Ratio of dropout between the layers.
        initialW (initializer): Initializer of every weight. The default is
            :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer): Initializer of every bias. The default is
            zero.

    Raises:
        AssertionError: ``xs`` of a call is no list or tuple.
        IndexError: ``xs`` has no sequence.
        ~chainer.utils.type_check.InvalidType: A sequence is not floating point, its vectors are not
            of ``in_size``, or a state does not fit.

    .. seealso:: :func:`chainer.functions.n_step_lstm`

    .. admonition:: Example

        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 4)]
        >>> hy, cy, ys = L.NStepLSTM(n_layers=2, in_size=3, out_size=5, dropout=0.1)(None, None, xs)
        >>> hy.shape, cy.shape, [y.shape for y in ys]
        ((2, 2, 5), (2, 2, 5), [(2, 5), (4, 5)])

    """

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        return functions.n_step_lstm(*args)


@hints.explain_arguments
class NStepBiLSTM(NStepLSTMBase):
    """Stacked LSTM layers over whole sequences, in both directions.

    See :class:`~chainer.links.NStepLSTM` for the arguments. Outputs have the
    size ``2 * out_size``.

    Raises:
        AssertionError: ``xs`` of a call is no list or tuple.
        IndexError: ``xs`` has no sequence.
        ~chainer.utils.type_check.InvalidType: A sequence is not floating point, its vectors are not
            of ``in_size``, or a state does not fit.

    .. seealso:: :func:`chainer.functions.n_step_bilstm`

    .. admonition:: Example

        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 4)]
        >>> lstm = L.NStepBiLSTM(n_layers=2, in_size=3, out_size=5, dropout=0.1)
        >>> hy, cy, ys = lstm(None, None, xs)
        >>> hy.shape, cy.shape, [y.shape for y in ys]
        ((4, 2, 5), (4, 2, 5), [(2, 10), (4, 10)])

    """

    use_bi_direction = True

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        return functions.n_step_bilstm(*args)
