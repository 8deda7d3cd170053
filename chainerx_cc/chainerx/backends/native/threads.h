#pragma once

namespace chainerx::native {

// Threads that kernels may use, the calling one included.
int GetThreadCount();
void SetThreadCount(int n);

}  // namespace chainerx::native
