#include "chainerx/ops/packed_blocks.h"

#include <algorithm>
#include <utility>

#include "chainerx/core/operands.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/check_like.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx {

const PackBlocksKernel kPackBlocksKernel{"pack_blocks"};

namespace {

constexpr const char* kPackedBlocksName = "product of blocks";

void CheckBlocks(const Array& q, const Array& scales, const std::optional<Array>& zeros, int64_t block) {
    if (q.dtype() != Dtype::kInt8 && q.dtype() != Dtype::kUInt8) {
        throw DtypeError{kPackedBlocksName, ": q has dtype ", q.dtype(), ", expected int8 or uint8"};
    }
    if (q.ndim() != 2) throw DimensionError{kPackedBlocksName, ": q of shape ", q.shape(), " is no matrix"};
    if (block < 1) throw ChainerxError{kPackedBlocksName, ": block is ", block, ", expected a positive number"};
    int64_t inner = q.shape()[1];
    Shape expected{q.shape()[0], inner / block + (inner % block != 0 ? 1 : 0)};
    if (!IsFloat(scales.dtype())) {
        throw DtypeError{kPackedBlocksName, ": scales have dtype ", scales.dtype(), ", expected floats"};
    }
    CheckLike(kPackedBlocksName, "scales", scales, expected, scales.dtype(), q.device());
    if (!zeros.has_value()) return;
    if (zeros->dtype() != q.dtype() && !IsFloat(zeros->dtype())) {
        throw DtypeError{kPackedBlocksName, ": zeros have dtype ", zeros->dtype(), ", expected ",
                         q.dtype(),         " or floats"};
    }
    CheckLike(kPackedBlocksName, "zeros", *zeros, expected, zeros->dtype(), q.device());
}

Array AsFloats(const Array& x) { return AsType(x.AsDetached(), Dtype::kFloat32); }

}  // namespace

Array DecodeBlocks(const Array& q, const Array& scales, const std::optional<Array>& zeros, int64_t block) {
    CheckBlocks(q, scales, zeros, block);
    int64_t inner = q.shape()[1];
    // Elements of a block along a row
    auto spread = [&](const Array& parameter) {
        int64_t width = std::min(block, std::max<int64_t>(inner, 1));
        return At(Repeat(AsFloats(parameter), {width}, 1), {Slice{}, Slice{0, inner, 1}});
    };
    Array y = AsFloats(q);
    if (zeros.has_value()) y = y - spread(*zeros);
    return y * spread(scales);
}

PackedBlockMatrix::PackedBlockMatrix(const Array& q, const Array& scales, const std::optional<Array>& zeros,
                                     int64_t block, BlockEpilogue epilogue)
    : device_{&q.device()}, epilogue_{std::move(epilogue)} {
    CheckBlocks(q, scales, zeros, block);
    columns_ = q.shape()[0];
    inner_ = q.shape()[1];
    if (epilogue_.bias) {
        CheckLike(kPackedBlocksName, "bias", epilogue_.bias, Shape{columns_}, Dtype::kFloat32, *device_);
        epilogue_.bias = MakeContiguousCopy(epilogue_.bias.AsDetached(), Dtype::kFloat32);
    }
    bool is_integral = !zeros.has_value() || zeros->dtype() == q.dtype();
    if (is_integral && device_->backend().FindKernel(kPackBlocksKernel) != nullptr) {
        packed_ = kPackBlocksKernel(*device_, q.AsDetached(), AsContiguous(AsFloats(scales)),
                                    zeros.has_value() ? AsContiguous(zeros->AsDetached()) : Array{}, block);
    } else {
        decoded_ = AsContiguous(Transpose(DecodeBlocks(q, scales, zeros, block)));
    }
}

Array PackedBlockMatrix::operator()(const Array& x) const {
    Shape shape = x.shape();
    if (shape.ndim() == 0 || shape.back() != inner_) {
        throw DimensionError{kPackedBlocksName, ": x of shape ", shape, " does not fit a matrix of shape ",
                             Shape{inner_, columns_}};
    }
    if (!IsFloat(x.dtype())) throw DtypeError{kPackedBlocksName, ": x has dtype ", x.dtype(), ", expected floats"};
    if (&x.device() != device_) ThrowDeviceMismatch(x.device(), *device_);
    Array input = Contiguous(AsFloats(x));
    if (packed_ == nullptr) {
        Array y = Matmul(input, decoded_);
        if (epilogue_.bias) y = y + epilogue_.bias;
        return AsType(epilogue_.use_relu ? Relu(y) : y, x.dtype(), false);
    }
    shape.back() = columns_;
    Array y = Empty(shape, Dtype::kFloat32, *device_);
    if (y.GetTotalSize() > 0) packed_->Run(input, epilogue_, y);
    return AsType(y, x.dtype(), false);
}

}  // namespace chainerx
