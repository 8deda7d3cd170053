#pragma once

#include <vector>

#include "chainerx/core/array.h"

namespace chainerx {

// Makes an array that belongs to no graph the result of an operation on `leaves` whose values are gone. Backward that
// reaches the array raises GradientError; UnchainBackward cuts it off like any other.
void LoseGraph(const Array& a, const std::vector<Array>& leaves);

}  // namespace chainerx
