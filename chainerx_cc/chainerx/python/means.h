#pragma once

#include <Python.h>

namespace chainerx::python {

void AddPlaces(PyObject* module);

}  // namespace chainerx::python
