#pragma once

#include <Python.h>

#include <string>

#include "chainerx/core/backprop_id.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {

template <>
struct Arg<BackpropId> {
    static BackpropId Get(PyObject* o, const char* name);
};

bool IsAnyGraph(PyObject* o);
// ['<default>', ...] of the graphs to which the array belongs
std::string GraphNames(const Array& a);

}  // namespace chainerx::python
