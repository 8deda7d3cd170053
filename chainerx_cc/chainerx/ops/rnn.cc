#include "chainerx/ops/rnn.h"

#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/packed_recurrent.h"
#include "chainerx/ops/rnn_network.h"

namespace chainerx {

const PackRecurrentKernel kPackRecurrentKernel{"pack_recurrent"};

namespace {

// A stacked network: what is common to the kinds of cells.
struct Network {
    const char* name;
    int64_t directions;

    void Check(RnnKind kind, int64_t n_layers, const Array& hx, const Array& cx, const ArrayLists& ws,
               const ArrayLists& bs, const std::vector<Array>& xs) const {
        auto count = static_cast<size_t>(n_layers * directions);
        if (n_layers < 1) throw ChainerxError{name, ": n_layers must be positive, was ", n_layers};
        if (xs.empty()) throw ChainerxError{name, ": xs must have at least one time step"};
        if (ws.size() != count || bs.size() != count) {
            throw DimensionError{name,      ": ws and bs must have ",
                                 count,     " lists, one for each layer and direction, got ",
                                 ws.size(), " and ",
                                 bs.size()};
        }
        if (hx.ndim() != 3 || hx.shape()[0] != n_layers * directions) {
            throw DimensionError{name, ": hx has shape ", hx.shape(), ", expected (", count, ", B, U)"};
        }
        if (!IsFloat(hx.dtype())) throw DtypeError{name, ": hx must be of a floating point dtype, not ", hx.dtype()};
        if (cx && cx.shape() != hx.shape())
            throw DimensionError{name, ": cx has shape ", cx.shape(), " but hx ", hx.shape()};
        auto check_dtype = [&](const char* what, const Array& a) {
            CheckDevices(hx, a);
            if (a.dtype() != hx.dtype())
                throw DtypeError{name, ": ", what, " has dtype ", a.dtype(), " but hx ", hx.dtype()};
        };
        if (cx) check_dtype("cx", cx);
        int64_t batch = hx.shape()[1];
        int64_t units = hx.shape()[2];
        if (xs[0].ndim() != 2)
            throw DimensionError{name, ": an element of xs has shape ", xs[0].shape(), ", expected (B_t, I)"};
        for (const Array& x : xs) {
            check_dtype("xs", x);
            if (x.ndim() != 2 || x.shape()[0] > batch || x.shape()[1] != xs[0].shape()[1]) {
                throw DimensionError{name,
                                     ": an element of xs has shape ",
                                     x.shape(),
                                     ", expected (B_t, ",
                                     xs[0].shape()[1],
                                     ") with B_t not above ",
                                     batch};
            }
            batch = x.shape()[0];
        }
        size_t gates = CountGates(kind);
        for (size_t cell = 0; cell < count; ++cell) {
            if (ws[cell].size() != 2 * gates || bs[cell].size() != 2 * gates) {
                throw DimensionError{name,
                                     ": ws and bs of a layer must have ",
                                     2 * gates,
                                     " arrays, got ",
                                     ws[cell].size(),
                                     " and ",
                                     bs[cell].size()};
            }
            int64_t width = cell < static_cast<size_t>(directions) ? xs[0].shape()[1] : units * directions;
            for (size_t j = 0; j < 2 * gates; ++j) {
                check_dtype("ws", ws[cell][j]);
                check_dtype("bs", bs[cell][j]);
                Shape expected{units, j < gates ? width : units};
                if (ws[cell][j].shape() != expected) {
                    throw DimensionError{name,          ": ws[", cell, "][", j, "] has shape ", ws[cell][j].shape(),
                                         ", expected ", expected};
                }
                if (bs[cell][j].shape() != Shape{units}) {
                    throw DimensionError{name,          ": bs[",     cell, "][", j, "] has shape ", bs[cell][j].shape(),
                                         ", expected ", Shape{units}};
                }
            }
        }
    }

