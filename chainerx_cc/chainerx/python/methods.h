#pragma once

#include <Python.h>

#include "chainerx/core/array.h"

namespace chainerx::python {

constexpr double kArrayPriority = 100;  // ndarray's `__array_priority__`

// Methods and properties of ndarray that do not come from ops.
void AddNdarrayMethods();
PyGetSetDef* NdarrayGetSets();
PyObject* Repr(PyObject* self);
PyObject* Str(PyObject* self);
Array MatmulArrays(const Array& a, const Array& b);

}  // namespace chainerx::python
