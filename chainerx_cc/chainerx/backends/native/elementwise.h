#pragma once

#include <array>
#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/dtype.h"
#include "chainerx/core/loop_nest.h"
#include "chainerx/ops/elementwise.h"

namespace chainerx::native {

// Processes `n` elements: pointers and strides (bytes) of the output and the inputs.
using RowFunction = void (*)(const void* op, int64_t n, char* const* data, const int64_t* strides);

// Runs a row function over all elements of a call.
void RunRows(const ElementwiseCall& call, RowFunction row);

using RowTable = std::array<RowFunction, kNumDtypes>;

// The row functions of an op (`T`) by dtype; null where it does not compute in the dtype.
CHAINERX_ISA_KERNEL(GetRows, (RowTable * rows), (rows))
// Adds those of complex dtypes, which all instruction sets share.
template <class Op>
void AddComplexRows(RowTable* rows);

template <class Op>
RowTable MakeRowTable() {
    RowTable rows;
    GetRows<Op>(&rows);
    if constexpr ((Op::kDtypes & kComplexSet) != 0) AddComplexRows<Op>(&rows);
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

}  // namespace chainerx::native
