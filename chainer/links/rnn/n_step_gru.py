from __future__ import annotations

from typing import Any

from chainer import functions
from chainer._core.names import hints
from chainer.links.rnn import n_step_rnn


class NStepGRUBase(n_step_rnn.NStepRNNBase):
    """Base of the links of stacked GRU layers.

    A layer has weights for the reset gate, the update gate and the candidate,
    from inputs (``w0`` to ``w2``) and from outputs (``w3`` to
    ``w5``). See :class:`NStepRNNBase
    <chainer.links.rnn.n_step_rnn.NStepRNNBase>` for the arguments.

    .. admonition:: Example

        >>> from chainer.links.rnn.n_step_gru import NStepGRUBase
        >>> issubclass(L.NStepBiGRU, NStepGRUBase), NStepGRUBase.n_weights
        (True, 6)

    """

    n_weights = 6

    @property
    def n_cells(self) -> int:
        return 1


@hints.explain_arguments
class NStepGRU(NStepGRUBase):
    """Stacked GRU layers over whole sequences.

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

    .. seealso:: :func:`chainer.functions.n_step_gru`

    .. admonition:: Example

        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 4)]
        >>> hy, ys = L.NStepGRU(n_layers=2, in_size=3, out_size=5, dropout=0.1)(None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((2, 2, 5), [(2, 5), (4, 5)])

    """

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        return functions.n_step_gru(*args)


@hints.explain_arguments
class NStepBiGRU(NStepGRUBase):
    """Stacked GRU layers over whole sequences, in both directions.

    See :class:`~chainer.links.NStepGRU` for the arguments. Outputs have the
    size ``2 * out_size``.

    Raises:
        AssertionError: ``xs`` of a call is no list or tuple.
        IndexError: ``xs`` has no sequence.
        ~chainer.utils.type_check.InvalidType: A sequence is not floating point, its vectors are not
            of ``in_size``, or a state does not fit.

    .. seealso:: :func:`chainer.functions.n_step_bigru`

    .. admonition:: Example

        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 4)]
        >>> hy, ys = L.NStepBiGRU(n_layers=2, in_size=3, out_size=5, dropout=0.1)(None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((4, 2, 5), [(2, 10), (4, 10)])

    """

    use_bi_direction = True

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        return functions.n_step_bigru(*args)
