"""Base of stacked recurrent networks over sequences of various lengths; simple networks."""

from __future__ import annotations

import itertools

import numpy

import chainer
import chainerx
from chainer import backend
from chainer._fallback import Fallback
from chainer.backends import cuda
from chainer.configuration import config
from chainer.functions._fused import FusedFunction
from chainer.utils import argument, type_check

_old_arguments = {
    'train': 'train argument is not supported anymore. Use chainer.using_config',
    'use_cudnn': 'use_cudnn argument is not supported anymore. Use chainer.using_config',
}


def _stack_weight(ws):
    """Interleaves the rows of weights, as :func:`~chainer.functions.lstm` expects."""
    w = chainer.functions.stack(ws, axis=1)
    return w.reshape(w.shape[0] * w.shape[1], *w.shape[2:])


class BaseNStepRNN(FusedFunction):
    """Base of stacked recurrent networks, run as one function.

    Inputs are the initial states, of shape (layers * directions, B, H) each, then the
    concatenated inputs of all time steps, of shape (total, I), then weights and biases of every
    layer and direction. Outputs are the final states and the outputs of all time steps.

    One matrix product computes the input part of a layer for all time steps, and another one
    the gradients of weights. Only the recurrent part runs step by step.

    Subclasses for a kind of cell define :attr:`n_states`, :attr:`n_weights` and the methods
    starting from :meth:`_cell`.

    Args:
        n_layers (int): Number of layers.
        states (float): Ratio of dropout between layers (zero: none).
        lengths (sequence of int): Batch size of every time step, not increasing.

    """

    n_states = 1
    n_weights = 2
    directions = 1
    chainerx_routine = None
    _checked_natively = True

    def __init__(self, n_layers, states, lengths, **kwargs):
        argument.assert_kwargs_empty(kwargs)
        self.n_layers = n_layers
        self.dropout_ratio = states or 0.0
        if not 0.0 <= self.dropout_ratio < 1.0:
            raise ValueError(f'dropout_ratio must be in the range [0, 1), got {states}')
        self.lengths = list(lengths)
        ends = list(itertools.accumulate(self.lengths))
        self._steps = [slice(end - n, end) for n, end in zip(self.lengths, ends)]
        self._masks = None

    @property
    def _n_cells(self):
        return self.n_layers * self.directions

    @property
    def _native_inputs(self):
        return range(self.n_states + 1 + 2 * self.n_weights * self._n_cells)

    def check_type_forward(self, in_types):
        n_in = self.n_states + 1 + 2 * self.n_weights * self._n_cells
        type_check.expect(in_types.size() == n_in)
        names = ('hx', 'cx')[: self.n_states] + ('x',)
        type_check._argname(in_types[: len(names)], names)
        h_type, x_type = in_types[0], in_types[self.n_states]
        type_check.expect(
            h_type.dtype.kind == 'f',
            h_type.ndim == 3,
            h_type.shape[0] == self._n_cells,
            x_type.dtype == h_type.dtype,
            x_type.ndim == 2,
            x_type.shape[0] == sum(self.lengths),
        )
        if self.n_states == 2:
            type_check.expect(in_types[1].dtype == h_type.dtype, in_types[1].shape == h_type.shape)
        batch = h_type.shape[1]
        for t, n in enumerate(self.lengths):
            n = type_check.make_variable(n, f'lengths[{t}]')
            type_check.expect(n <= batch)
            batch = n
        size = h_type.shape[2]
        half = self.n_weights // 2
        index = self.n_states + 1
        for cell in range(self._n_cells):
            layer = cell // self.directions
            in_size = size * self.directions if layer else x_type.shape[1]
            for j in range(self.n_weights):
                w_type, b_type = in_types[index + j], in_types[index + self.n_weights + j]
                type_check._argname((w_type, b_type), (f'ws[{cell}][{j}]', f'bs[{cell}][{j}]'))
                type_check.expect(
                    w_type.dtype.kind == 'f',
                    w_type.ndim == 2,
                    w_type.shape[0] == size,
                    w_type.shape[1] == (in_size if j < half else size),
                    b_type.dtype.kind == 'f',
                    b_type.ndim == 1,
                    b_type.shape[0] == size,
                )
            index += 2 * self.n_weights

    # -- layout of the inputs ----------------------------------------------------------------

    def _unpack(self, inputs):
        """Returns states, x, and pairs of weights and biases of all cells."""
        n = self.n_states
        flat, k = inputs[n + 1 :], self.n_weights
        params = [(flat[i : i + k], flat[i + k : i + 2 * k]) for i in range(0, len(flat), 2 * k)]
        return inputs[:n], inputs[n], params

    def forward_chainerx(self, inputs):
        if self.chainerx_routine is None or any([a.dtype != inputs[0].dtype for a in inputs]):
            return Fallback
        states, x, params = self._unpack(inputs)
        if not self.dropout_ratio:
            return self._run_chainerx(self.n_layers, states, x, params)
        # Dropout is between layers, so run them one by one.
        device = backend.ChainerxDevice(x.device)
        fallback = device.fallback_device
        with chainer.using_device(fallback):
            self._draw_masks(fallback.xp, len(x), states[0].shape[2], x.dtype)
        finals = []
        for layer in range(self.n_layers):
            cells = slice(layer * self.directions, (layer + 1) * self.directions)
            if layer:
                x = x * device.send(self._masks[layer - 1])
            *layer_states, x = self._run_chainerx(1, [s[cells] for s in states], x, params[cells])
            finals.append(layer_states)
        return (*[chainerx.concatenate(parts, 0) for parts in zip(*finals)], x)

    def _run_chainerx(self, n_layers, states, x, params):
        """Runs layers with ChainerX's routine; returns the final states and the outputs."""
        routine = getattr(chainerx, self.chainerx_routine)
        xs = chainerx.split(x, [s.stop for s in self._steps[:-1]], 0)
        *states, ys = routine(
            n_layers,
            *states,
            [list(ws) for ws, _ in params],
            [list(bs) for _, bs in params],
            xs,
            **self._chainerx_options(),
        )
        return (*states, chainerx.concatenate(ys, 0))

    def _chainerx_options(self):
        return {}

    # -- forward and backward ----------------------------------------------------------------

    def _draw_masks(self, xp, total, size, dtype):
        """Draws the dropout masks for every layer except the first."""
        scale = dtype.type(1 / (1 - self.dropout_ratio))
        shape = total, size * self.directions
        self._masks = [
            (xp.random.rand(*shape) >= self.dropout_ratio) * scale for _ in range(self.n_layers - 1)
        ]

    def forward(self, inputs):
        self.retain_inputs(range(len(inputs)))
        states, x, params = self._unpack(inputs)
        xp = cuda.get_array_module(x)
        out_dtype = x.dtype
        dtype = numpy.result_type(numpy.float32, *[a.dtype for a in inputs])
        x = x.astype(dtype, copy=False)
        total, size = len(x), states[0].shape[2]
        # Final states: ended sequences keep their states.
        finals = [s.astype(dtype) for s in states]
        if self._masks is None and self.dropout_ratio:
            self._draw_masks(xp, total, size, dtype)
        self._saved = []
        for layer in range(self.n_layers):
            if layer and self._masks:
                x = x * self._masks[layer - 1]
            y = xp.empty((total, self.directions * size), dtype)
            for d in range(self.directions):
                cell = layer * self.directions + d
                weights = self._weights(xp, *params[cell], dtype)
                out = y[:, d * size : (d + 1) * size]
                steps = self._steps[::-1] if d else self._steps
                saved = self._run(xp, x, [f[cell] for f in finals], weights, out, steps)
                self._saved.append((x, weights, saved))
            x = y
        return tuple([a.astype(out_dtype, copy=False) for a in (*finals, x)])

    def gradients(self, targets, xs, ys, gys):
        states, x, params = self._unpack(xs)
        xp = cuda.get_array_module(x)
        dtype, size = self._saved[0][0].dtype, states[0].shape[2]
        # Update the gradients of states in place, from the final to the initial states.
        gstates = [
            xp.zeros(s.shape, dtype) if g is None else g.astype(dtype) for s, g in zip(states, gys)
        ]
        gy = gys[-1]
        if gy is None:
            gy = xp.zeros((len(x), size * self.directions), dtype)
        gy = gy.astype(dtype, copy=False)
        gparams = [None] * len(params)
        for layer in reversed(range(self.n_layers)):
            gx = None
            for d in range(self.directions):
                cell = layer * self.directions + d
                inner, weights, saved = self._saved[cell]
                steps = self._steps if d else self._steps[::-1]
                gates, hidden_gates = self._run_back(
                    xp,
                    gy[:, d * size : (d + 1) * size],
                    [g[cell] for g in gstates],
                    weights,
                    saved,
                    steps,
                )
                wx = weights[0]
                g = gates.dot(wx)
                gx = g if gx is None else gx + g
                gparams[cell] = self._split_weights(
                    xp,
                    gates.T.dot(inner),
                    hidden_gates.T.dot(saved[0]),
                    gates.sum(axis=0),
                    hidden_gates.sum(axis=0),
                )
            if layer and self._masks:
                gx *= self._masks[layer - 1]
            gy = gx
        gxs = [*gstates, gy]
        for gws, gbs in gparams:
            gxs += gws
            gxs += gbs
        return [gxs[i].astype(xs[i].dtype, copy=False) for i in targets]

    def compose(self, *inputs):
        F = chainer.functions
        states, x, params = self._unpack(inputs)
        stops = [s.stop for s in self._steps]

        def split(x):
            return F.split_axis(x, stops[:-1], 0, force_tuple=True)

        def drop(layer, xs):
            return [x * m for x, m in zip(xs, split(self._masks[layer - 1]))]

        cx = states[1] if self.n_states == 2 else None
        hy, cy, ys = _unroll(
            self._cell,
            self.n_layers,
            drop if self._masks else None,
            states[0],
            cx,
            [ws for ws, _ in params],
            [bs for _, bs in params],
            split(x),
            self.directions,
        )
        y = F.concat(ys, axis=0)
        return (hy, y) if cy is None else (hy, cy, y)

    # -- cells -------------------------------------------------------------------------------

    #: Gates of the cell in the order in which their weights are stacked.
    gate_order = (0,)

    def _cell(self, x, h, c, ws, bs):
        """One step of one layer on variables; returns the new ``h`` and ``c``."""
        raise NotImplementedError

    def _weights(self, xp, ws, bs, dtype):
        """Weights of input and state and their biases, with all gates stacked."""
        half = self.n_weights // 2
        if half == 1:
            return [a.astype(dtype, copy=False) for a in (*ws, *bs)]
        parts = []
        for arrays in (ws[:half], ws[half:], bs[:half], bs[half:]):
            parts.append(
                xp.concatenate([arrays[k] for k in self.gate_order]).astype(dtype, copy=False)
            )
        return parts

    def _split_weights(self, xp, *gradients):
        """Inverse of :meth:`_weights` for gradients: lists for ws and bs."""
        half = self.n_weights // 2
        gws, gbs = [], []
        for to, g in zip((gws, gws, gbs, gbs), gradients):
            parts = xp.split(g, half)
            to += [parts[self.gate_order.index(k)] for k in range(half)]
        return gws, gbs

    def _run(self, xp, x, states, weights, y, steps):
        """Runs one layer in one direction.

        Args:
            x: Inputs of all steps.
            states: Arrays (B, H) of the initial states, to be changed to the final ones.
            weights: Result of :meth:`_weights`.
            y: Array (total, H) for the outputs.
            steps: Slices of the steps in the order of the recurrence.

        Returns:
            Data for the backward; first the previous hidden state of every step.

        """
        raise NotImplementedError

    def _run_back(self, xp, gy, gstates, weights, saved, steps):
        """Gradients of the gates of all steps, from input and state; changes ``gstates``."""
        raise NotImplementedError


