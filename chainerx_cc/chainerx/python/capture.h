#pragma once

#include <Python.h>

namespace chainerx::python {

void AddCapture(PyObject* module);  // recorders, plans and watches

}  // namespace chainerx::python
