#include "chainerx/backends/native/threads.h"

#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {

int GetThreadCount() { return GetNumThreads(); }
void SetThreadCount(int n) { SetNumThreads(n); }

}  // namespace chainerx::native
