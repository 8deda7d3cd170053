#include "chainerx/core/kernels.h"

#include <algorithm>
#include <cstring>

namespace chainerx {

const FillKernel kFillKernel{"fill", kTakesComplex};
const CopyKernel kCopyKernel{"copy", kTakesComplex};
const ParallelForKernel kParallelForKernel{"parallel_for"};
const ElementwiseKernel kAddKernel{"add"};
const ElementwiseKernel kMultiplyKernel{"multiply"};

KeptArgument<ElementwiseCall>::KeptArgument(const GivenArgument<ElementwiseCall>& given) : call{given.value} {
    auto bytes = static_cast<size_t>(given.slot.functor_bytes());
    functor.resize(std::max(bytes, size_t{1}) / sizeof(std::max_align_t) + 1);
    if (bytes != 0) std::memcpy(functor.data(), given.value.op, bytes);
    call.op = functor.data();
    arrays[0] = internal::KeptArray(*given.value.out);
    call.out = &arrays[0];
    for (int i = 0; i < call.n_inputs; ++i) {
        if (given.value.in[i] == nullptr) continue;
        arrays[1 + i] = internal::KeptArray(*given.value.in[i]);
        call.in[i] = &arrays[1 + i];
    }
}

void KeptArgument<ElementwiseCall>::Accept(ArgumentVisitor& visitor) {
    for (Array& a : arrays) visitor.Visit(a);
}

Array FilledArray(const Shape& shape, const Scalar& value, Dtype dtype, Device& device) {
    CheckScalarFits(value, dtype);
    Array out = Empty(shape, dtype, device);
    kFillKernel(device, out, value);
    return out;
}

}  // namespace chainerx
