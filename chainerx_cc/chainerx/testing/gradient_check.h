#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backprop_id.h"

namespace chainerx {

using ArrayFunction = std::function<std::vector<Array>(const std::vector<Array>&)>;

// Compares gradients by backpropagation with central differences of width `eps` (one array for each input). Inputs must
// require gradients. Raises GradientCheckError with the first difference found.
void CheckBackward(const ArrayFunction& func, const std::vector<Array>& inputs, const std::vector<Array>& grad_outputs,
                   const std::vector<Array>& eps, double atol = 1e-5, double rtol = 1e-4,
                   const std::optional<BackpropId>& id = std::nullopt);

// The same for the gradients of gradients. `eps` has one array for each input, then for each output gradient.
void CheckDoubleBackward(const ArrayFunction& func, const std::vector<Array>& inputs,
                         const std::vector<Array>& grad_outputs, const std::vector<Array>& grad_grad_inputs,
                         const std::vector<Array>& eps, double atol = 1e-5, double rtol = 1e-4,
                         const std::optional<BackpropId>& id = std::nullopt);

}  // namespace chainerx
