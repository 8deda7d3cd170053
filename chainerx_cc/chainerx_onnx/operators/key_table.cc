#include "chainerx_onnx/operators/key_table.h"

#include <cmath>
#include <cstring>

namespace chainerx::onnx {
namespace {

// Bits that are equal for equal floats.
int64_t BitsOf(double value) {
    if (std::isnan(value)) return INT64_MIN + 1;  // the bits of no other number
    value += 0.0;                                 // no negative zero
    int64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

}  // namespace

Value ListOf(const Node& node, const std::string& name) {
    std::string strings = name + "_strings";
    std::string integers = name + "_int64s";
    std::string floats = name + "_floats";
    std::string tensor = name + "_tensor";
    if (node.Has(strings.c_str())) return VectorOf(node.Strings(strings.c_str()));
    if (node.Has(integers.c_str())) return IntsArray(node.Ints(integers.c_str()));
    if (node.Has(floats.c_str())) return FloatsArray(node.Floats(floats.c_str()));
    if (!node.Has(tensor.c_str())) return Value{};
    Value value = node.TensorOrStrings(tensor.c_str());
    if (value.array()) return Ravel(ToDevice(value.array(), HostDevice()));
    return VectorOf(StringsOf(value).items);
}

Value StringsOrInts(const Node& node, const char* strings, const char* integers) {
    std::vector<std::string> items = node.StringsOrNone(strings);
    return items.empty() ? Value{IntsArray(node.IntsOrNone(integers))} : VectorOf(std::move(items));
}

KeyTable::KeyTable(const Value& keys) : is_text_{keys.As<Strings>() != nullptr} {
    if (is_text_) {
        const std::vector<std::string>& items = keys.As<Strings>()->items;
        size_ = static_cast<int64_t>(items.size());
        for (int64_t i = 0; i < size_; ++i) strings_[items[i]] = i;
        return;
    }
    if (!keys.array()) throw ModelError{"it has no keys"};
    is_float_ = IsFloat(keys.array().dtype());
    Ints numbers = NumbersOf(keys.array());
    size_ = static_cast<int64_t>(numbers.size());
    for (int64_t i = 0; i < size_; ++i) numbers_[numbers[i]] = i;
}

Ints KeyTable::NumbersOf(const Array& x) const {
    if (!is_float_) return ReadInts(x);
    Array host = InHostMemory(x);
    Ints out;
    for (int64_t i = 0; i < host.GetTotalSize(); ++i) out.push_back(BitsOf(host.data<double>()[i]));
    return out;
}

Ints KeyTable::PlacesOf(const Value& x) const {
    Ints out;
    auto look_up = [&](const auto& table, const auto& keys) {
        for (const auto& key : keys) {
            auto it = table.find(key);
            out.push_back(it == table.end() ? -1 : it->second);
        }
    };
    if (is_text_) {
        look_up(strings_, StringsOf(x).items);
    } else if (x.array()) {
        look_up(numbers_, NumbersOf(x.array()));
    } else {
        throw ModelError{"expected numbers, and there is ", x.KindName()};
    }
    return out;
}

const Shape& ShapeOfElements(const Value& x) { return x.array() ? x.array().shape() : StringsOf(x).shape; }

Value BlankOf(const Value& list) { return list.As<Strings>() != nullptr ? VectorOf({""}) : Value{IntsArray({0})}; }

Value ItemsAt(const Value& list, const Ints& places, const Shape& shape, const Value& missing, Device& device) {
    if (const auto* strings = list.As<Strings>()) {
        Strings out{shape, {}};
        const std::string& none = StringsOf(missing).items.at(0);
        for (int64_t place : places) out.items.push_back(place < 0 ? none : strings->items[place]);
        return Value::Of(std::move(out));
    }
    // What is missing stands behind the others.
    Array one = SliceAxis(Ravel(Cast(missing.array(), list.array().dtype())), 0, 0, 1);
    Array all = Concatenate({list.array(), one}, 0);
    Ints at = places;
    for (int64_t& place : at) place = place < 0 ? list.array().GetTotalSize() : place;
    return ToDevice(Reshape(Take(all, at, 0), shape), device);
}

}  // namespace chainerx::onnx
