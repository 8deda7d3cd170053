#include "chainerx/ops/packed_integers.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/core/operands.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/check_like.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx {

const PackIntegersKernel kPackIntegersKernel{"pack_integers"};

namespace {

constexpr const char* kPackedIntegersName = "integer matmul";

void CheckBytes(const char* name, const Array& x) {
    if (x.dtype() != Dtype::kInt8 && x.dtype() != Dtype::kUInt8) {
        throw DtypeError{kPackedIntegersName, ": ", name, " has dtype ", x.dtype(), ", expected int8 or uint8"};
    }
}

// The zero points of an operand as int32: one element, or one for each of its rows (or columns), whose shape with the
// leading dimensions is `shape`. No array for none.
Array ZerosOf(const char* name, const std::optional<Array>& zero, const Array& operand, const Shape& shape) {
    if (!zero.has_value()) return Array{};
    if (zero->dtype() != operand.dtype()) {
        throw DtypeError{kPackedIntegersName, ": ", name, " has dtype ", zero->dtype(), ", expected ", operand.dtype()};
    }
    CheckDevices(*zero, operand);
    Array zeros = AsType(zero->AsDetached(), Dtype::kInt32);
    if (zeros.GetTotalSize() == 1) return Reshape(zeros, Shape{});
    if (zeros.ndim() == 1 && zeros.GetTotalSize() == shape[shape.ndim() - 2] * shape.back()) {
        zeros = Reshape(zeros, Shape{shape[shape.ndim() - 2], shape.back()});
    }
    if (zeros.ndim() > shape.ndim() || zeros.ndim() < 2 || BroadcastShapes(zeros.shape(), shape) != shape) {
        throw DimensionError{kPackedIntegersName, ": ",          name,
                             " of shape ",        zero->shape(), " does not fit an operand of shape ",
                             operand.shape()};
    }
    return AsContiguous(Reshape(BroadcastTo(zeros, shape), Shape{shape.GetTotalSize()}));
}

// (..., rows, 1) and (..., 1, columns)
Shape RowsOf(const Shape& shape) {
    Shape rows(shape.begin(), shape.end() - 1);
    rows.push_back(1);
    return rows;
}
Shape ColumnsOf(Shape shape) {
    shape[shape.ndim() - 2] = 1;
    return shape;
}

// In float64, which holds the products exactly.
Array Centered(const Array& x, const Array& zeros, const Shape& shape) {
    Array wide = AsType(x.AsDetached(), Dtype::kFloat64);
    if (!zeros) return wide;
    Array wide_zeros = AsType(zeros, Dtype::kFloat64);
    return wide - (zeros.ndim() == 0 ? wide_zeros : Reshape(wide_zeros, shape));
}

// Reads int64, because float64 beyond int32 has no int32.
Array Wrapped(const Array& sums) { return AsType(AsType(sums, Dtype::kInt64), Dtype::kInt32); }

}  // namespace

PackedIntegerMatrix::PackedIntegerMatrix(const Array& b, const std::optional<Array>& zero) : device_{&b.device()} {
    CheckBytes("b", b);
    if (b.ndim() != 2) throw DimensionError{kPackedIntegersName, ": b of shape ", b.shape(), " is no matrix"};
    inner_ = b.shape()[0];
    columns_ = b.shape()[1];
    Array zeros = ZerosOf("b_zero", zero, b, ColumnsOf(b.shape()));
    if (device_->backend().FindKernel(kPackIntegersKernel) != nullptr) {
        packed_ = kPackIntegersKernel(*device_, b.AsDetached(), zeros);
    } else {
        centered_ = Centered(b, zeros, ColumnsOf(b.shape()));
    }
}

Array PackedIntegerMatrix::operator()(const Array& a, const std::optional<Array>& a_zero) const {
    return Run(a, a_zero, nullptr);
}

Array PackedIntegerMatrix::operator()(const Array& a, const std::optional<Array>& a_zero,
                                      const IntegerEpilogue& epilogue) const {
    CheckLike(kPackedIntegersName, "a_scale", epilogue.a_scale, epilogue.a_scale.shape(), Dtype::kFloat32, *device_);
    CheckLike(kPackedIntegersName, "b_scale", epilogue.b_scale, epilogue.b_scale.shape(), Dtype::kFloat32, *device_);
    int64_t count = epilogue.b_scale.GetTotalSize();
    if (epilogue.a_scale.GetTotalSize() != 1 || (count != 1 && count != columns_)) {
        throw DimensionError{kPackedIntegersName,
                             ": a_scale of shape ",
                             epilogue.a_scale.shape(),
                             " and b_scale of shape ",
                             epilogue.b_scale.shape(),
                             " do not fit ",
                             columns_,
                             " columns"};
    }
    if (epilogue.bias) {
        CheckLike(kPackedIntegersName, "bias", epilogue.bias, Shape{columns_}, Dtype::kFloat32, *device_);
    }
    return Run(a, a_zero, &epilogue);
}

