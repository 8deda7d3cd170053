from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions, initializers, link, variable
from chainer.links.rnn import n_step_rnn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import InitializerSpec, NdArray, VariableLike
    from chainer.variable import Parameter, Variable


class CRF1d(link.Link):
    """Linear-chain conditional random field loss layer.

    See J. Lafferty et al., Conditional Random Fields: Probabilistic Models for
    Segmenting and Labeling Sequence Data, ICML 2001.

    Args:
        n_label (int): Number of labels.
        initial_cost (initializer): Initializer of the transition costs. The
            default is zero.

    Raises:
        AssertionError: The scores of a call are not for ``n_label`` labels.
        ~chainer.utils.type_check.InvalidType: The scores are not floating point, or the labels are
            not integers.

    Attributes:
        cost (~chainer.Parameter): Transition costs of the shape
            ``(n_label, n_label)``.

    .. seealso:: :func:`chainer.functions.crf1d`

    .. admonition:: Example

        >>> crf = L.CRF1d(2)
        >>> xs = [np.array([[9, 0], [0, 9]], np.float32), np.array([[0, 9]], np.float32)]
        >>> ys = [np.array([0, 1], np.int32), np.array([1], np.int32)]
        >>> loss = crf(xs, ys, transpose=True)
        >>> loss.shape, bool(loss.array < 0.01)
        ((), True)
        >>> score, path = crf.argmax(xs, transpose=True)
        >>> path
        [array([0, 1], dtype=int32), array([1], dtype=int32)]

    """

    def __init__(self, n_label: int, initial_cost: InitializerSpec | None = None) -> None:
        super().__init__()
        with self.init_scope():
            self.cost: Parameter = variable.Parameter(
                initializers.get_initializer(0 if initial_cost is None else initial_cost),
                (n_label, n_label),
            )

    def forward(
        self,
        xs: Sequence[VariableLike],
        ys: Sequence[VariableLike],
        reduce: str = 'mean',
        transpose: bool = False,
    ) -> Variable:
        """Computes the negative log-likelihood.

        Args:
            xs (list of ~chainer.Variable): Scores of the labels at every time
                step, each of the shape ``(batch size, n_label)``. Batch sizes
                must not increase. With ``transpose``, a list of sequences
                instead, each of the shape ``(length, n_label)``.
            ys (list of ~chainer.Variable): Labels in the same layout.
            reduce (str): ``'mean'``, or ``'no'`` for the loss of every
                sequence.
            transpose (bool): Whether ``xs`` and ``ys`` are lists of sequences,
                in any order.

        Returns:
            ~chainer.Variable: Loss.

        """
        if not transpose:
            return functions.crf1d(self.cost, xs, ys, reduce)
        indices = n_step_rnn.argsort_list_descent(xs)
        loss = functions.crf1d(
            self.cost, _to_time_steps(xs, indices), _to_time_steps(ys, indices), reduce
        )
        return functions.permutate(loss, indices, inv=True) if reduce == 'no' else loss

    def argmax(
        self, xs: Sequence[VariableLike], transpose: bool = False
    ) -> tuple[Variable, list[NdArray]]:
        """Computes the most likely labels.

        Args:
            xs (list of ~chainer.Variable): Scores of the labels; see
                :meth:`forward`.
            transpose (bool): Whether ``xs`` is a list of sequences.

        Returns:
            tuple: Scores of the labels, a variable of the shape
            ``(number of sequences,)``, and a list of arrays of labels in the
            layout of ``xs``.

        """
        if not transpose:
            return functions.argmax_crf1d(self.cost, xs)
        indices = n_step_rnn.argsort_list_descent(xs)
        score, path = functions.argmax_crf1d(self.cost, _to_time_steps(xs, indices))
        path = [p.array for p in functions.transpose_sequence(path)]
        return (
            functions.permutate(score, indices, inv=True),
            n_step_rnn.permutate_list(path, indices, inv=True),
        )


def _to_time_steps(sequences, indices):
    return functions.transpose_sequence(n_step_rnn.permutate_list(sequences, indices, inv=False))