class _SimpleRNN(BaseNStepRNN):
    """Cells of one gate."""

    def _cell(self, x, h, c, ws, bs):
        F = chainer.functions
        activation = getattr(F, self.activation)
        return activation(F.linear(x, ws[0], bs[0]) + F.linear(h, ws[1], bs[1])), None

    def _run(self, xp, x, states, weights, y, steps):
        wx, wh, bx, bh = weights
        (h,) = states
        pre = x.dot(wx.T)
        pre += bx + bh
        wh = wh.T
        previous = xp.empty(y.shape, x.dtype)
        for s in steps:
            n = s.stop - s.start
            previous[s] = h[:n]
            h[:n] = y[s] = self._activation(xp, h[:n].dot(wh) + pre[s])
        return previous, y

    def _run_back(self, xp, gy, gstates, weights, saved, steps):
        wh, (gh,) = weights[1], gstates
        slope = self._slope(saved[1])
        gates = xp.empty_like(slope)
        for s in steps:
            n = s.stop - s.start
            g = xp.add(gy[s], gh[:n], out=gates[s])
            g *= slope[s]
            gh[:n] = g.dot(wh)
        return gates, gates

    def _activation(self, xp, x):
        raise NotImplementedError

    def _slope(self, y):
        raise NotImplementedError

    def _chainerx_options(self):
        return {'activation': self.activation}


