#pragma once

// The documentation of recurrent cells and networks; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kLstm = R"(
Cell of long short-term memory.

.. math::
    c &= \tanh(a) \, \sigma(i) + c_{prev} \, \sigma(f) \\
    h &= \tanh(c) \, \sigma(o)

The gates lie side by side: the first four columns of ``x`` are ``a``, ``i``, ``f`` and ``o`` of the first unit, and so
on. Where ``x`` has fewer rows than ``c_prev``, the sequences of the last rows have ended; their cell states stay.
Differentiable any number of times.

Args:
    c_prev (~chainerx.ndarray): Cell states of shape :math:`(B, U, ...)`, of a floating point dtype.
    x (~chainerx.ndarray): Gates before their activations, of shape :math:`(N, 4 U, ...)` with :math:`N \le B`.

Returns:
    tuple of ~chainerx.ndarray: New cell states of shape :math:`(B, U, ...)`, and hidden states of shape
    :math:`(N, U, ...)`.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

See: Hochreiter and Schmidhuber, Long short-term memory, 1997.

>>> c, h = chainerx.lstm(chainerx.zeros((2, 3)), chainerx.ones((2, 12)))
>>> c.shape, h.shape
((2, 3), (2, 3))
)";

constexpr const char* kSlstm = R"(
Cell of long short-term memory that merges two branches of a tree.

.. math::
    c &= \sum_{k = 1, 2} \tanh(a_k) \, \sigma(i_k) + c_k \, \sigma(f_k) \\
    h &= \tanh(c) \, \sigma(o_1 + o_2)

The gates lie as in :func:`chainerx.lstm`. Differentiable any number of times.

Args:
    c_prev1, c_prev2 (~chainerx.ndarray): Cell states of the branches, of shape :math:`(B, U, ...)`.
    x1, x2 (~chainerx.ndarray): Gates of the branches before their activations, of shape :math:`(B, 4 U, ...)`.

Returns:
    tuple of ~chainerx.ndarray: New cell states and hidden states.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

See: Zhu et al., Long short-term memory over tree structures, ICML 2015.

>>> c, x = chainerx.zeros((2, 3)), chainerx.ones((2, 12))
>>> c, h = chainerx.slstm(c, c, x, x)
>>> c.shape, h.shape
((2, 3), (2, 3))
)";

constexpr const char* kTreeLstm = R"(
Cell of long short-term memory with any number of children.

.. math::
    c &= \tanh(a) \, \sigma(i) + \sum_k c_k \, \sigma(f_k) \\
    h &= \tanh(c) \, \sigma(o)

Differentiable any number of times.

Args:
    *inputs (~chainerx.ndarray): Cell states :math:`c_1, ..., c_K` of the children, of shape :math:`(B, U, ...)`; then
        the gates before their activations, of shape :math:`(B, (K + 3) U, ...)`: ``a`` of all units, then ``i``,
        ``o``, and ``f`` of each child.

Returns:
    tuple of ~chainerx.ndarray: New cell states and hidden states.

Raises:
    ~chainerx.ChainerxError: If there are less than two arrays.
    ~chainerx.DimensionError: If the shapes do not fit.

See: Tai et al., Improved semantic representations from tree-structured long short-term memory networks, ACL 2015.

>>> child = chainerx.zeros((2, 3))
>>> c, h = chainerx.tree_lstm(child, child, chainerx.ones((2, 15)))
>>> c.shape, h.shape
((2, 3), (2, 3))
)";

constexpr const char* kNStepLstm = R"(
Stacked networks of long short-term memory over sequences of various lengths.

.. math::
    i_t &= \sigma(W_0 x_t + W_4 h_{t-1} + b_0 + b_4) \\
    f_t &= \sigma(W_1 x_t + W_5 h_{t-1} + b_1 + b_5) \\
    a_t &= \tanh(W_2 x_t + W_6 h_{t-1} + b_2 + b_6) \\
    o_t &= \sigma(W_3 x_t + W_7 h_{t-1} + b_3 + b_7) \\
    c_t &= f_t c_{t-1} + i_t a_t, \quad h_t = o_t \tanh(c_t)

Sequences are sorted by length, the longest first, and given by time step. Differentiable any number of times.

Args:
    n_layers (int): Number of layers :math:`S`.
    hx, cx (~chainerx.ndarray): First hidden and cell states, of shape :math:`(S, B, U)`.
    ws (list of list of ~chainerx.ndarray): For each layer, the matrices :math:`W_0, ..., W_7`, of shape
        :math:`(U, I)` and from the fifth on :math:`(U, U)`.
    bs (list of list of ~chainerx.ndarray): For each layer, the vectors :math:`b_0, ..., b_7`, of shape :math:`(U,)`.
    xs (list of ~chainerx.ndarray): For each time step, inputs of shape :math:`(B_t, I)`, where :math:`B_t` does not
        increase.

