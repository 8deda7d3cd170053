#pragma once

#include <Python.h>

namespace chainerx::python {

// Adds the exception classes to the module.
void InitErrors(PyObject* module);

}  // namespace chainerx::python
