#pragma once

#include <functional>

#include "cuda_runtime.h"

namespace cuda_emulation {

// Runs all threads of a grid, block by block. One grid runs at a time.
void RunGrid(dim3 grid, dim3 block, const std::function<void()>& thread);

}  // namespace cuda_emulation
