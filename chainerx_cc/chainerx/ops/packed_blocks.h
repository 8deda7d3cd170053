#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"

namespace chainerx {

// What follows a product with a matrix of integers in the same pass, and how it may be computed.
struct BlockEpilogue {
    Array bias;  // float32 (columns), or no array
    bool use_relu{false};
    // Whether x may be rounded to 8 bits, with a scale for each block, if that is faster.
    bool rounds_x{false};
};

// A matrix whose elements are scale (q - zero), with few bits for q, in the layout in which a backend multiplies with
// it fastest.
class PackedBlocks {
public:
    virtual ~PackedBlocks() = default;
    // y (..., columns) = relu(x w + bias), without what is not wanted. Both are contiguous and float32.
    virtual void Run(const Array& x, const BlockEpilogue& epilogue, const Array& y) const = 0;
};

// Packs a matrix, of which it keeps no reference; the arguments are those of PackedBlockMatrix, with contiguous scales
// and zero points, or no array for these. Backends need not have this kernel.
using PackBlocksKernel = KernelSlot<std::unique_ptr<PackedBlocks>(const Array& q, const Array& scales,
                                                                  const Array& zeros, int64_t block)>;
extern const PackBlocksKernel kPackBlocksKernel;

// A matrix (inner, columns) for inference whose elements are scale (q - zero) for integers q. They have a scale and a
// zero point for each block of elements of a column. They stay in 8 bits, or in 4 if these hold all, and are decoded
// while they are multiplied. It works on any device, ignores graphs, and may run on several threads at a time.
class PackedBlockMatrix {
public:
    // q (columns, inner), int8 or uint8; scales (columns, blocks) of floats; zeros of the shape of the scales and the
    // dtype of q, or floats, with which the matrix becomes one of float32. `block`: elements of a block, of which the
    // last one may have fewer. Later changes have no effect.
    PackedBlockMatrix(const Array& q, const Array& scales, const std::optional<Array>& zeros, int64_t block,
                      BlockEpilogue epilogue = {});

    // For x (..., inner) of floats, in its dtype; computed as float32.
    Array operator()(const Array& x) const;

private:
    int64_t inner_;
    int64_t columns_;
    Device* device_;
    BlockEpilogue epilogue_;
    std::shared_ptr<const PackedBlocks> packed_;
    Array decoded_;  // (inner, columns), if not packed
};

// (q - zeros) scales as float32 (columns, inner), with the arguments of PackedBlockMatrix.
Array DecodeBlocks(const Array& q, const Array& scales, const std::optional<Array>& zeros, int64_t block);

}  // namespace chainerx
