#pragma once

#include <memory>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"

namespace chainerx {

// What follows a product of integers in the same pass: y = relu(product a_scale b_scale + bias), without a missing bias
// and relu.
struct IntegerEpilogue {
    Array a_scale;  // float32, one element
    Array b_scale;  // float32, one element or (columns)
    Array bias;     // float32 (columns), or no array
    bool use_relu{false};
};

// A matrix of 8-bit integers (inner, columns) in the layout in which a backend multiplies with it fastest.
class PackedIntegers {
public:
    virtual ~PackedIntegers() = default;
    // out (rows, columns) from a (rows, inner), both contiguous: the products of a - a_zeros and the matrix less its
    // zero points, as int32 with sums that wrap around; or as float32 with an epilogue, which is null otherwise.
    // a_zeros: int32, one element or (rows); no array for zero.
    virtual void Run(const Array& a, const Array& a_zeros, const IntegerEpilogue* epilogue, const Array& out) const = 0;
};

// Packs a matrix, of which it keeps no reference, with its zero points: int32, one element or (columns); no array for
// zero. Backends need not have this kernel.
using PackIntegersKernel = KernelSlot<std::unique_ptr<PackedIntegers>(const Array& b, const Array& zeros)>;
extern const PackIntegersKernel kPackIntegersKernel;

// A matrix of 8-bit integers b (inner, columns), int8 or uint8, to multiply with many times. It works on any device,
// ignores graphs, and may run on several threads at a time.
class PackedIntegerMatrix {
public:
    // zero: of the dtype of b; one element, (columns) or (1, columns). Later changes of both have no effect.
    explicit PackedIntegerMatrix(const Array& b, const std::optional<Array>& zero = std::nullopt);

    int64_t columns() const { return columns_; }

    // (a - a_zero) (b - zero) for a (..., rows, inner), int8 or uint8, as int32 with sums that wrap around. a_zero: of
    // the dtype of a; one element, (rows) or (..., rows, 1).
    Array operator()(const Array& a, const std::optional<Array>& a_zero = std::nullopt) const;
    // The same, scaled and as float32.
    Array operator()(const Array& a, const std::optional<Array>& a_zero, const IntegerEpilogue& epilogue) const;

private:
    Array Run(const Array& a, const std::optional<Array>& a_zero, const IntegerEpilogue* epilogue) const;

    int64_t inner_;
    int64_t columns_;
    Device* device_;
    std::shared_ptr<const PackedIntegers> packed_;
    Array centered_;  // b less its zero point, if not packed
};

// (a - a_zero) (b - b_zero) as int32 with sums that wrap around, for a and b of int8 or uint8, with the shapes of
// Matmul(). Zero points are of the dtypes of their operands: one element; one for each row of a, (rows) or
// (..., rows, 1); and one for each column of b, (columns) or (..., 1, columns).
Array IntegerMatmul(const Array& a, const Array& b, const std::optional<Array>& a_zero = std::nullopt,
                    const std::optional<Array>& b_zero = std::nullopt);

}  // namespace chainerx
