#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/shape.h"

namespace chainerx::onnx {

struct ConvolutionAttributes {
    Shape stride;
    Shape pad;  // the same before and behind
    Shape dilation;
    int64_t groups;
};

// A convolution with weights and a bias (or no array) that no run changes, and then relu if wanted. The weights are
// laid out once.
class PackedConvolution {
public:
    PackedConvolution(const Array& w, const Array& b, const ConvolutionAttributes& attributes, bool relu);
    Array operator()(const Array& x) const;

private:
    Array w_;
    Array b_;
    ConvolutionAttributes attributes_;
    bool relu_;
};

}  // namespace chainerx::onnx
