#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernel_watch.h"

namespace chainerx {

// Recorded calls, in order; rewriting leaves null ones where there are no more calls.
using KernelCalls = std::vector<std::unique_ptr<KernelCall>>;
// For some memory, the numbers of the calls that use it, in order.
using CallUses = std::unordered_map<const Storage*, std::vector<size_t>>;

inline bool IsCallOf(const std::unique_ptr<KernelCall>& call, const KernelSlotBase& slot) {
    return call != nullptr && call->slot() == slot;
}

// Whether an array has all of its memory, in order.
inline bool IsWhole(const Array& a) {
    return a.IsContiguous() && a.offset() == 0 && static_cast<size_t>(a.GetNBytes()) == a.body()->storage->bytes();
}

std::vector<Array> ArraysOf(KernelCall& call);
CallUses FindUses(const KernelCalls& calls);
// Whether the calls between two others only read some memory, as far as is known.
bool IsUnchanged(const KernelCalls& calls, const CallUses& uses, const Storage& memory, size_t after, size_t before);

}  // namespace chainerx
