#include "chainerx/backends/cuda/fault.h"

#include "chainerx/core/error.h"

namespace chainerx::cuda {

void CheckFault(Fault* fault) {
    Fault found = *fault;
    // Another stream may be writing.
    if (found.kind != static_cast<int>(FaultKind::kIndex) && found.kind != static_cast<int>(FaultKind::kLabel)) return;
    fault->kind = static_cast<int>(FaultKind::kNone);
    if (found.kind == static_cast<int>(FaultKind::kLabel)) {
        throw IndexError{"softmax_cross_entropy: label ", found.value, " is out of range for ", found.bound,
                         " classes"};
    }
    throw IndexError{"indexing: index ", found.value, " is out of bounds for an axis with length ", found.bound};
}

}  // namespace chainerx::cuda
