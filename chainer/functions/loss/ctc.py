"""Connectionist temporal classification."""

from __future__ import annotations

import numpy

import chainer
from chainer import backend
from chainer.functions._base import CallableFunction, check_reduce
from chainer.functions._fused import FusedFunction
from chainer.utils import type_check

# Log of a probability treated as zero; finite, so that differences are never NaN.
_NEVER = -1e10


def _wide(dtype):
    """Dtype to compute in: float16 cannot represent ``_NEVER``."""
    return numpy.result_type(dtype, numpy.float32)


def _log_softmax(xp, x):
    y = x - x.max(axis=-1, keepdims=True)
    return y - xp.log(xp.exp(y).sum(axis=-1, keepdims=True))


class _Paths:
    """Label sequences with blanks between the labels, and the allowed steps along them."""

    def __init__(self, xp, t, blank, label_length):
        n_batch, n_labels = t.shape
        self.labels = xp.full((n_batch, 2 * n_labels + 1), blank, 'i')
        self.labels[:, 1::2] = t
        position = xp.arange(2 * n_labels + 1)[None]
        self.last = 2 * label_length[:, None]
        inside = position <= self.last
        # Elements after the end of a sequence may contain any label.
        self.labels = xp.where(inside, self.labels, blank)
        self.unused = xp.where(inside, 0.0, _NEVER)
        skip = xp.zeros(self.labels.shape, bool)
        skip[:, 2:] = (self.labels[:, 2:] != blank) & (self.labels[:, 2:] != self.labels[:, :-2])
        self.no_skip = xp.where(skip, 0.0, _NEVER)
        self.start = xp.where(position <= 1, 0.0, _NEVER) + self.unused
        self.end = xp.where((position == self.last) | (position == self.last - 1), 0.0, _NEVER)


def _delayed(xp, a, n):
    """Moves elements ``n`` positions along the path, forwards or (negative) backwards."""
    out = xp.full(a.shape, _NEVER, a.dtype)
    if n > 0:
        out[:, n:] = a[:, :-n]
    else:
        out[:, :n] = a[:, -n:]
    return out


def _alphas(xp, log_prob, paths, input_length):
    """Log-probability of every path prefix, of shape (time, batch, position)."""
    alphas = [paths.start + log_prob[0]]
    for t in range(1, len(log_prob)):
        a = alphas[-1]
        new = xp.logaddexp(a, _delayed(xp, a, 1))
        new = xp.logaddexp(new, _delayed(xp, a, 2) + paths.no_skip)
        new = xp.maximum(new + log_prob[t] + paths.unused, _NEVER)
        alphas.append(xp.where((t < input_length)[:, None], new, a))
    return alphas


def _betas(xp, log_prob, paths, input_length):
    """Log-probability of every path suffix, without the current element."""
    n_time = len(log_prob)
    betas = [None] * n_time
    b = xp.full(paths.end.shape, _NEVER)
    for t in range(n_time - 1, -1, -1):
        if t + 1 < n_time:
            following = b + log_prob[t + 1]
            new = xp.logaddexp(following, _delayed(xp, following, -1))
            new = xp.logaddexp(new, _delayed(xp, following + paths.no_skip, -2))
            b = xp.maximum(new, _NEVER)
        b = xp.where((t == input_length - 1)[:, None], paths.end, b)
        betas[t] = b
    return betas


