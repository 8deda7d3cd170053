#pragma once

// The documentation that Python shows.
//
// The text of an operation is beside its declaration, other texts are in python/docs/, in Google's style. An example
// comes last and begins with ">>>"; the tests run it. A word after "@" is replaced by the description of a common
// argument or error; doc.cc has the list.

#include <string>
#include <string_view>

#include "chainerx/ops/elementwise.h"

namespace chainerx::python {

// The text as Python shows it.
std::string FormatDoc(std::string_view text);

// The same for a method of ndarray, without the first argument, which is the array.
std::string FormatMethodDoc(const std::string& text);

// The same as a pointer that stays valid as long as the process.
const char* KeepDoc(const char* text);

// Adds the argument `out` behind the others.
std::string AddOut(const std::string& text);

// Completes the documentation of an elementwise op from its declaration: arguments, dtypes, errors and whether it is
// differentiable. Bit i of `grads` tells whether there is a gradient of input i. The result is valid until the next
// call.
const char* DescribeElementwise(const char* text, const char* signature, const ElementwiseInfo& info, int n_inputs,
                                unsigned grads);

}  // namespace chainerx::python
