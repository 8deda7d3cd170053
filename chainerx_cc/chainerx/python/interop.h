#pragma once

#include <Python.h>

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/python/common.h"

namespace chainerx::python {

// An array from anything that NumPy accepts. Without `copy`, shares the memory of a buffer if possible.
Array ArrayFromObject(PyObject* o, std::optional<Dtype> dtype, Device& device, bool copy = true);

// An array over memory that `base` owns and keeps alive.
Array ShareMemory(void* data, const Shape& shape, const Strides& strides, Dtype dtype, Device& device, PyObject* base,
                  int64_t offset = 0);

// The same memory in another dtype of the same width.
Array ViewBits(const Array& a, Dtype dtype);

// A numpy.ndarray, outside of graphs.
PyRef ToNumpy(const Array& a, bool copy);
void CheckNoGraph(const Array& a, const char* what);

PyRef ItemOf(const Array& a);  // the only element as a Python number

// The buffer protocol of ndarray.
int GetBuffer(PyObject* self, Py_buffer* view, int flags) noexcept;
void ReleaseBuffer(PyObject* self, Py_buffer* view) noexcept;

}  // namespace chainerx::python
