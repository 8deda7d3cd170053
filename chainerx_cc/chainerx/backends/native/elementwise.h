#pragma once

#include <array>
#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/dtype.h"
#include "chainerx/ops/elementwise.h"

namespace chainerx::native {

// Processes `n` elements: pointers and strides (bytes) of the output and the inputs.
using RowFunction = void (*)(const void* op, int64_t n, char* const* data, const int64_t* strides);

// Runs a row function over all elements of a call.
void RunRows(const ElementwiseCall& call, RowFunction row);

using RowTable = std::array<RowFunction, kNumDtypes>;

// The row functions of an op (`T`) by dtype; null where it does not compute in the dtype.
CHAINERX_ISA_KERNEL(GetRows, (RowTable * rows), (rows))

template <class Op>
RowTable MakeRowTable() {
    RowTable rows;
    GetRows<Op>(&rows);
    return rows;
}

template <class Op>
inline const RowTable g_rows = MakeRowTable<Op>();

template <class Op>
void ElementwiseKernelOf(const ElementwiseCall& call) {
    RunRows(call, g_rows<Op>[static_cast<int>(call.dtype)]);
}

// Makes the kernel of an op from its rows.
template <class Op>
void RegisterElementwise(Backend& backend) {
    Op::kernel().Register(backend, &ElementwiseKernelOf<Op>);
}

#define CHAINERX_REGISTER_ELEMENTWISE(Op) RegisterElementwise<ops::Op>(backend);

// Loops over views: dimensions that can be merged are merged, and the longest runs go innermost.
struct LoopNest {
    static constexpr int kMaxOperands = kMaxElementwiseInputs + 1;

    LoopNest(const Shape& shape, int n_operands, const Strides* strides);

    int n_operands;
    int ndim{0};
    int64_t size;
    int64_t lengths[kMaxNdim];  // outermost first
    int64_t strides[kMaxNdim][kMaxOperands];

    // Calls f(n, pointers) for the rows among [begin, end) of the outer iterations.
    template <class F>
    void ForRows(char* const* data, int64_t begin, int64_t end, F&& f) const {
        int64_t index[kMaxNdim];
        char* p[kMaxOperands];
        for (int k = 0; k < n_operands; ++k) p[k] = data[k];
        int64_t rest = begin;
        for (int d = ndim - 2; d >= 0; --d) {
            index[d] = rest % lengths[d];
            rest /= lengths[d];
            for (int k = 0; k < n_operands; ++k) p[k] += index[d] * strides[d][k];
        }
        for (int64_t i = begin; i < end; ++i) {
            f(lengths[ndim - 1], p);
            for (int d = ndim - 2; d >= 0; --d) {
                for (int k = 0; k < n_operands; ++k) p[k] += strides[d][k];
                if (++index[d] < lengths[d]) break;
                for (int k = 0; k < n_operands; ++k) p[k] -= lengths[d] * strides[d][k];
                index[d] = 0;
            }
        }
    }
    int64_t OuterSize() const {
        int64_t n = 1;
        for (int d = 0; d < ndim - 1; ++d) n *= lengths[d];
        return n;
    }
};

}  // namespace chainerx::native
