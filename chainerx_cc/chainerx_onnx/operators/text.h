#pragma once

#include "chainerx_onnx/error.h"
#include "chainerx_onnx/value.h"

namespace chainerx::onnx {

// Raises ModelError for other values.
inline const Strings& StringsOf(const Value& value) {
    const auto* strings = value.As<Strings>();
    if (strings == nullptr) throw ModelError{"expected strings, and there is ", value.KindName()};
    return *strings;
}

}  // namespace chainerx::onnx
