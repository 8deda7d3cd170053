#include "chainerx/core/places.h"

#include <utility>
#include <vector>

#include "chainerx/core/device.h"

namespace chainerx {
namespace {

thread_local std::vector<std::shared_ptr<Places>> t_places;  // the last ones are in use

}  // namespace

Places::Places(const std::vector<StoragePtr>& pieces) {
    for (const StoragePtr& piece : pieces) places_.emplace_back(piece);
}

StoragePtr Places::Take(size_t bytes, Device& device) {
    for (Place& place : places_) {
        if (place.piece->bytes() != bytes || place.is_taken.exchange(true, std::memory_order_acquire)) continue;
        place.places = shared_from_this();
        return StoragePtr{new Storage{place.piece->data(), bytes, device, &Leave, &place}};
    }
    return nullptr;
}

void Places::Leave(Storage* storage) noexcept {
    auto* place = static_cast<Place*>(storage->owner());
    delete storage;
    std::shared_ptr<Places> places = std::move(place->places);  // ends after the place
    place->is_taken.store(false, std::memory_order_release);
}

void UsePlaces(std::shared_ptr<Places> places) { t_places.push_back(std::move(places)); }

void LeavePlaces() noexcept {
    if (!t_places.empty()) t_places.pop_back();
}

StoragePtr TakeLargePlace(size_t bytes, Device& device) {
    return t_places.empty() ? nullptr : t_places.back()->Take(bytes, device);
}

}  // namespace chainerx
