#pragma once

#include "chainerx/python/common.h"
#include "chainerx_onnx/onnx.h"

namespace chainerx::python {

// What a model takes for an object: an array for anything that NumPy accepts, strings for arrays of them, a sequence
// for a list if the model takes one, a map for a dictionary, and nothing for None.
onnx::Value OnnxValueFromObject(PyObject* o, const onnx::ValueInfo& info, Device& device);

// An ndarray, an array of NumPy of strings, a list, a dictionary or None.
PyRef ObjectFromOnnxValue(const onnx::Value& value);

}  // namespace chainerx::python
