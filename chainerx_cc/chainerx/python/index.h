#pragma once

#include <Python.h>

#include "chainerx/ops/indexing.h"

namespace chainerx::python {

// The index expression of `a[key]`.
ArrayIndices GetIndices(PyObject* key, const Array& a);

}  // namespace chainerx::python
