#pragma once

#include <Python.h>

#include <string>
#include <vector>

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

// Arrays, with no array in the place of None; none for None.
std::vector<Array> WithNone(PyObject* o, const char* name);

}  // namespace chainerx::python
