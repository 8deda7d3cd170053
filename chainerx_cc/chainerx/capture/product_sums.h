#pragma once

#include <functional>

#include "chainerx/capture/fusion.h"
#include "chainerx/capture/recording.h"

namespace chainerx {

// Makes one call of products of matrices that are added one after the other, such as the gradients of weights that many
// steps share. It leaves null calls where the products were.
void JoinProductSums(Recording& recording, const std::function<FusedMemory(const Storage&)>& get_memory);

}  // namespace chainerx
