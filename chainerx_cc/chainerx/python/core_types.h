#pragma once

#include <pybind11/pybind11.h>

namespace chainerx::python {

// Contexts, backends, devices, backprop ids and scopes.
void InitCoreTypes(pybind11::module_& m);
void InitFunctionNode(pybind11::module_& m);
void InitNumpyViews(pybind11::module_& m);

}  // namespace chainerx::python
