#include "chainerx/core/kernels.h"

namespace chainerx {

const FillKernel kFillKernel{"fill"};
const CopyKernel kCopyKernel{"copy"};
const ElementwiseKernel kAddKernel{"add"};
const ElementwiseKernel kMultiplyKernel{"multiply"};

Array FilledArray(const Shape& shape, const Scalar& value, Dtype dtype, Device& device) {
    CheckScalarFits(value, dtype);
    Array out = Empty(shape, dtype, device);
    kFillKernel(device, out, value);
    return out;
}

}  // namespace chainerx
