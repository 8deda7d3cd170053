#pragma once

#include <functional>

#include "chainerx/capture/call_uses.h"
#include "chainerx/capture/fusion.h"
#include "chainerx/capture/recording.h"
#include "chainerx/core/storage.h"

namespace chainerx {

// Lets a convolution's gradient of a weight wait until something reads it, if operands that must live longer for that
// take less memory than the gradient. Gradients of wide layers, made of few activations, then need memory when most
// activations are gone. Results stay the same to the last bit. Returns whether any waits; `uses` are those of before.
bool DelayGradients(Recording& recording, const CallUses& uses,
                    const std::function<FusedMemory(const Storage&)>& get_memory);

}  // namespace chainerx
