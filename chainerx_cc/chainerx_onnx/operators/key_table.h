#pragma once

#include <string>
#include <unordered_map>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

// Raises ModelError for other values.
inline const Strings& StringsOf(const Value& value) {
    const auto* strings = value.As<Strings>();
    if (strings == nullptr) throw ModelError{"expected strings, and there is ", value.KindName()};
    return *strings;
}

// Strings as Strings, and numbers as an array, of a list of an attribute: NAME_strings, NAME_int64s, NAME_floats or
// NAME_tensor. Nothing if there is none of them.
Value ListOf(const Node& node, const std::string& name);

// The strings of an attribute; if there are none, the integers of another one.
Value StringsOrInts(const Node& node, const char* strings, const char* integers);

// A vector of strings in one value.
inline Value VectorOf(std::vector<std::string> items) {
    auto n = static_cast<int64_t>(items.size());
    return Value::Of(Strings{Shape{n}, std::move(items)});
}

// The places of keys in a list of strings, integers or floats. The last of equal keys counts, and NaN equals NaN.
class KeyTable {
public:
    explicit KeyTable(const Value& keys);

    int64_t size() const { return size_; }
    bool is_text() const { return is_text_; }
    // The place of each element of an array or of strings; -1 if it is none of the keys.
    Ints PlacesOf(const Value& x) const;

private:
    Ints NumbersOf(const Array& x) const;

    bool is_text_;
    bool is_float_{false};
    int64_t size_;
    std::unordered_map<std::string, int64_t> strings_;
    std::unordered_map<int64_t, int64_t> numbers_;
};

// The shape of an array or of strings. Raises ModelError for other values.
const Shape& ShapeOfElements(const Value& x);

// An empty string or zero, as the items of a list are.
Value BlankOf(const Value& list);

// The items of a list at places of a shape, and those at -1 are the first of `missing`.
Value ItemsAt(const Value& list, const Ints& places, const Shape& shape, const Value& missing, Device& device);

}  // namespace chainerx::onnx
