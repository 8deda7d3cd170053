#include "chainerx/capture/recording.h"

#include <cstring>
#include <unordered_set>

#include "chainerx/core/device.h"
#include "chainerx/core/error.h"

namespace chainerx {

StoragePtr Recording::MakeStandIn(size_t bytes) {
    auto free = [](Storage* stand_in) noexcept { delete stand_in; };
    return StoragePtr{new Storage{nullptr, bytes, device, free, this}};
}

const Storage* Recording::AsRecorded(const Storage* storage) const {
    auto it = stand_ins.find(storage);
    return it == stand_ins.end() ? storage : it->second.get();
}

void Recording::CheckData(const std::vector<Array>& results) const {
    for (const auto& [storage, d] : data) {
        // Versions tell of kernels only; NumPy writes to the memory without one.
        if (storage->version() != d.version || std::memcmp(storage->data(), d.copy->data(), storage->bytes()) != 0) {
            throw ChainerxError{"an array made of data of the program changes"};
        }
    }
    for (const Array& a : results) {
        if (data.count(a.body()->storage.get()) != 0) {
            throw ChainerxError{"an array made of data of the program is a result"};
        }
    }
}

void Recording::CheckOrigins(const std::vector<Array>& inputs, const std::vector<Array>& held,
                             const std::vector<Array>& results) const {
    std::unordered_set<const Storage*> known;
    for (const auto& [storage, d] : data) known.insert(storage);
    for (const std::vector<Array>* arrays : {&inputs, &held}) {
        for (const Array& a : *arrays) known.insert(a.body()->storage.get());
    }
    // Such memory has no owner that guards watch: it may be that of another array at the next call.
    for (const auto& [storage, f] : found) {
        if (known.count(storage) == 0) throw ChainerxError{"an array whose origin is not known is used"};
    }
    for (const Array& a : results) {
        const Storage* storage = a.body()->storage.get();
        if (stand_ins.count(storage) == 0 && known.count(storage) == 0) {
            throw ChainerxError{"an array whose origin is not known is a result"};
        }
    }
    // Arrays are bound one by one, so a plan would not see that a write to one changes the other.
    for (const Array& a : held) {
        for (const Array& input : inputs) {
            if (a.body()->storage.get() == input.body()->storage.get()) {
                throw ChainerxError{"an argument shares memory with an array that the function finds elsewhere"};
            }
        }
    }
}

}  // namespace chainerx
