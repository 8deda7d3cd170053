#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "chainerx/core/storage.h"

namespace chainerx {

// Memory that others provide, such as what processes share: pieces, each for an array of exactly its size. An array
// takes a free one for as long as it lives.
class Places final : public std::enable_shared_from_this<Places> {
public:
    explicit Places(const std::vector<StoragePtr>& pieces);
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;

    // An array's memory; null if no piece of this size is free. Needs a std::shared_ptr of this object.
    StoragePtr Take(size_t bytes, Device& device);

private:
    struct Place {
        explicit Place(StoragePtr storage) : piece{std::move(storage)} {}

        StoragePtr piece;
        std::atomic<bool> is_taken{false};
        std::shared_ptr<Places> places;  // of the array that is there
    };

    static void Leave(Storage* storage) noexcept;

    std::deque<Place> places_;
};

// Until LeavePlaces, which gives back those before, the arrays that the calling thread makes on the CPU take these
// places first.
void UsePlaces(std::shared_ptr<Places> places);
void LeavePlaces() noexcept;

StoragePtr TakeLargePlace(size_t bytes, Device& device);

// Memory for an array of that thread, if there is a place for it. Small arrays, which come most often, take none.
inline StoragePtr TakePlace(size_t bytes, Device& device) {
    constexpr size_t kSmallestPlace = size_t{1} << 18;
    return bytes < kSmallestPlace ? nullptr : TakeLargePlace(bytes, device);
}

}  // namespace chainerx
