#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace chainerx::cuda {

// How libraries compute what they have been asked for, by everything on which the choice depends. To choose takes far
// longer than to find the last choice.
template <class T, size_t kKeyLength>
class Choices {
public:
    using Key = std::array<int64_t, kKeyLength>;
    using Ptr = std::shared_ptr<const T>;

    // Null if nothing was chosen.
    Ptr Find(const Key& key) {
        std::lock_guard<std::mutex> lock{mutex_};
        auto found = choices_.find(key);
        return found == choices_.end() ? nullptr : found->second;
    }
    void Add(const Key& key, Ptr choice) {
        std::lock_guard<std::mutex> lock{mutex_};
        if (choices_.size() >= kMaxChoices) choices_.clear();
        choices_[key] = std::move(choice);
    }

private:
    static constexpr size_t kMaxChoices = 4096;

    struct Hash {
        size_t operator()(const Key& key) const {
            uint64_t hash = 0;
            for (int64_t value : key) hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15U ^ (hash >> 29);
            return hash;
        }
    };

    std::mutex mutex_;
    std::unordered_map<Key, Ptr, Hash> choices_;
};

}  // namespace chainerx::cuda
