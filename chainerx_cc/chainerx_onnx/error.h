#pragma once

#include "chainerx/core/error.h"

namespace chainerx::onnx {

// A model is broken, asks for what is not supported, or got inputs that it cannot take. The message names the node,
// tensor or input.
class ModelError : public ChainerxError {
public:
    using ChainerxError::ChainerxError;
};

}  // namespace chainerx::onnx