class NStepRNNTanh(_SimpleRNN):
    """Stacked recurrent network with tanh."""

    activation = 'tanh'
    chainerx_routine = 'n_step_rnn'

    def _activation(self, xp, x):
        return xp.tanh(x)

    def _slope(self, y):
        return 1 - y * y


class NStepRNNReLU(_SimpleRNN):
    """Stacked recurrent network with rectified linear units."""

    activation = 'relu'
    chainerx_routine = 'n_step_rnn'

    def _activation(self, xp, x):
        return xp.maximum(x, 0)

    def _slope(self, y):
        return (y > 0).astype(y.dtype)


class NStepBiRNNTanh(NStepRNNTanh):
    """Stacked bidirectional recurrent network with tanh."""

    directions = 2
    chainerx_routine = 'n_step_birnn'


class NStepBiRNNReLU(NStepRNNReLU):
    """Stacked bidirectional recurrent network with rectified linear units."""

    directions = 2
    chainerx_routine = 'n_step_birnn'


def _apply(cls, n_layers, dropout_ratio, states, ws, bs, xs):
    """Applies a stacked network; returns the final states and the tuple of outputs."""
    F = chainer.functions
    n_cells = n_layers * cls.directions
    for name, values in (('ws', ws), ('bs', bs)):
        if len(values) != n_cells:
            raise ValueError(
                f'{name} must have {n_cells} lists, one for each layer and '
                f'direction, got {len(values)}'
            )
        for i, value in enumerate(values):
            if len(value) != cls.n_weights:
                raise ValueError(f'{name}[{i}] must have {cls.n_weights} arrays, got {len(value)}')
    if not xs:
        raise ValueError('xs must have at least one time step')
    lengths = [x.shape[0] for x in xs]
    flat = [a for w, b in zip(ws, bs) for a in (*w, *b)]
    func = cls(n_layers, dropout_ratio if config.train else 0.0, lengths)
    x = F.concat(xs, axis=0) if len(xs) > 1 else xs[0]
    *states, y = func.apply((*states, x, *flat))
    stops = [s.stop for s in func._steps]
    return (*states, F.split_axis(y, stops[:-1], 0, force_tuple=True))


