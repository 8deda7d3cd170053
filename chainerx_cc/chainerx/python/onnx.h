#pragma once

#include <Python.h>

namespace chainerx::python {

void BindOnnx();
void AddOnnx(PyObject* module);

}  // namespace chainerx::python
