#pragma once

#include "chainerx/ops/rnn_network.h"

namespace chainerx::internal {

// Whether a backend's kernels for whole networks give what its kernels for layers do, for a small network and all of
// its gradients. `find_sizes` is asked for the sizes of that network. Waits for the device.
bool IsFusedRnnRight(RnnKind kind, Dtype dtype, Device& device, const FusedRnnSizesKernel::Function& find_sizes);

}  // namespace chainerx::internal