Array PackedIntegerMatrix::Run(const Array& a, const std::optional<Array>& a_zero,
                               const IntegerEpilogue* epilogue) const {
    CheckBytes("a", a);
    if (&a.device() != device_) ThrowDeviceMismatch(a.device(), *device_);
    Shape shape = a.shape();
    if (shape.ndim() == 0 || shape.back() != inner_) {
        throw DimensionError{kPackedIntegersName, ": a of shape ", shape, " does not fit b of shape ",
                             Shape{inner_, columns_}};
    }
    Shape rows = RowsOf(shape.ndim() == 1 ? Shape{1, inner_} : shape);
    Array zeros = ZerosOf("a_zero", a_zero, a, rows);
    shape.back() = columns_;
    if (packed_ != nullptr) {
        Array out = Empty(shape, epilogue != nullptr ? Dtype::kFloat32 : Dtype::kInt32, *device_);
        if (out.GetTotalSize() > 0) packed_->Run(Contiguous(a.AsDetached()), zeros, epilogue, out);
        return out;
    }
    Array y = Wrapped(Matmul(Centered(a, zeros, RowsOf(a.shape())), centered_));
    if (epilogue == nullptr) return y;
    y = AsType(y, Dtype::kFloat32) * (Reshape(epilogue->a_scale, Shape{}) * epilogue->b_scale);
    if (epilogue->bias) y = y + epilogue->bias;
    return epilogue->use_relu ? Relu(y) : y;
}

Array IntegerMatmul(const Array& a, const Array& b, const std::optional<Array>& a_zero,
                    const std::optional<Array>& b_zero) {
    if (b.ndim() == 2) return PackedIntegerMatrix{b, b_zero}(a, a_zero);
    CheckBytes("a", a);
    CheckBytes("b", b);
    CheckDevices(a, b);
    if (a.ndim() == 0 || b.ndim() == 0) {
        throw DimensionError{kPackedIntegersName, ": operands of shapes ", a.shape(), " and ",
                             b.shape(),           " must have dimensions"};
    }
    if (b.ndim() == 1) {
        Array y = PackedIntegerMatrix{Reshape(b.AsDetached(), Shape{b.shape()[0], 1}), b_zero}(a, a_zero);
        Shape shape = y.shape();
        shape.pop_back();
        return Reshape(y, shape);
    }
    Array left = a.ndim() == 1 ? Reshape(a.AsDetached(), Shape{1, a.shape()[0]}) : a.AsDetached();
    auto split = [](const Array& x, int64_t* rows, int64_t* columns) {
        Shape batch = x.shape();
        *columns = batch.back();
        batch.pop_back();
        *rows = batch.back();
        batch.pop_back();
        return batch;
    };
    int64_t m;
    int64_t k;
    int64_t inner;
    int64_t n;
    Shape batch_a = split(left, &m, &k);
    Shape batch_b = split(b, &inner, &n);
    if (k != inner) {
        throw DimensionError{kPackedIntegersName, ": operands of shapes ", a.shape(), " and ", b.shape(),
                             " do not fit"};
    }
    Shape batch = BroadcastShapes(batch_a, batch_b);
    int64_t count = batch.GetTotalSize();
    // Stacks of matrices, and vectors of their zero points
    auto stack = [&](const Array& x, int64_t rows, int64_t columns) {
        Shape shape = batch;
        shape.push_back(rows);
        shape.push_back(columns);
        return Reshape(BroadcastTo(x, shape), Shape{count, rows, columns});
    };
    auto stack_zeros = [&](const char* name, const std::optional<Array>& zero, const Array& x, const Shape& shape,
                           int64_t rows, int64_t columns) -> std::optional<Array> {
        Array zeros = ZerosOf(name, zero, x, shape);
        if (!zeros) return std::nullopt;
        zeros = AsType(zeros, x.dtype());
        return zeros.ndim() == 0 ? BroadcastTo(zeros, Shape{count, 1, 1}) : stack(Reshape(zeros, shape), rows, columns);
    };
    Array as = stack(left, m, k);
    Array bs = stack(b.AsDetached(), k, n);
    std::optional<Array> a_zeros = stack_zeros("a_zero", a_zero, left, RowsOf(left.shape()), m, 1);
    std::optional<Array> b_zeros = stack_zeros("b_zero", b_zero, b, ColumnsOf(b.shape()), 1, n);
    Shape shape = batch;
    if (a.ndim() > 1) shape.push_back(m);
    shape.push_back(n);
    Array y = Empty(shape, Dtype::kInt32, a.device());
    if (y.GetTotalSize() == 0) return y;
    Array ys = Reshape(y, Shape{count, m, n});
    auto at = [](const std::optional<Array>& x, int64_t i) {
        return x.has_value() ? std::optional<Array>{At(*x, {i})} : std::nullopt;
    };
    for (int64_t i = 0; i < count; ++i) {
        CopyData(PackedIntegerMatrix{At(bs, {i}), at(b_zeros, i)}(At(as, {i}), at(a_zeros, i)), At(ys, {i}));
    }
    return y;
}

}  // namespace chainerx
