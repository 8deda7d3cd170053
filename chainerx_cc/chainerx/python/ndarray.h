#pragma once

#include <Python.h>

#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/python/common.h"

namespace chainerx::python {

// chainerx.ndarray: a reference to an array. An array has at most one such object at a time.
struct NdarrayObject {
    PyObject_HEAD Array array;
    PyObject* weakrefs;
    // The array that __setstate__ replaced: calls and buffers may still use it.
    std::vector<Array>* replaced;
};

extern PyTypeObject* g_ndarray_type;

inline bool IsNdarray(PyObject* o) { return Py_TYPE(o) == g_ndarray_type; }
inline const Array& GetArray(PyObject* o) { return reinterpret_cast<NdarrayObject*>(o)->array; }

// New reference; None for no array.
PyObject* ToPython(Array a);

// Creates the type, with the methods of all registered ops.
void InitNdarray(PyObject* module);

}  // namespace chainerx::python