def _unroll(f, n_layers, drop, hx, cx, ws, bs, xs, directions):
    """Runs a stacked network step by step on variables."""
    F = chainer.functions
    hx = F.separate(hx)
    cx = [None] * len(hx) if cx is None else F.separate(cx)
    hy, cy = [], []
    for layer in range(n_layers):
        if layer and drop is not None:
            xs = drop(layer, xs)
        outputs = []
        for d in range(directions):
            cell = layer * directions + d
            h, c = hx[cell], cx[cell]
            ys = []
            for x in reversed(xs) if d else xs:
                n, rest, c_rest = x.shape[0], None, None
                if n < h.shape[0]:
                    h, rest = F.split_axis(h, [n], 0)
                    if c is not None:
                        c, c_rest = F.split_axis(c, [n], 0)
                h, c = f(x, h, c, ws[cell], bs[cell])
                ys.append(h)
                if rest is not None:
                    h = F.concat((h, rest), axis=0)
                    if c is not None:
                        c = F.concat((c, c_rest), axis=0)
            outputs.append(ys[::-1] if d else ys)
            hy.append(h)
            cy.append(c)
        xs = [F.concat(y, axis=1) for y in zip(*outputs)] if directions == 2 else outputs[0]
    return F.stack(hy), None if cy[0] is None else F.stack(cy), tuple(xs)


