#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// The layout of the gates of a cell: gate g of unit u in row b is at b * row + gate[g] + u * unit. Gates are in blocks
// (unit = 1, gate = 0, units, ...); those of an LSTM cell may be interleaved (unit = 4, gate = 0, 1, 2, 3).
struct GateLayout {
    int64_t row;
    int64_t unit;
    int64_t gate[4];
};

// LSTM cell on pre-activations x with gates a (candidate), i, f, o:
//   c = sigmoid(f) c_prev + sigmoid(i) tanh(a),  h = sigmoid(o) tanh(c)
// c_prev, c and h are (batch, units).
CHAINERX_ISA_KERNEL(LstmForward,
                    (int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* c_prev, T* c, T* h),
                    (batch, units, layout, x, c_prev, c, h))

// gx (as x) and gc_prev from gc and gh, (batch, units); either of these may be null, for zero.
CHAINERX_ISA_KERNEL(LstmBackward,
                    (int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* c_prev, const T* c,
                     const T* gc, const T* gh, T* gx, T* gc_prev),
                    (batch, units, layout, x, c_prev, c, gc, gh, gx, gc_prev))

// GRU cell on the parts of the input (x) and the state (s) in the gates r, z and the candidate, both in `layout` (three
// gates), including biases:
//   r = sigmoid(x_r + s_r),  z = sigmoid(x_z + s_z),  a = tanh(x_a + r s_a),  h = (1 - z) a + z h_prev
CHAINERX_ISA_KERNEL(GruForward,
                    (int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* s, const T* h_prev,
                     T* h),
                    (batch, units, layout, x, s, h_prev, h))

// gx, gs (as x, s) and gh_prev (the direct part, z gh) from gh (batch, units).
CHAINERX_ISA_KERNEL(GruBackward,
                    (int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* s, const T* h_prev,
                     const T* gh, T* gx, T* gs, T* gh_prev),
                    (batch, units, layout, x, s, h_prev, gh, gx, gs, gh_prev))

// The parts of a GRU cell whose reset gate comes before the product with the state, on pre-activations x:
//   s = sigmoid(x_r) h_prev  and then, with the product of s in x_a,  h = (1 - z) a + z h_prev
CHAINERX_ISA_KERNEL(GruReset,
                    (int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* h_prev, T* s),
                    (batch, units, layout, x, h_prev, s))
CHAINERX_ISA_KERNEL(GruUpdate,
                    (int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* h_prev, T* h),
                    (batch, units, layout, x, h_prev, h))

// y = tanh(x) or relu(x), and gx from gy: a network without gates.
CHAINERX_ISA_KERNEL(SimpleRnnForward, (int64_t n, bool relu, const T* x, T* y), (n, relu, x, y))
CHAINERX_ISA_KERNEL(SimpleRnnBackward, (int64_t n, bool relu, const T* y, const T* gy, T* gx), (n, relu, y, gy, gx))

// One gate or state of a cell: that of unit u in row b is at data[b * row + u * unit].
template <class T>
struct CellPart {
    T* data;
    int64_t row;
    int64_t unit;
};

// A cell with any number of inputs and children, on pre-activations:
//   c = sum_j tanh(a_j) sigmoid(i_j) + sum_k sigmoid(f_k) c_k,  h = sigmoid(sum_l o_l) tanh(c)
// as pointers to as many parts: `a` and `i` of the inputs, `f` and `c` of the children, `o`.
template <class T>
struct TreeParts {
    int64_t inputs;
    int64_t children;
    int64_t outputs;
    const CellPart<T>* a;
    const CellPart<T>* i;
    const CellPart<T>* f;
    const CellPart<T>* c;
    const CellPart<T>* o;
};

CHAINERX_ISA_KERNEL(TreeLstmForward, (int64_t batch, int64_t units, const TreeParts<const T>& x, T* c, T* h),
                    (batch, units, x, c, h))

// The gradients `gx` of all parts from gc and gh, (batch, units); either of these may be null, for zero.
CHAINERX_ISA_KERNEL(TreeLstmBackward,
                    (int64_t batch, int64_t units, const TreeParts<const T>& x, const T* c, const T* gc, const T* gh,
                     const TreeParts<T>& gx),
                    (batch, units, x, c, gc, gh, gx))

}  // namespace chainerx::native
