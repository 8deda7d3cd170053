#include "chainerx/ops/packed_linear.h"

#include "chainerx/core/operands.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/check_like.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/linalg.h"

namespace chainerx {

const PackWeightsKernel kPackWeightsKernel{"pack_weights"};

namespace {

constexpr const char* kPackedLinearName = "packed linear";

std::unique_ptr<PackedWeights> Pack(const Array& w) {
    if (w.device().backend().FindKernel(kPackWeightsKernel) == nullptr) return nullptr;
    return kPackWeightsKernel(w.device(), w);
}

}  // namespace

PackedLinear::PackedLinear(const Array& w, const std::optional<Array>& b, bool use_relu)
    : dtype_{w.dtype()}, device_{&w.device()}, use_relu_{use_relu} {
    if (w.ndim() != 2) throw DimensionError{kPackedLinearName, ": w of shape ", w.shape(), " is no matrix"};
    inner_ = w.shape()[0];
    columns_ = w.shape()[1];
    if (b.has_value()) {
        CheckLike(kPackedLinearName, "b", *b, Shape{columns_}, dtype_, *device_);
        b_ = MakeContiguousCopy(b->AsDetached(), dtype_);
    }
    weights_ = Pack(w.AsDetached());
    if (weights_ == nullptr) w_ = MakeContiguousCopy(w.AsDetached(), dtype_);
}

Array PackedLinear::operator()(const Array& x) const {
    Shape shape = x.shape();
    if (shape.ndim() == 0 || shape.back() != inner_) {
        throw DimensionError{kPackedLinearName, ": x of shape ", shape, " does not fit w of shape ",
                             Shape{inner_, columns_}};
    }
    CheckLike(kPackedLinearName, "x", x, shape, dtype_, *device_);
    Array input = x.AsDetached();
    if (weights_ == nullptr) {
        Array y = Matmul(input, w_);
        if (b_) y = y + b_;
        return use_relu_ ? Relu(y) : y;
    }
    shape.back() = columns_;
    Array y = Empty(shape, dtype_, *device_);
    weights_->Run(Contiguous(input), b_, use_relu_, y);
    return y;
}

}  // namespace chainerx
