#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

// The order of the gates of all units in a row.
enum class Gates {
    kInterleaved,  // the gates of unit 0, those of unit 1, ...
    kBlocks,       // one gate of all units, the next gate of all units, ...
};

CHAINERX_ENUM_WORDS(Gates, "interleaved", "blocks");

// Cells on contiguous arrays of one dtype: states are (batch, units), x is (batch, gates * units).
// The order of gates is a, i, f, o; either of gc and gh may be no array, for zero.
using LstmKernel = KernelSlot<void(const Array& c_prev, const Array& x, Gates gates, const Array& c, const Array& h)>;
using LstmGradKernel = KernelSlot<void(const Array& c_prev, const Array& x, Gates gates, const Array& c,
                                       const Array& gc, const Array& gh, const Array& gc_prev, const Array& gx)>;
// Cells with several children. Of one x (batch, (children + 3) units) the gates are a, i, o and one f for each child,
// in blocks; of two x (batch, 4 units) and two children, the gates of each are a, i, f, o, interleaved, and their o are
// added. `grads`: those of the states, then those of x.
using TreeLstmKernel = KernelSlot<void(const std::vector<Array>& c_prevs, const std::vector<Array>& xs, const Array& c,
                                       const Array& h)>;
using TreeLstmGradKernel =
        KernelSlot<void(const std::vector<Array>& c_prevs, const std::vector<Array>& xs, const Array& c,
                        const Array& gc, const Array& gh, const std::vector<Array>& grads)>;
extern const LstmKernel kLstmKernel;
extern const LstmGradKernel kLstmGradKernel;
extern const TreeLstmKernel kTreeLstmKernel;
extern const TreeLstmGradKernel kTreeLstmGradKernel;

enum class RnnKind { kLstm, kGru, kTanh, kRelu };

// One layer of a stacked network in one direction, over sequences of which `lengths[t]` are longer than t. All arrays
// are contiguous and of dtype float32 or float64; rows of (total, ...) are those of all time steps one after the other.
// With gates in blocks: a, i, f, o of LSTM; r, z and the candidate of GRU; one of the simple kinds.
struct RnnLayer {
    RnnKind kind;
    std::vector<int64_t> lengths;
    bool reverse;

    Array wh;       // (gates U, U)
    Array bh;       // (gates U), GRU only: biases of the others are in x_gates
    Array h0;       // (B, U)
    Array c0;       // (B, U), LSTM only
    Array x_gates;  // (total, gates U): the part of the input; except for GRU, the part of the state is added to it
    Array h_gates;  // (total, gates U), GRU only: the part of the state
    Array y;        // (total, U)
    Array cells;    // (total, U), LSTM only: the cell states
};
template <>
struct KeptArgument<RnnLayer> : KeptStructure<RnnLayer, &RnnLayer::wh, &RnnLayer::bh, &RnnLayer::h0, &RnnLayer::c0,
                                              &RnnLayer::x_gates, &RnnLayer::h_gates, &RnnLayer::y, &RnnLayer::cells> {
    using KeptStructure::KeptStructure;
};
// Computes the arrays from x_gates on and the last states (B, U); `c` is for LSTM only.
using RnnLayerKernel = KernelSlot<void(const RnnLayer& layer, const Array& h, const Array& c)>;
// The gradients of x_gates and, for GRU, of h_gates, from gy (or no array). The states before each step, (total, U),
// go to h_prev. gh and gc are gradients of the last states and become those of the first.
using RnnLayerGradKernel = KernelSlot<void(const RnnLayer& layer, const Array& gy, const Array& gh, const Array& gc,
                                           const Array& gx_gates, const Array& gh_gates, const Array& h_prev)>;
extern const RnnLayerKernel kRnnLayerKernel;
extern const RnnLayerGradKernel kRnnLayerGradKernel;

using CellOutput = std::tuple<Array, Array>;  // new cell states, new hidden states

// c_prev (B, U, ...), x (N, 4 U, ...) with N <= B and interleaved gates a, i, f, o. Rows of c_prev beyond N stay.
CellOutput Lstm(const Array& c_prev, const Array& x);
CellOutput Slstm(const Array& c_prev1, const Array& c_prev2, const Array& x1, const Array& x2);
// Cell states of the children, then gates a, i, o and one f for each child, in blocks.
CellOutput TreeLstm(const std::vector<Array>& inputs);

// Stacked networks. hx, cx (layers * directions, B, U); ws and bs: for each layer and direction, matrices of the input
// and then of the state, and their biases; xs: for each time step, (B_t, I), where B_t does not increase.
using ArrayLists = std::vector<std::vector<Array>>;
using StatesAndOutputs = std::tuple<Array, std::vector<Array>>;
using LstmStatesAndOutputs = std::tuple<Array, Array, std::vector<Array>>;
LstmStatesAndOutputs NStepLstm(int64_t n_layers, const Array& hx, const Array& cx, const ArrayLists& ws,
                               const ArrayLists& bs, const std::vector<Array>& xs);
LstmStatesAndOutputs NStepBiLstm(int64_t n_layers, const Array& hx, const Array& cx, const ArrayLists& ws,
                                 const ArrayLists& bs, const std::vector<Array>& xs);
StatesAndOutputs NStepGru(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                          const std::vector<Array>& xs);
StatesAndOutputs NStepBiGru(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                            const std::vector<Array>& xs);
StatesAndOutputs NStepRnn(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                          const std::vector<Array>& xs, const std::string& activation = "tanh");
StatesAndOutputs NStepBiRnn(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                            const std::vector<Array>& xs, const std::string& activation = "tanh");

#define CHAINERX_RNN_ROUTINES(X) \
    X(Lstm)                      \
    X(Slstm)                     \
    X(NStepLstm)                 \
    X(NStepBiLstm)               \
    X(NStepGru)                  \
    X(NStepBiGru)                \
    X(NStepRnn)                  \
    X(NStepBiRnn)                \
    X(TreeLstm)

CHAINERX_RNN_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
