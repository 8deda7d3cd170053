#include "chainerx_onnx/places_of_strings.h"

#include <string_view>
#include <unordered_map>

#include "chainerx/chainerx.h"
#include "chainerx_onnx/error.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {
namespace {

// All strings of a node's inputs, each of them once.
class Pool {
public:
    Array PlacesOf(const Strings& strings, Device& device) {
        std::vector<int64_t> places;
        for (const std::string& item : strings.items) {
            auto [it, is_new] = places_.emplace(item, items_.size());
            if (is_new) items_.push_back(&item);
            places.push_back(it->second);
        }
        return ToDevice(Reshape(IntsArray(places), strings.shape), device);
    }

    Strings StringsAt(const Array& places) const {
        Strings out{places.shape(), {}};
        for (int64_t place : ReadInts(places)) {
            if (place < 0 || place >= static_cast<int64_t>(items_.size())) {
                throw ModelError{"it makes elements that are not among its strings"};
            }
            out.items.push_back(*items_[place]);
        }
        return out;
    }

    // What moved places stand for, also in a sequence.
    Value Restored(const Value& value) const {
        if (value.array() && value.array().dtype() == Dtype::kInt64) return Value::Of(StringsAt(value.array()));
        const auto* sequence = value.As<Sequence>();
        if (sequence == nullptr) return value;
        Sequence out;
        for (const Value& item : sequence->items) out.items.push_back(Restored(item));
        return Value::Of(std::move(out));
    }

private:
    std::unordered_map<std::string_view, int64_t> places_;
    std::vector<const std::string*> items_;
};

Device& DeviceOf(const Values& values) {
    for (const Value& value : values) {
        if (value.array()) return value.array().device();
    }
    return HostDevice();
}

}  // namespace

Values RunOnPlaces(const Kernel& kernel, const Values& inputs, int n_outputs, bool moves) {
    Pool pool;
    Values places;
    Device& device = DeviceOf(inputs);
    bool has_strings = false;
    for (const Value& input : inputs) {
        const auto* strings = input.As<Strings>();
        has_strings = has_strings || strings != nullptr;
        places.push_back(strings == nullptr ? input : pool.PlacesOf(*strings, device));
    }
    Values ys = CallKernel(kernel, places, n_outputs);
    if (!moves || !has_strings) return ys;
    for (Value& y : ys) y = pool.Restored(y);
    return ys;
}

}  // namespace chainerx::onnx
