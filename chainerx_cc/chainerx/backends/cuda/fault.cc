#include "chainerx/backends/cuda/fault.h"

#include "chainerx/core/error.h"

namespace chainerx::cuda {

void CheckFault(Fault* fault) {
    Fault found = *fault;
    auto kind = static_cast<FaultKind>(found.kind);
    if (kind != FaultKind::kIndex && kind != FaultKind::kLabel) return;  // none, or a kernel is writing it
    fault->kind = static_cast<int>(FaultKind::kNone);
    if (kind == FaultKind::kLabel) {
        throw IndexError{"softmax_cross_entropy: label ", found.value, " is out of range for ", found.bound,
                         " classes"};
    }
    throw IndexError{"indexing: index ", found.value, " is out of bounds for an axis with length ", found.bound};
}

}  // namespace chainerx::cuda
