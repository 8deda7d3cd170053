#pragma once

#include <Python.h>

namespace chainerx::python {

void BindDeviceGroups();
void AddDeviceGroups(PyObject* module);

}  // namespace chainerx::python
