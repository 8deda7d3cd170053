#pragma once

#include "chainerx/core/array.h"

namespace chainerx::onnx {

// y = x w + b, and then relu if wanted, for a matrix w (inner, columns) and a vector b, or no array, that no run
// changes. The leading axes of x are kept.
class Dense {
public:
    Dense(const Array& w, const Array& b, bool relu);
    Array operator()(const Array& x) const;

private:
    Array w_;  // contiguous
    Array b_;
    bool relu_;
};

}  // namespace chainerx::onnx
