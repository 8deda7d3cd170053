#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "chainerx/backends/cuda/fault.h"

namespace chainerx::cuda {

__device__ inline void ReportFault(Fault* fault, FaultKind kind, int64_t value, int64_t bound) {
    constexpr int kNone = static_cast<int>(FaultKind::kNone);
    if (atomicCAS(&fault->kind, kNone, static_cast<int>(FaultKind::kBeingWritten)) != kNone) return;
    fault->value = value;
    fault->bound = bound;
    __threadfence_system();
    fault->kind = static_cast<int>(kind);
}

}  // namespace chainerx::cuda
