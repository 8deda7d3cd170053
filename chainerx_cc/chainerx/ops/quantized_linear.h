#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

// Integers that are stored in as few bits as they have.
enum class NarrowDtype { kInt2, kInt4, kInt8, kUInt2, kUInt4, kUInt8 };
CHAINERX_ENUM_WORDS(NarrowDtype, "int2", "int4", "int8", "uint2", "uint4", "uint8");

// How a matrix (columns, inner) is stored as rows of bytes, whose lowest bits are the first integers.
struct QuantizedFormat {
    int bits;  // 2, 4 or 8
    bool is_signed;
    int64_t block;  // elements of a row that have a scale; the last block may have fewer

    int64_t CountBlocks(int64_t inner) const { return inner / block + (inner % block != 0 ? 1 : 0); }
    // What is subtracted from integers without a zero point.
    int center() const { return is_signed ? 0 : 1 << (bits - 1); }
};
template <>
inline constexpr bool kIsKernelValue<QuantizedFormat> = true;

// y (m, columns) = x (m, inner) W^T. w (columns, bytes), scale and zero (columns, blocks); zero may be no array. All
// but w are float32, and all are contiguous. Backends need not have these kernels.
using QuantizedLinearKernel = KernelSlot<void(const Array& x, const Array& w, const Array& scale, const Array& zero,
                                              const QuantizedFormat& format, const Array& y)>;
// W (columns, inner) as float32
using DecodeRowsKernel = KernelSlot<void(const Array& w, const Array& scale, const Array& zero,
                                         const QuantizedFormat& format, const Array& out)>;
extern const QuantizedLinearKernel kQuantizedLinearKernel;
extern const DecodeRowsKernel kDecodeRowsKernel;

// y = x W^T + b along the last axis of x, for W = scale (q - zero), which is constant: it is decoded while it is
// multiplied, and has no gradient. w (columns, bytes) holds q, each row padded with less than a block.
Array QuantizedLinear(const Array& x, const Array& w, const Array& scale,
                      const std::optional<Array>& zero_point = std::nullopt,
                      const std::optional<Array>& b = std::nullopt, NarrowDtype dtype = NarrowDtype::kInt4,
                      int64_t block_size = 32);

#define CHAINERX_QUANTIZED_ROUTINES(X) X(QuantizedLinear)

CHAINERX_QUANTIZED_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
