#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/vnni.h"

namespace chainerx::native {

// Products with matrices of integers that stay in 4 or 8 bits: they are decoded in registers while they are multiplied.
// B (k, n) is scale (q - zero), with a scale and a zero point for each block of rows of each column.
struct BlockShape {
    int64_t k;
    int64_t n;
    int64_t block;  // rows of a block; the last one may have fewer
    int bits;       // 4 or 8

    CHAINERX_INLINE int64_t blocks() const { return (k + block - 1) / block; }
    // Rows in memory: words of 32 bits hold a column's integers of 8 or 4 rows. Those that are added are zero.
    CHAINERX_INLINE int64_t padded_block() const { return (block + 7) / 8 * 8; }
    CHAINERX_INLINE int64_t padded_k() const { return blocks() * padded_block(); }
};

// Integers of 8 bits, of which `center` is subtracted to make them fit the bits of the shape.
struct BlockSource {
    const void* q;
    bool is_signed;
    int64_t row;     // distance of rows
    int64_t column;  // distance of columns
    int center;
    const float* scales;  // (n, blocks)
    const int8_t* zeros;  // (n, blocks) less the center, or null
};

// B in the layout of an instruction set: of each panel of columns, all rows.
struct BlockFactor {
    BlockShape shape;
    uint32_t* words;
    float* scales;
    int8_t* zeros;  // or null
};

// y (m, n) = relu(A B + bias), without a missing bias and relu.
struct BlockProduct {
    int64_t m;
    const float* a;     // (m, k)
    const float* bias;  // (n), or null
    bool relu;
    bool rounds_a;  // A may be rounded to 8 bits, with a scale for each block
    float* y;
};

// The number of columns in memory
CHAINERX_VNNI_KERNEL(GetBlockColumns, (int64_t n, int64_t* rounded), (n, rounded))
CHAINERX_VNNI_KERNEL(PackBlockColumns, (const BlockSource& source, const BlockFactor& b), (source, b))
// T: the type of the result, float.
CHAINERX_VNNI_KERNEL(MultiplyBlocks, (const BlockFactor& b, const BlockProduct& product), (b, product))

// A right operand, packed once for many products, which run in parallel. A product has the same bits on any number of
// threads.
class PackedBlockFactor {
public:
    PackedBlockFactor(const BlockShape& shape, const BlockSource& source);

    void Multiply(const BlockProduct& product) const;

private:
    BlockShape shape_;
    int64_t columns_;
    Buffer<uint32_t> words_;
    Buffer<float> scales_;
    std::optional<Buffer<int8_t>> zeros_;
};

}  // namespace chainerx::native
