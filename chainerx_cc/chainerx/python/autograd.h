#pragma once

#include <Python.h>

#include <optional>
#include <string>
#include <vector>

#include "chainerx/autograd/backward.h"
#include "chainerx/core/backprop_id.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {

template <>
struct Arg<BackpropId> {
    static std::string Type() { return "BackpropId"; }
    static BackpropId Get(PyObject* o, const char* name);
};

// Means all graphs in is_backprop_required.
struct AnyGraph {};
template <>
struct Arg<AnyGraph> {
    static std::string Type() { return "AnyGraph"; }
    static bool Accepts(PyObject* o);
    static AnyGraph Get(PyObject*, const char*) { return {}; }
};

// With `retain_grad`, all arrays that Python programs see get their gradients.
BackwardOptions Options(bool enable_double_backprop, std::optional<double> loss_scale, bool retain_grad);

// The names of the graphs to which the array belongs: ['<default>', ...]
std::string GraphNames(const Array& a);

// Arrays of a list, with no array for each None; an empty list for None.
std::vector<Array> WithNone(PyObject* o, const char* name);

}  // namespace chainerx::python
