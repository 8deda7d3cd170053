#pragma once

#include <cstdint>

#include "chainerx/core/array.h"

namespace chainerx::cuda {

// Cells on contiguous rows of states (batch, units) and of gates in blocks (batch, gates * units); see ops/rnn.h.

// r = sigmoid(x_r + s_r), z = sigmoid(x_z + s_z), a = tanh(x_a + r s_a), h = (1 - z) a + z h_prev
void Gru(const Array& x, const Array& s, const Array& h_prev, const Array& h);
// The gradients of x, s and, except for the part through s, of h_prev; `gh` and `gh_prev` may be the same array.
void GruGrad(const Array& x, const Array& s, const Array& h_prev, const Array& gh, const Array& gx, const Array& gs,
             const Array& gh_prev);
// y = tanh(x) or relu(x)
void SimpleRnn(bool relu, const Array& x, const Array& y);
void SimpleRnnGrad(bool relu, const Array& y, const Array& gy, const Array& gx);
// a += b
void AddInto(const Array& a, const Array& b);

}  // namespace chainerx::cuda