    std::tuple<Array, Array, std::vector<Array>> Run(RnnKind kind, int64_t n_layers, const Array& hx, const Array& cx,
                                                     const ArrayLists& ws, const ArrayLists& bs,
                                                     const std::vector<Array>& xs) const {
        Check(kind, n_layers, hx, cx, ws, bs, xs);
        // Sums over many steps deserve more than half precision.
        Dtype dtype = IsHalf(hx.dtype()) ? Dtype::kFloat32 : hx.dtype();
        auto widen = [dtype](const Array& a) { return a.dtype() == dtype ? a : AsType(a, dtype); };
        auto narrow = [&hx](const Array& a) { return a.dtype() == hx.dtype() ? a : AsType(a, hx.dtype()); };
        auto widen_all = [&widen](ArrayLists lists) {
            for (std::vector<Array>& list : lists) {
                for (Array& a : list) a = widen(a);
            }
            return lists;
        };
        std::vector<int64_t> lengths;
        std::vector<int64_t> stops;
        int64_t total = 0;
        for (const Array& x : xs) {
            lengths.push_back(x.shape()[0]);
            stops.push_back(total += x.shape()[0]);
        }
        stops.pop_back();
        Array x = widen(xs.size() == 1 ? xs[0] : Concatenate(xs, 0));
        internal::LayerOutputs out = internal::RunNetwork({kind, n_layers, directions, lengths, x, widen(hx),
                                                           cx ? widen(cx) : Array{}, widen_all(ws), widen_all(bs)});
        return {narrow(out.h), cx ? narrow(out.c) : Array{}, Split(narrow(out.y), stops, 0)};
    }
};

LstmStatesAndOutputs RunLstm(const char* name, int64_t directions, int64_t n_layers, const Array& hx, const Array& cx,
                             const ArrayLists& ws, const ArrayLists& bs, const std::vector<Array>& xs) {
    return Network{name, directions}.Run(RnnKind::kLstm, n_layers, hx, cx, ws, bs, xs);
}

StatesAndOutputs RunGru(const char* name, int64_t directions, int64_t n_layers, const Array& hx, const ArrayLists& ws,
                        const ArrayLists& bs, const std::vector<Array>& xs) {
    auto [hy, cy, ys] = Network{name, directions}.Run(RnnKind::kGru, n_layers, hx, Array{}, ws, bs, xs);
    return {hy, ys};
}

StatesAndOutputs RunRnn(const char* name, int64_t directions, int64_t n_layers, const Array& hx, const ArrayLists& ws,
                        const ArrayLists& bs, const std::vector<Array>& xs, const std::string& activation) {
    if (activation != "tanh" && activation != "relu") {
        throw ChainerxError{name, ": activation must be 'tanh' or 'relu', not '", activation, "'"};
    }
    RnnKind kind = activation == "tanh" ? RnnKind::kTanh : RnnKind::kRelu;
    auto [hy, cy, ys] = Network{name, directions}.Run(kind, n_layers, hx, Array{}, ws, bs, xs);
    return {hy, ys};
}

}  // namespace

CHAINERX_ROUTINE(NStepLstm, "n_step_lstm", "n_layers, hx, cx, ws, bs, xs", "rnn_layer rnn_layer_grad", R"(
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
)");
LstmStatesAndOutputs NStepLstm(int64_t n_layers, const Array& hx, const Array& cx, const ArrayLists& ws,
                               const ArrayLists& bs, const std::vector<Array>& xs) {
    return RunLstm("n_step_lstm", 1, n_layers, hx, cx, ws, bs, xs);
}

CHAINERX_ROUTINE(NStepBiLstm, "n_step_bilstm", "n_layers, hx, cx, ws, bs, xs", "rnn_layer rnn_layer_grad", R"(
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
)");
LstmStatesAndOutputs NStepBiLstm(int64_t n_layers, const Array& hx, const Array& cx, const ArrayLists& ws,
                                 const ArrayLists& bs, const std::vector<Array>& xs) {
    return RunLstm("n_step_bilstm", 2, n_layers, hx, cx, ws, bs, xs);
}

CHAINERX_ROUTINE(NStepGru, "n_step_gru", "n_layers, hx, ws, bs, xs", "rnn_layer rnn_layer_grad", R"(
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
)");
StatesAndOutputs NStepGru(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                          const std::vector<Array>& xs) {
    return RunGru("n_step_gru", 1, n_layers, hx, ws, bs, xs);
}

CHAINERX_ROUTINE(NStepBiGru, "n_step_bigru", "n_layers, hx, ws, bs, xs", "rnn_layer rnn_layer_grad", R"(
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
)");
StatesAndOutputs NStepBiGru(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                            const std::vector<Array>& xs) {
    return RunGru("n_step_bigru", 2, n_layers, hx, ws, bs, xs);
}

CHAINERX_ROUTINE(NStepRnn, "n_step_rnn", "n_layers, hx, ws, bs, xs, activation='tanh'", "rnn_layer rnn_layer_grad", R"(
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
)");
StatesAndOutputs NStepRnn(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                          const std::vector<Array>& xs, const std::string& activation) {
    return RunRnn("n_step_rnn", 1, n_layers, hx, ws, bs, xs, activation);
}

CHAINERX_ROUTINE(NStepBiRnn, "n_step_birnn", "n_layers, hx, ws, bs, xs, activation='tanh'", "rnn_layer rnn_layer_grad",
                 R"(
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
)");
StatesAndOutputs NStepBiRnn(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                            const std::vector<Array>& xs, const std::string& activation) {
    return RunRnn("n_step_birnn", 2, n_layers, hx, ws, bs, xs, activation);
}

}  // namespace chainerx