def n_step_rnn_impl(f, n_layers, dropout_ratio, hx, cx, ws, bs, xs, use_bi_direction):
    """Runs a stacked recurrent network with any cell, step by step.

    Args:
        f (callable): Cell: ``f(x, h, c, w, b)`` returns the new ``h`` and ``c``, from the input
            of one step, the states, and the weights and biases of a layer and direction.
        n_layers (int): Number of layers.
        dropout_ratio (float): Ratio of dropout between layers.
        hx (:class:`~chainer.Variable` or array): Initial hidden states, of shape
            (layers * directions, B, H).
        cx (:class:`~chainer.Variable`, array or None): Initial cell states.
        ws (list): Weights of every layer and direction.
        bs (list): Biases of every layer and direction.
        xs (list of :class:`~chainer.Variable` or array): Inputs of every time step.
        use_bi_direction (bool): Whether layers are bidirectional.

    Returns:
        tuple: Final hidden states, final cell states (``None`` if ``cx`` is), and the tuple of
        outputs of every time step.

    .. admonition:: Example

        >>> cell = lambda x, h, c, w, b: (x + h, None)
        >>> xs = [np.array([[1]], np.float32), np.array([[2]], np.float32)]
        >>> hy, cy, ys = n_step_rnn_impl(
        ...     cell, 1, 0., np.zeros((1, 1, 1), np.float32), None, [None], [None], xs, False)
        >>> [y.array.tolist() for y in ys]
        [[[1.0]], [[3.0]]]

    """

    def drop(layer, xs):
        return [chainer.functions.dropout(x, dropout_ratio) for x in xs]

    return _unroll(f, n_layers, drop, hx, cx, ws, bs, xs, 2 if use_bi_direction else 1)


def n_step_rnn(n_layers, dropout_ratio, hx, ws, bs, xs, activation='tanh', **kwargs):
    """Stacked recurrent network over sequences of various lengths.

    .. math:: h_t = f(W_0 x_t + W_1 h_{t-1} + b_0 + b_1)

    The input of a layer is the output of the previous layer, after dropout in training.

    Sequences are arranged by time step: ``xs[t]`` has an element for each sequence
    longer than ``t``. Sort sequences by descending length; see
    :func:`~chainer.functions.transpose_sequence`.

    Args:
        n_layers (int): Number of layers.
        dropout_ratio (float): Ratio of dropout between layers.
        hx (:class:`~chainer.Variable` or array): Initial states, floating point of shape
            :math:`(S, B, N)`, for :math:`S` layers, :math:`B` sequences and :math:`N` units.
        ws (list of list): Weights: ``ws[i]`` has the two matrices of layer ``i``, of shapes
            :math:`(N, I)` and :math:`(N, N)`; :math:`I` is :math:`N` except in the first layer.
        bs (list of list): Biases: ``bs[i]`` has the two vectors of layer ``i``.
        xs (list of :class:`~chainer.Variable` or array): Inputs of every time step, of shape
            :math:`(B_t, I)` and of the dtype of ``hx``, where :math:`B_t` does not increase.
        activation (str): ``'tanh'`` or ``'relu'``.

    Returns:
        tuple: Final states, of the shape of ``hx``, and the tuple of outputs of every time step,
        of shape :math:`(B_t, N)`, all of the dtype of ``hx``.

    Raises:
        ValueError: If ``activation`` is unknown, the number of weights does not fit, or there is no
            time step.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :class:`~chainer.links.NStepRNNTanh`, :class:`~chainer.links.NStepRNNReLU`

    .. admonition:: Example

        >>> xs = [np.ones((n, 3), np.float32) for n in (3, 2, 1)]
        >>> hx = np.zeros((1, 3, 5), np.float32)
        >>> ws = [[np.ones((5, 3 if j < 1 else 5), np.float32) for j in range(2)]]
        >>> bs = [[np.zeros(5, np.float32) for _ in range(2)]]
        >>> hy, ys = F.n_step_rnn(1, 0., hx, ws, bs, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((1, 3, 5), [(3, 5), (2, 5), (1, 5)])

    """
    return n_step_rnn_base(n_layers, dropout_ratio, hx, ws, bs, xs, activation, False, **kwargs)


