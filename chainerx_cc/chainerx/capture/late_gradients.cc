#include "chainerx/capture/late_gradients.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chainerx/capture/call_uses.h"
#include "chainerx/ops/convolution.h"

namespace chainerx {
namespace {

// The call before which the call `i` can run: the latest one, or itself.
size_t FindPlace(const Recording& recording, const CallUses& uses, size_t i,
                 const std::function<FusedMemory(const Storage&)>& get_memory) {
    if (!IsCallOf(recording.calls[i], kConvWeightKernel)) return i;
    std::vector<Array> arrays = ArraysOf(*recording.calls[i]);
    const Storage* gradient = arrays.back().body()->storage.get();
    const std::vector<size_t>& gradient_uses = uses.at(gradient);
    if (get_memory(*gradient) != FusedMemory::kGradient || gradient_uses.front() != i) return i;
    const std::vector<size_t>& ends = recording.segment_ends;
    auto end = std::upper_bound(ends.begin(), ends.end(), i);
    size_t place = end == ends.end() ? recording.calls.size() : *end;
    if (gradient_uses.size() > 1) place = std::min(place, gradient_uses[1]);
    std::unordered_set<const Storage*> operands;
    for (const Array& a : arrays) operands.insert(a.body()->storage.get());
    operands.erase(gradient);
    size_t kept = 0;  // bytes that would be free before
    for (const Storage* operand : operands) {
        if (!IsUnchanged(recording.calls, uses, *operand, i, place)) return i;
        if (get_memory(*operand) == FusedMemory::kScratch && uses.at(operand).back() < place) kept += operand->bytes();
    }
    return kept < gradient->bytes() ? place : i;
}

}  // namespace

bool DelayGradients(Recording& recording, const CallUses& uses,
                    const std::function<FusedMemory(const Storage&)>& get_memory) {
    KernelCalls& calls = recording.calls;
    std::vector<std::vector<size_t>> order(calls.size() + 1);  // by place
    bool has_moved = false;
    for (size_t i = 0; i < calls.size(); ++i) {
        size_t place = FindPlace(recording, uses, i, get_memory);
        has_moved |= place != i;
        order[place].push_back(i);
    }
    if (!has_moved) return false;
    KernelCalls ordered;
    for (const std::vector<size_t>& numbers : order) {
        for (size_t i : numbers) ordered.push_back(std::move(calls[i]));
    }
    calls = std::move(ordered);
    return true;
}

}  // namespace chainerx
