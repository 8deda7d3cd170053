"""Connectionist temporal classification."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import backend
from chainer._core.autograd.array_namespace import arrays_like
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.names.namespace import F
from chainer.functions._arguments import check_reduce
from chainer.functions._base import CallableFunction
from chainer.functions.array.get_item import GetItemGrad
from chainer.utils import type_check
from chainer.variable import as_array, as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import DTypeSpec, NdArray, VariableLike, Xp
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable

# Logarithm of a probability that counts as zero; finite, so that no difference is NaN.
_NEVER = -1e10


class _Paths:
    """Label sequences with blanks between the labels, and which steps along them are allowed.

    Attributes:
        labels: Labels along each path, of shape (batch, position).
        start, end, unused: Log-weights of the positions: zero, or ``_NEVER``.
        before, after: Positions from which a step leads to each position, and to which one leads
            from it, of shape (3, position).
        before_weight, after_weight: Log-weights of these steps, of shape (batch, 3, position).

    """

    def __init__(
        self, xp: Xp, t: VariableLike, blank: int, label_length: NdArray, dtype: DTypeSpec
    ) -> None:
        n_batch, n_labels = t.shape
        n = 2 * n_labels + 1
        labels = xp.full((n_batch, n), blank, 'i')
        labels[:, 1::2] = t
        position = xp.arange(n)[None]
        last = 2 * label_length[:, None]
        inside = position <= last
        # Elements beyond the end of a sequence may hold any label.
        self.labels = labels = xp.where(inside, labels, blank)

        def weight(allowed):
            return xp.where(allowed, 0.0, _NEVER).astype(dtype)

        self.unused = weight(inside)
        self.start = weight(inside & (position <= 1))
        self.end = weight((position == last) | (position == last - 1))
        # A blank between different labels may be skipped.
        skip = xp.zeros((n_batch, n + 2), bool)
        skip[:, 2:n] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
        always = xp.ones((n_batch, n), bool)
        steps = xp.arange(3)[:, None]
        self.before = xp.maximum(position - steps, 0)
        self.before_weight = weight(xp.stack([always, always & (position >= 1), skip[:, :n]], 1))
        self.after = xp.minimum(position + steps, n - 1)
        self.after_weight = weight(xp.stack([always, always & (position < n - 1), skip[:, 2:]], 1))


def _step(m, log_weights, positions, step_weights):
    """Log-weight of each position after a step from, or to, the given positions."""
    return m.logsumexp(log_weights[:, positions] + step_weights, axis=1)


def _alphas(m, log_prob, paths, running):
    """Log-probability of every path prefix at each time, of shape (batch, position)."""
    alphas = [log_prob[0] + paths.start]
    for t in range(1, len(log_prob)):
        new = _step(m, alphas[-1], paths.before, paths.before_weight) + log_prob[t] + paths.unused
        alphas.append(m.where(running[t], new, alphas[-1]))
    return alphas


def _betas(m, log_prob, paths, running):
    """Log-probability of every path suffix, without the current element."""
    beta = paths.end
    betas = [beta]
    for t in range(len(log_prob) - 1, 0, -1):
        new = _step(m, beta + log_prob[t], paths.after, paths.after_weight)
        beta = m.where(running[t], new, paths.end)
        betas.append(beta)
    return betas[::-1]


class ConnectionistTemporalClassification(CallableFunction):
    """Inputs: lengths of the inputs, lengths of the labels, labels, one array per time step."""

    # What runs on ChainerX is made of many small steps, which ChainerX would differentiate.
    _kernels = NO_KERNELS

    def __init__(self, blank_symbol: int, reduce: str = 'mean') -> None:
        check_reduce(reduce)
        self.blank_symbol = blank_symbol
        self.reduce = reduce

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 3)
        input_length, label_length, t_type = in_types[:3]
        x_types = in_types[3:]
        type_check.expect_arguments(in_types[:3], ('input_length', 'label_length', 't'))
        x0 = x_types[0]
        type_check.expect(
            input_length.dtype.kind == 'i',
            input_length.ndim == 1,
            label_length.dtype.kind == 'i',
            label_length.ndim == 1,
            t_type.ndim == 2,
            t_type.dtype.kind == 'i',
            t_type.shape[0] == x0.shape[0],
            input_length.shape[0] == x0.shape[0],
            label_length.shape[0] == x0.shape[0],
        )
        for x_type in x_types:
            _expect_input(x_type, x0)

    def _prepare(self, m, inputs):
        """Scores, the paths, the index of their labels, and which sequences run at each time."""
        input_length, label_length, t = [as_array(x) for x in inputs[:3]]
        xp = backend.get_array_module(t)
        # float16 has no room for `_NEVER`.
        dtype = numpy.result_type(inputs[3].dtype, numpy.float32)
        x = m.cast(m.stack(inputs[3:]), dtype)
        paths = _Paths(xp, t, self.blank_symbol, label_length, dtype)
        index = slice(None), xp.arange(len(t))[:, None], paths.labels
        running = xp.arange(len(x))[:, None, None] < input_length[:, None]
        running = xp.broadcast_to(running, (*running.shape[:2], paths.labels.shape[1]))
        return x, paths, index, running

    def _loss(self, m, inputs):
        x, paths, index, running = self._prepare(m, inputs)
        log_prob = m.log_softmax(x, axis=2)[index]
        loss = -m.logsumexp(_alphas(m, log_prob, paths, running)[-1] + paths.end, axis=1)
        return m.cast(m.mean(loss) if self.reduce == 'mean' else loss, inputs[3].dtype)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs(range(len(inputs)))
        return (self._loss(arrays_like(inputs[3]), inputs),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        # Constants that it makes have to be where the inputs are.
        with backend.using_device(backend.ChainerxDevice(inputs[0].device)):
            return (self._loss(F, [as_variable(x) for x in inputs]).raw_array,)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, paths, index, running = self._prepare(m, xs)
        log_prob = m.log_softmax(x, axis=2)[index]
        alphas = m.stack(_alphas(m, log_prob, paths, running))
        betas = m.stack(_betas(m, log_prob, paths, running))
        posterior = m.softmax(alphas + betas, axis=2)
        (expected,) = m.apply(GetItemGrad(index, x.shape), (posterior,))
        (gy,) = gys
        gy = gy * (1.0 / x.shape[1]) if self.reduce == 'mean' else m.reshape(gy, (-1, 1))
        gx = (m.softmax(x, axis=2) - expected) * gy * running[:, :, :1].astype(x.dtype)
        gx = m.cast(gx, xs[3].dtype)
        return [None if i < 3 else gx[i - 3] for i in targets]


def connectionist_temporal_classification(
    x: Sequence[VariableLike],
    t: VariableLike,
    blank_symbol: int,
    input_length: NdArray | None = None,
    label_length: NdArray | None = None,
    reduce: str = 'mean',
) -> Variable:
    """Connectionist temporal classification loss, for labels without an alignment.

    The loss of a sequence is the negative logarithm of the total probability of all paths that
    become its labels after merging repetitions and dropping blanks. The forward-backward
    algorithm computes it in log space.

    Args:
        x (list or tuple of :class:`~chainer.Variable` or array): Scores of the labels (not
            normalized) at each time step, floating point of shape :math:`(B, V)`.
        t (:class:`~chainer.Variable` or array): Labels, integers of shape :math:`(B, M)`.
        blank_symbol (int): Index of the blank label.
        input_length (array): Numbers of time steps, integers of shape :math:`(B,)` (default: all).
        label_length (array): Numbers of labels, integers of shape :math:`(B,)` (default: all).
        reduce (str): ``'mean'``, or ``'no'`` for the loss of each sequence.

    Returns:
        ~chainer.Variable: Scalar, or losses of shape :math:`(B,)`, of the dtype of ``x``.

    Raises:
        TypeError: If ``x`` is not a sequence or ``blank_symbol`` not an int.
        AssertionError: If ``blank_symbol`` is out of range.
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Graves et al., Connectionist temporal classification: labelling unsegmented sequence
    data with recurrent neural networks, ICML 2006.

    .. admonition:: Example

        >>> x = [np.zeros((1, 2), np.float32) for _ in range(2)]
        >>> loss = F.connectionist_temporal_classification(x, np.array([[1]]), blank_symbol=0)
        >>> print(loss.array.round(3))  # three of four paths: -log(3 / 4)
        0.288

    """
    _check_arguments(x, blank_symbol)
    device = backend.get_device_from_array(as_array(x[0]))
    n_batch = len(x[0])
    if input_length is None:
        input_length = device.send(numpy.full(n_batch, len(x), 'i'))
    if label_length is None:
        label_length = device.send(numpy.full(n_batch, t.shape[1], 'i'))
    func = ConnectionistTemporalClassification(blank_symbol, reduce)
    return func.apply((input_length, label_length, t, *x))[0]


def _check_arguments(x, blank_symbol):
    if not isinstance(x, (list, tuple)):
        raise TypeError('x must be a list of Variables')
    if not isinstance(blank_symbol, (int, numpy.integer)):
        raise TypeError('blank_symbol must be non-negative integer.')
    assert 0 <= blank_symbol < x[0].shape[1], (
        f'blank_symbol must be in [0, {x[0].shape[1]}), got {blank_symbol}'
    )


def _expect_input(x_type, first):
    type_check.expect(
        x_type.dtype.kind == 'f',
        x_type.ndim == 2,
        x_type.dtype == first.dtype,
        x_type.shape == first.shape,
    )
