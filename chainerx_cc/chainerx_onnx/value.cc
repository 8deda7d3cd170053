#include "chainerx_onnx/value.h"

namespace chainerx::onnx {

const char* Value::KindName() const {
    constexpr const char* kNames[] = {"strings", "a sequence", "a map"};
    if (other_) return kNames[other_->content.index()];
    return array_ ? "an array" : "nothing";
}

}  // namespace chainerx::onnx