Returns:
    tuple: Last hidden states and cell states, and the list of outputs of shape :math:`(B_t, U)`.

Raises:
    ~chainerx.DimensionError: If numbers of arrays or shapes do not fit.

>>> xs = [chainerx.ones((n, 3)) for n in (2, 1)]
>>> ws = [[chainerx.ones((5, 3))] * 4 + [chainerx.ones((5, 5))] * 4]
>>> bs = [[chainerx.zeros(5)] * 8]
>>> h = chainerx.zeros((1, 2, 5))
>>> hy, cy, ys = chainerx.n_step_lstm(1, h, h, ws, bs, xs)
>>> hy.shape, [y.shape for y in ys]
((1, 2, 5), [(2, 5), (1, 5)])
)";

constexpr const char* kNStepBiLstm = R"(
Stacked bidirectional networks of long short-term memory over sequences of various lengths.

Like :func:`chainerx.n_step_lstm`, but each layer goes through the sequences in both directions, and outputs are the
hidden states of both, joined. Differentiable any number of times.

Args:
    n_layers (int): Number of layers :math:`S`.
    hx, cx (~chainerx.ndarray): First hidden and cell states, of shape :math:`(2 S, B, U)`.
    ws (list of list of ~chainerx.ndarray): For each layer and direction, eight matrices; those of inputs have the shape
        :math:`(U, 2 U)` after the first layer.
    bs (list of list of ~chainerx.ndarray): For each layer and direction, eight vectors.
    xs (list of ~chainerx.ndarray): For each time step, inputs of shape :math:`(B_t, I)`, where :math:`B_t` does not
        increase.

Returns:
    tuple: Last hidden states and cell states, and the list of outputs of shape :math:`(B_t, 2 U)`.

Raises:
    ~chainerx.DimensionError: If numbers of arrays or shapes do not fit.

>>> xs = [chainerx.ones((n, 3)) for n in (2, 1)]
>>> ws = [[chainerx.ones((5, 3))] * 4 + [chainerx.ones((5, 5))] * 4] * 2
>>> bs = [[chainerx.zeros(5)] * 8] * 2
>>> h = chainerx.zeros((2, 2, 5))
>>> hy, cy, ys = chainerx.n_step_bilstm(1, h, h, ws, bs, xs)
>>> hy.shape, [y.shape for y in ys]
((2, 2, 5), [(2, 10), (1, 10)])
)";

constexpr const char* kNStepGru = R"(
Stacked networks of gated recurrent units over sequences of various lengths.

.. math::
    r_t &= \sigma(W_0 x_t + W_3 h_{t-1} + b_0 + b_3) \\
    z_t &= \sigma(W_1 x_t + W_4 h_{t-1} + b_1 + b_4) \\
    g_t &= \tanh(W_2 x_t + b_2 + r_t (W_5 h_{t-1} + b_5)) \\
    h_t &= (1 - z_t) g_t + z_t h_{t-1}

Sequences are sorted by length, the longest first, and given by time step. Differentiable any number of times.

Args:
    n_layers (int): Number of layers :math:`S`.
    hx (~chainerx.ndarray): First hidden states, of shape :math:`(S, B, U)`.
    ws (list of list of ~chainerx.ndarray): For each layer, the matrices :math:`W_0, ..., W_5`, of shape
        :math:`(U, I)` and from the fourth on :math:`(U, U)`.
    bs (list of list of ~chainerx.ndarray): For each layer, the vectors :math:`b_0, ..., b_5`, of shape :math:`(U,)`.
    xs (list of ~chainerx.ndarray): For each time step, inputs of shape :math:`(B_t, I)`, where :math:`B_t` does not
        increase.

Returns:
    tuple: Last hidden states, and the list of outputs of shape :math:`(B_t, U)`.

Raises:
    ~chainerx.DimensionError: If numbers of arrays or shapes do not fit.

>>> xs = [chainerx.ones((n, 3)) for n in (2, 1)]
>>> ws = [[chainerx.ones((5, 3))] * 3 + [chainerx.ones((5, 5))] * 3]
>>> bs = [[chainerx.zeros(5)] * 6]
>>> hy, ys = chainerx.n_step_gru(1, chainerx.zeros((1, 2, 5)), ws, bs, xs)
>>> hy.shape, [y.shape for y in ys]
((1, 2, 5), [(2, 5), (1, 5)])
)";

constexpr const char* kNStepBiGru = R"(
Stacked bidirectional networks of gated recurrent units over sequences of various lengths.

Like :func:`chainerx.n_step_gru`, but each layer goes through the sequences in both directions, and outputs are the
hidden states of both, joined. Differentiable any number of times.

