#pragma once

// What Python shows as documentation.
//
// It is written in Google's style, beside the declaration of an operation, or in python/docs/ for the rest. An
// example comes last, from the first line that begins with ">>>"; the tests run it. A word after "@" stands for the
// description of an argument or error that many functions have; doc.cc has the list.

#include <string>
#include <string_view>

#include "chainerx/ops/elementwise.h"

namespace chainerx::python {

// The documentation as Python shows it.
std::string FormatDoc(std::string_view text);

// The same for the method of ndarray: without the first argument, which is the array.
std::string FormatMethodDoc(const std::string& text);

// The same for what takes a pointer; kept as long as the process.
const char* KeepDoc(const char* text);

// Adds to the documentation of an elementwise op what follows from its declaration: arguments, dtypes, errors and
// whether it is differentiable. Bit i of `grads` tells whether there is a gradient of input i. The result is valid
// until the next call.
const char* DescribeElementwise(const char* text, const char* signature, const ElementwiseInfo& info, int n_inputs,
                                unsigned grads);

}  // namespace chainerx::python
