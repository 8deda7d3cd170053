#pragma once

// Functions that cells and stacked networks share.

#include <vector>

#include "chainerx/ops/rnn.h"

namespace chainerx::internal {

// Gates, before their activations, and previous states of a cell of the form
//   c = sum_j tanh(a_j) sigmoid(i_j) + sum_k sigmoid(f_k) c_k,  h = sigmoid(o) tanh(c);
// or the gradients of all of these.
struct LstmParts {
    std::vector<Array> a;
    std::vector<Array> i;
    std::vector<Array> f;
    std::vector<Array> c;
    Array o;
};

// The gradients from those of c and h, in operations that have gradients themselves.
LstmParts GetLstmGrads(const LstmParts& parts, const Array& gc, const Array& gh);

// Slope of sigmoid, from its value.
Array SigmoidSlope(const Array& y);

// c_prev (B, U), x (B, 4 U)
CellOutput LstmCell(const Array& c_prev, const Array& x, Gates gates);

// The n gates of x (B, n U, ...), and their inverse.
std::vector<Array> ExtractGates(const Array& x, int64_t n, Gates gates);
Array JoinGates(const std::vector<Array>& parts, Gates gates);

}  // namespace chainerx::internal
