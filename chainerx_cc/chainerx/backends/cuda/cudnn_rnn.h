#pragma once

#include <optional>

#include "chainerx/ops/rnn_network.h"

namespace chainerx::cuda {

// Whether cuDNN has been seen to compute networks of this kind and dtype as layers do.
bool IsRnnTrusted(const FusedRnn& network, FusedRnnSizesKernel::Function* ask_for_sizes);

}  // namespace chainerx::cuda
