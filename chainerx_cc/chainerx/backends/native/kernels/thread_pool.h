#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/function_ref.h"

namespace chainerx::native {

// Runs body(begin, end) over disjoint ranges that cover [0, n), on this thread and the pool's workers, and returns when
// all are done. Their lengths differ by at most one, and none is shorter than `grain`. If n <= grain, inside another
// ParallelFor, or if the pool is busy with another caller, the body runs once, on this thread. The first exception
// thrown by a body is rethrown; ranges not yet started are then skipped.
//
// Workers are started at the first call that needs them, and again in a child after fork().
void ParallelFor(int64_t n, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> body);

// Threads a ParallelFor may use, the calling one included. The initial value is CHAINERX_NUM_THREADS, OMP_NUM_THREADS,
// OPENBLAS_NUM_THREADS or the number of processors this process may run on, whichever is set first in this order.
int GetNumThreads();

// Throws std::invalid_argument when num_threads < 1.
void SetNumThreads(int num_threads);

// True inside the body of a ParallelFor, where a nested one would run serially.
bool InParallelRegion();

}  // namespace chainerx::native
