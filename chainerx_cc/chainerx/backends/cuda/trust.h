#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "chainerx/core/device.h"

namespace chainerx::cuda {

// Whether the work of the current stream is recorded, by this library or another one.
bool IsCaptured(const Device& device);

enum class Verdict { kSame, kDifferent, kUnsupported };

// What functions of a library have been seen to give, beside the kernels that the backend has for the same: no GPU may
// have run them yet.
template <class Key>
class Trust {
public:
    // Whether they give the same. For a new key, compare() tells, and warn() is called if they differ. Finding out
    // waits for the device, which recorded work cannot do.
    template <class Compare, class Warn>
    bool Ask(const Key& key, const Device& device, Compare&& compare, Warn&& warn) {
        if (std::optional<Verdict> found = Find(key)) return *found == Verdict::kSame;
        if (IsCaptured(device)) return false;
        Verdict verdict = compare();
        if (Add(key, verdict) && verdict == Verdict::kDifferent) warn();
        return verdict == Verdict::kSame;
    }

private:
    std::optional<Verdict> Find(const Key& key) {
        std::lock_guard<std::mutex> lock{mutex_};
        auto found = verdicts_.find(key);
        return found == verdicts_.end() ? std::nullopt : std::optional{found->second};
    }
    // False if there is one.
    bool Add(const Key& key, Verdict verdict) {
        std::lock_guard<std::mutex> lock{mutex_};
        return verdicts_.emplace(key, verdict).second;
    }

    std::mutex mutex_;
    std::map<Key, Verdict> verdicts_;
};

}  // namespace chainerx::cuda