class ConnectionistTemporalClassification(CallableFunction, FusedFunction):
    """Inputs: lengths of the inputs, lengths of the labels, labels, one array per time step."""

    def __init__(self, blank_symbol, reduce='mean'):
        check_reduce(reduce)
        self.blank_symbol = blank_symbol
        self.reduce = reduce

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() > 3)
        input_length, label_length, t_type = in_types[:3]
        x_types = in_types[3:]
        type_check._argname(
            (input_length, label_length, t_type), ('input_length', 'label_length', 't')
        )
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
            type_check.expect(
                x_type.dtype.kind == 'f',
                x_type.ndim == 2,
                x_type.dtype == x0.dtype,
                x_type.shape == x0.shape,
            )

    def _prepare(self, xp, inputs):
        input_length, label_length, t, *xs = inputs
        x = xp.stack(xs).astype(_wide(xs[0].dtype), copy=False)
        log_y = _log_softmax(xp, x)
        paths = _Paths(xp, t, self.blank_symbol, label_length)
        batch = xp.arange(x.shape[1])[:, None]
        log_prob = log_y[:, batch, paths.labels]
        return log_y, log_prob, paths, input_length

    def forward(self, inputs):
        self.retain_inputs(range(len(inputs)))
        xp = backend.get_array_module(*inputs)
        _, log_prob, paths, input_length = self._prepare(xp, inputs)
        alpha = _alphas(xp, log_prob, paths, input_length)[-1] + paths.end
        largest = alpha.max(axis=1, keepdims=True)
        loss = -(xp.log(xp.exp(alpha - largest).sum(axis=1)) + largest[:, 0])
        if self.reduce == 'mean':
            loss = loss.mean()
        return (chainer.utils.force_array(loss, inputs[3].dtype),)

    def gradients(self, targets, xs, ys, gys):
        xp = backend.get_array_module(*xs)
        log_y, log_prob, paths, input_length = self._prepare(xp, xs)
        alphas = xp.stack(_alphas(xp, log_prob, paths, input_length))
        posterior = alphas + xp.stack(_betas(xp, log_prob, paths, input_length))
        largest = posterior.max(axis=2, keepdims=True)
        posterior = xp.exp(posterior - largest)
        posterior /= posterior.sum(axis=2, keepdims=True)
        gx = xp.exp(log_y)
        n_time, n_batch = gx.shape[:2]
        xp.add.at(
            gx,
            (
                xp.arange(n_time)[:, None, None],
                xp.arange(n_batch)[None, :, None],
                paths.labels[None],
            ),
            -posterior,
        )
        (gy,) = gys
        if self.reduce == 'mean':
            gx *= gy / n_batch
        else:
            gx *= gy[None, :, None]
        gx[xp.arange(n_time)[:, None] >= input_length[None]] = 0
        gx = gx.astype(xs[3].dtype, copy=False)
        return [None if i < 3 else gx[i - 3] for i in targets]

    def compose(self, *inputs):
        F = chainer.functions
        input_length, label_length, t = [v.array for v in inputs[:3]]
        out_dtype = inputs[3].dtype
        dtype = _wide(out_dtype)
        xs = [F.cast(x, dtype) for x in inputs[3:]]
        xp = backend.get_array_module(t)
        paths = _Paths(xp, t, self.blank_symbol, label_length)
        batch = xp.arange(len(t))[:, None]
        never = {n: xp.full((len(t), n), _NEVER, dtype) for n in (1, 2)}

        def delayed(a, n):
            if a.shape[1] < n:
                return a + _NEVER
            return F.concat([never[n], a[:, : a.shape[1] - n]], axis=1)

        no_skip, unused = paths.no_skip.astype(dtype), paths.unused.astype(dtype)
        alpha = None
        for step, x in enumerate(xs):
            log_prob = F.get_item(F.log_softmax(x, axis=1), (batch, paths.labels))
            if alpha is None:
                alpha = log_prob + paths.start.astype(dtype)
                continue
            total = F.logsumexp(
                F.stack([alpha, delayed(alpha, 1), delayed(alpha, 2) + no_skip]), axis=0
            )
            running = xp.broadcast_to((step < input_length)[:, None], total.shape)
            alpha = F.where(running, total + log_prob + unused, alpha)
        loss = -F.logsumexp(alpha + paths.end.astype(dtype), axis=1)
        return (F.cast(F.mean(loss) if self.reduce == 'mean' else loss, out_dtype),)


def connectionist_temporal_classification(
    x, t, blank_symbol, input_length=None, label_length=None, reduce='mean'
):
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
        ValueError: If ``blank_symbol`` is out of range or ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Graves et al., Connectionist temporal classification: labelling unsegmented sequence
    data with recurrent neural networks, ICML 2006.

    .. admonition:: Example

        >>> x = [np.zeros((1, 2), np.float32) for _ in range(2)]
        >>> loss = F.connectionist_temporal_classification(x, np.array([[1]]), blank_symbol=0)
        >>> print(loss.array.round(3))  # three of four paths: -log(3 / 4)
        0.288

    """
    if not isinstance(x, (list, tuple)):
        raise TypeError('x must be a list of Variables')
    if not isinstance(blank_symbol, (int, numpy.integer)):
        raise TypeError('blank_symbol must be non-negative integer.')
    if not 0 <= blank_symbol < x[0].shape[1]:
        raise ValueError(f'blank_symbol must be in [0, {x[0].shape[1]}), got {blank_symbol}')
    device = backend.get_device_from_array(chainer.as_array(x[0]))
    n_batch = len(x[0])
    if input_length is None:
        input_length = device.send(numpy.full(n_batch, len(x), 'i'))
    if label_length is None:
        label_length = device.send(numpy.full(n_batch, t.shape[1], 'i'))
    func = ConnectionistTemporalClassification(blank_symbol, reduce)
    return func.apply((input_length, label_length, t, *x))[0]
