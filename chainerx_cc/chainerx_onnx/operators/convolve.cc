#include "chainerx_onnx/operators/convolve.h"

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

PackedConvolution::PackedConvolution(const Array& w, const Array& b, const ConvolutionAttributes& attributes, bool relu)
    : w_{AsContiguous(w)}, b_{b}, attributes_{attributes}, relu_{relu} {}

Array PackedConvolution::operator()(const Array& x) const {
    const ConvolutionAttributes& a = attributes_;
    Array y = Conv(x, w_, b_ ? std::optional{b_} : std::nullopt, PerAxis{a.stride}, PerAxis{a.pad}, false, a.groups,
                   PerAxis{a.dilation});
    return relu_ ? Relu(y) : y;
}

}  // namespace chainerx::onnx
