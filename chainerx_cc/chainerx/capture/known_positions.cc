#include "chainerx/capture/known_positions.h"

#include "chainerx/capture/call_uses.h"

namespace chainerx {

void KnownPositions::Begin(KernelCall& call) {
    counts_.clear();
    found_.clear();
    for (const Array& a : ArraysOf(call)) ++counts_[a.body()->storage.get()];
}

bool KnownPositions::Reads(const Array& a) {
    --counts_[a.body()->storage.get()];
    return true;
}

bool KnownPositions::Finds(const Array& a, const Range& range) {
    if (!IsAlone(a)) return false;
    found_.emplace_back(a, range);
    return true;
}

bool KnownPositions::Uses(const Array& a, const Range& range) {
    auto it = known_.find(a.body()->storage.get());
    if (it == known_.end() || !IsAlone(a)) return false;
    const Array& known = it->second.first;
    // Shapes may differ, as both are contiguous.
    bool is_same = known.offset() == a.offset() && known.GetTotalSize() == a.GetTotalSize();
    return is_same && it->second.second == range && Reads(a);
}

void KnownPositions::End() {
    for (const auto& [storage, count] : counts_) {
        if (count > 0) known_.erase(storage);
    }
    for (auto& [a, range] : found_) known_.insert_or_assign(a.body()->storage.get(), std::make_pair(a, range));
}

bool KnownPositions::IsAlone(const Array& a) const { return counts_.at(a.body()->storage.get()) == 1; }

}  // namespace chainerx