def n_step_birnn(n_layers, dropout_ratio, hx, ws, bs, xs, activation='tanh', **kwargs):
    """Stacked bidirectional recurrent network over sequences of various lengths.

    Every layer runs forward and backward in time and concatenates the two hidden states
    as its outputs. For the formula see :func:`~chainer.functions.n_step_rnn`.

    Args:
        n_layers (int): Number of layers.
        dropout_ratio (float): Ratio of dropout between layers.
        hx (:class:`~chainer.Variable` or array): Initial states, floating point of shape
            :math:`(2 S, B, N)`: forward and backward for each of :math:`S` layers, for :math:`B`
            sequences and :math:`N` units.
        ws (list of list): Weights: two lists of two matrices for each layer, forward and backward,
            as of :func:`~chainer.functions.n_step_rnn`. Input weights have the shape
            :math:`(N, 2 N)` except in the first layer.
        bs (list of list): Biases: two lists of two vectors for each layer.
        xs (list of :class:`~chainer.Variable` or array): Inputs of every time step, of shape
            :math:`(B_t, I)` and of the dtype of ``hx``, where :math:`B_t` does not increase.
        activation (str): ``'tanh'`` or ``'relu'``.

    Returns:
        tuple: Final states, and the tuple of outputs of every time step, of shape
        :math:`(B_t, 2 N)`; all of the dtype of ``hx``.

    Raises:
        ValueError: If ``activation`` is unknown, the number of weights does not fit, or there is no
            time step.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :class:`~chainer.links.NStepBiRNNTanh`, :class:`~chainer.links.NStepBiRNNReLU`

    .. admonition:: Example

        >>> xs = [np.ones((n, 3), np.float32) for n in (3, 2, 1)]
        >>> hx = np.zeros((2, 3, 5), np.float32)
        >>> ws = [[np.ones((5, 3 if j < 1 else 5), np.float32) for j in range(2)]] * 2
        >>> bs = [[np.zeros(5, np.float32) for _ in range(2)]] * 2
        >>> hy, ys = F.n_step_birnn(1, 0., hx, ws, bs, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((2, 3, 5), [(3, 10), (2, 10), (1, 10)])

    """
    return n_step_rnn_base(n_layers, dropout_ratio, hx, ws, bs, xs, activation, True, **kwargs)


def n_step_rnn_base(
    n_layers, dropout_ratio, hx, ws, bs, xs, activation, use_bi_direction, **kwargs
):
    """Implementation of :func:`n_step_rnn` and :func:`n_step_birnn`."""
    if kwargs:
        argument.check_unexpected_kwargs(
            kwargs,
            use_bi_direction='use_bi_direction is not supported as a keyword argument',
            **_old_arguments,
        )
        argument.assert_kwargs_empty(kwargs)
    classes = {'tanh': (NStepRNNTanh, NStepBiRNNTanh), 'relu': (NStepRNNReLU, NStepBiRNNReLU)}
    if activation not in classes:
        candidates = ', '.join(map(repr, classes))
        raise ValueError(f'Invalid activation: {activation!r}. Please select from [{candidates}]')
    cls = classes[activation][bool(use_bi_direction)]
    return _apply(cls, n_layers, dropout_ratio, (hx,), ws, bs, xs)