Args:
    n_layers (int): Number of layers :math:`S`.
    hx (~chainerx.ndarray): First hidden states, of shape :math:`(2 S, B, U)`.
    ws (list of list of ~chainerx.ndarray): For each layer and direction, six matrices; those of inputs have the shape
        :math:`(U, 2 U)` after the first layer.
    bs (list of list of ~chainerx.ndarray): For each layer and direction, six vectors.
    xs (list of ~chainerx.ndarray): For each time step, inputs of shape :math:`(B_t, I)`, where :math:`B_t` does not
        increase.

Returns:
    tuple: Last hidden states, and the list of outputs of shape :math:`(B_t, 2 U)`.

Raises:
    ~chainerx.DimensionError: If numbers of arrays or shapes do not fit.

>>> xs = [chainerx.ones((n, 3)) for n in (2, 1)]
>>> ws = [[chainerx.ones((5, 3))] * 3 + [chainerx.ones((5, 5))] * 3] * 2
>>> bs = [[chainerx.zeros(5)] * 6] * 2
>>> hy, ys = chainerx.n_step_bigru(1, chainerx.zeros((2, 2, 5)), ws, bs, xs)
>>> hy.shape, [y.shape for y in ys]
((2, 2, 5), [(2, 10), (1, 10)])
)";

constexpr const char* kNStepRnn = R"(
Stacked recurrent networks over sequences of various lengths.

.. math:: h_t = f(W_0 x_t + W_1 h_{t-1} + b_0 + b_1)

Sequences are sorted by length, the longest first, and given by time step. Differentiable any number of times.

Args:
    n_layers (int): Number of layers :math:`S`.
    hx (~chainerx.ndarray): First hidden states, of shape :math:`(S, B, U)`.
    ws (list of list of ~chainerx.ndarray): For each layer, the matrices :math:`W_0`, of shape :math:`(U, I)`, and
        :math:`W_1`, of shape :math:`(U, U)`.
    bs (list of list of ~chainerx.ndarray): For each layer, the vectors :math:`b_0` and :math:`b_1`, of shape
        :math:`(U,)`.
    xs (list of ~chainerx.ndarray): For each time step, inputs of shape :math:`(B_t, I)`, where :math:`B_t` does not
        increase.
    activation (str): The function :math:`f`: ``'tanh'`` or ``'relu'``.

Returns:
    tuple: Last hidden states, and the list of outputs of shape :math:`(B_t, U)`.

Raises:
    ~chainerx.ChainerxError: If ``activation`` has no meaning.
    ~chainerx.DimensionError: If numbers of arrays or shapes do not fit.

>>> xs = [chainerx.ones((n, 3)) for n in (2, 1)]
>>> ws = [[chainerx.ones((5, 3)), chainerx.ones((5, 5))]]
>>> bs = [[chainerx.zeros(5), chainerx.zeros(5)]]
>>> hy, ys = chainerx.n_step_rnn(1, chainerx.zeros((1, 2, 5)), ws, bs, xs, 'relu')
>>> hy.shape, [y.shape for y in ys]
((1, 2, 5), [(2, 5), (1, 5)])
)";

constexpr const char* kNStepBiRnn = R"(
Stacked bidirectional recurrent networks over sequences of various lengths.

Like :func:`chainerx.n_step_rnn`, but each layer goes through the sequences in both directions, and outputs are the
hidden states of both, joined. Differentiable any number of times.

Args:
    n_layers (int): Number of layers :math:`S`.
    hx (~chainerx.ndarray): First hidden states, of shape :math:`(2 S, B, U)`.
    ws (list of list of ~chainerx.ndarray): For each layer and direction, two matrices; those of inputs have the shape
        :math:`(U, 2 U)` after the first layer.
    bs (list of list of ~chainerx.ndarray): For each layer and direction, two vectors.
    xs (list of ~chainerx.ndarray): For each time step, inputs of shape :math:`(B_t, I)`, where :math:`B_t` does not
        increase.
    activation (str): ``'tanh'`` or ``'relu'``.

Returns:
    tuple: Last hidden states, and the list of outputs of shape :math:`(B_t, 2 U)`.

Raises:
    ~chainerx.ChainerxError: If ``activation`` has no meaning.
    ~chainerx.DimensionError: If numbers of arrays or shapes do not fit.

>>> xs = [chainerx.ones((n, 3)) for n in (2, 1)]
>>> ws = [[chainerx.ones((5, 3)), chainerx.ones((5, 5))]] * 2
>>> bs = [[chainerx.zeros(5), chainerx.zeros(5)]] * 2
>>> hy, ys = chainerx.n_step_birnn(1, chainerx.zeros((2, 2, 5)), ws, bs, xs)
>>> hy.shape, [y.shape for y in ys]
((2, 2, 5), [(2, 10), (1, 10)])
)";

}  // namespace chainerx::python::docs
