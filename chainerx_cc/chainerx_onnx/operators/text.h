#pragma once

#include <string>

#include "chainerx_onnx/error.h"
#include "chainerx_onnx/value.h"

namespace chainerx::onnx {

// Raises ModelError for other values.
inline const Strings& StringsOf(const Value& value) {
    const auto* strings = value.As<Strings>();
    if (strings == nullptr) throw ModelError{"expected strings, and there is ", value.KindName()};
    return *strings;
}

// Strings of the same shape: a function of each.
template <class F>
Value MapStrings(const Strings& x, const F& function) {
    Strings y{x.shape, {}};
    y.items.reserve(x.items.size());
    for (const std::string& item : x.items) y.items.push_back(function(item));
    return Value::Of(std::move(y));
}

}  // namespace chainerx::onnx
