#include "chainerx/ops/quantization.h"

#include "chainerx/core/operands.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/check_like.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"

namespace chainerx {

const QuantizeKernel kQuantizeKernel{"quantize"};
const DequantizeKernel kDequantizeKernel{"dequantize"};
const QuantizeDynamicallyKernel kQuantizeDynamicallyKernel{"quantize_dynamically"};

namespace {

// Checks operands of which `bytes` are the numbers as such.
void CheckOperands(const char* op, const Array& x, const Array& scale, const Array& zero, Dtype bytes) {
    if (bytes != Dtype::kInt8 && bytes != Dtype::kUInt8) {
        throw DtypeError{op, ": the dtype is ", bytes, ", expected int8 or uint8"};
    }
    CheckLike(op, "scale", scale, scale.shape(), Dtype::kFloat32, x.device());
    CheckLike(op, "zero", zero, zero.shape(), bytes, x.device());
    if (scale.GetTotalSize() != 1 || zero.GetTotalSize() != 1) {
        throw DimensionError{op,           ": scale of shape ",     scale.shape(), " and zero of shape ",
                             zero.shape(), " must have one element"};
    }
}

void CheckFloats(const char* op, const Array& x) {
    if (x.dtype() != Dtype::kFloat32) throw DtypeError{op, ": x has dtype ", x.dtype(), ", expected float32"};
}

Array Single(const Array& a, Dtype dtype) { return AsType(Reshape(a.AsDetached(), Shape{}), dtype); }

}  // namespace

Array QuantizeBytes(const Array& x_, const Array& scale, const Array& zero) {
    constexpr const char* kName = "quantize";
    CheckFloats(kName, x_);
    CheckOperands(kName, x_, scale, zero, zero.dtype());
    Array x = x_.AsDetached();
    if (HasKernel(x, kQuantizeKernel)) {
        Array y = Empty(x.shape(), zero.dtype(), x.device());
        kQuantizeKernel(x.device(), Contiguous(x), scale.AsDetached(), zero.AsDetached(), y);
        return y;
    }
    double least = zero.dtype() == Dtype::kInt8 ? -128 : 0;
    Array y = Rint(x / Single(scale, Dtype::kFloat32)) + Single(zero, Dtype::kFloat32);
    return AsType(Minimum(Maximum(y, Scalar{least}), Scalar{least + 255}), zero.dtype());
}

Array DequantizeBytes(const Array& x_, const Array& scale, const Array& zero) {
    CheckOperands("dequantize", x_, scale, zero, x_.dtype());
    Array x = x_.AsDetached();
    if (HasKernel(x, kDequantizeKernel)) {
        Array y = Empty(x.shape(), Dtype::kFloat32, x.device());
        kDequantizeKernel(x.device(), Contiguous(x), scale.AsDetached(), zero.AsDetached(), y);
        return y;
    }
    return (AsType(x, Dtype::kFloat32) - Single(zero, Dtype::kFloat32)) * Single(scale, Dtype::kFloat32);
}

DynamicallyQuantized QuantizeDynamically(const Array& x_) {
    CheckFloats("quantize dynamically", x_);
    Array x = x_.AsDetached();
    Device& device = x.device();
    if (HasKernel(x, kQuantizeDynamicallyKernel)) {
        DynamicallyQuantized out{Empty(x.shape(), Dtype::kUInt8, device), Empty(Shape{}, Dtype::kFloat32, device),
                                 Empty(Shape{}, Dtype::kUInt8, device)};
        kQuantizeDynamicallyKernel(device, Contiguous(x), out);
        return out;
    }
    bool is_empty = x.GetTotalSize() == 0;
    Array none = Zeros(Shape{}, Dtype::kFloat32, device);
    Array most = is_empty ? none : Maximum(AMax(x), Scalar{0});
    Array least = is_empty ? none : Minimum(AMin(x), Scalar{0});
    Array scale = (most - least) / Scalar{255.0};
    scale = Where(Equal(scale, Scalar{0}), Scalar{1}, scale);
    Array zero = QuantizeBytes(Negative(least), scale, Zeros(Shape{}, Dtype::kUInt8, device));
    return {QuantizeBytes(x, scale, zero), scale, zero};
}

}  // namespace chainerx
