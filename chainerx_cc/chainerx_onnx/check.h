#pragma once

#include "chainerx_onnx/model.h"

namespace chainerx::onnx {

// Checks what makes a model meaningful before anything is planned: versions of the operators that are known, names that
// are given once and before they are used (so that nodes form no cycles), and functions that do not call themselves.
// Raises ModelError, whose message names the node, value or function.
void CheckModel(const ModelMessage& model);

}  // namespace chainerx::onnx
