#pragma once

// Errors that kernels find in their data. A kernel reports the first one to memory of the host and goes on with a
// harmless value, so that no call waits for the GPU; the next call that waits for the device raises the error.

#include <cuda_runtime.h>

#include <cstdint>

namespace chainerx::cuda {

enum class FaultKind : int { kBeingWritten = -1, kNone, kIndex, kLabel };

struct Fault {
    int kind;  // FaultKind
    int64_t value;
    int64_t bound;
};

__device__ inline void ReportFault(Fault* fault, FaultKind kind, int64_t value, int64_t bound) {
    constexpr int kNone = static_cast<int>(FaultKind::kNone);
    if (atomicCAS(&fault->kind, kNone, static_cast<int>(FaultKind::kBeingWritten)) != kNone) return;
    fault->value = value;
    fault->bound = bound;
    __threadfence_system();
    fault->kind = static_cast<int>(kind);
}

// Raises the reported error, if there is one, and forgets it. The device's work must be done.
void CheckFault(Fault* fault);

}  // namespace chainerx::cuda
