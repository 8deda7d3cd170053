#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/vnni.h"

namespace chainerx::native {

// Products of matrices of 8-bit integers, A (m, k) and B (k, n), with sums of 32 bits that wrap around. Instructions
// multiply bytes of A without a sign by bytes of B with one, so packing adds 128 to those of A that have a sign, and
// subtracts it from those of B that have none. Zero points are of numbers after that.

// The layout of operands, which depends on the instruction set.
struct Int8Layout {
    int64_t a_row;      // bytes of a row of A
    bool takes_bytes;   // rows of k bytes without a sign are in the layout of A
    int64_t b_size;     // bytes of B
    int64_t n_rounded;  // n, rounded up to whole vectors
};

struct Int8Factor {
    int64_t k;
    int64_t n;
    const void* packed;
    // (n_rounded) each
    const int32_t* sums;   // of the columns
    const int32_t* zeros;  // zero points; null if all are zero
};

// C = (A - a_zeros) (B - zeros), as int32_t; or as float: relu(C scales + bias), without a missing bias and relu.
template <class T>
struct Int8Product {
    int64_t m;
    const void* a;
    int64_t a_row;
    const int32_t* a_sums;   // of the rows (m); null if B has no zero points
    const int32_t* a_zeros;  // (m) if each row has one, else (1)
    bool is_per_row;
    // (n_rounded), for float
    const float* scales;
    const float* bias;
    bool relu;
    T* c;
    int64_t ldc;
};

// T: int8_t or uint8_t, the type of the operand. `sums` may be null.
CHAINERX_VNNI_KERNEL(GetInt8Layout, (int64_t k, int64_t n, Int8Layout* layout), (k, n, layout))
CHAINERX_VNNI_KERNEL(PackInt8Rows, (int64_t m, int64_t k, const T* a, int64_t lda, void* packed, int32_t* sums),
                     (m, k, a, lda, packed, sums))
CHAINERX_VNNI_KERNEL(PackInt8Columns,
                     (int64_t k, int64_t n, const T* b, int64_t row, int64_t column, void* packed, int32_t* sums),
                     (k, n, b, row, column, packed, sums))
// T: int32_t or float, the type of the result.
CHAINERX_VNNI_KERNEL(MultiplyInt8, (const Int8Factor& b, const Int8Product<T>& product), (b, product))

// Integers of 8 bits in memory.
struct Int8Matrix {
    const void* data;
    bool is_signed;
    int64_t row;     // distance of rows
    int64_t column;  // distance of columns, 1 for the left operand
};

// What follows a product in the same pass: relu(C scale scales + bias).
struct Int8Epilogue {
    float scale{1};
    const float* scales{nullptr};  // of columns (n), or null
    const float* bias{nullptr};    // (n), or null
    bool relu{false};
};

// A right operand (k, n), packed once for many products, which run in parallel.
class PackedInt8 {
public:
    // `zeros`: the zero points of the columns (n), one for all if `is_per_column` is false, or null.
    PackedInt8(int64_t k, int64_t n, const Int8Matrix& b, const int32_t* zeros, bool is_per_column);

    // c (m, n), with rows `ldc` apart, of a (m, k). `a_zeros`: (m) if `is_per_row`, else (1), or null.
    void Multiply(int64_t m, const Int8Matrix& a, const int32_t* a_zeros, bool is_per_row, int32_t* c,
                  int64_t ldc) const;
    // The same with contiguous c.
    void Multiply(int64_t m, const Int8Matrix& a, const int32_t* a_zeros, bool is_per_row, const Int8Epilogue& epilogue,
                  float* c) const;

private:
    template <class T>
    void Run(int64_t m, const Int8Matrix& a, const int32_t* a_zeros, bool is_per_row, Int8Product<T>* product) const;

    int64_t k_;
    int64_t n_;
    Int8Layout layout_;
    Buffer<int8_t> packed_;
    Buffer<int32_t> sums_;
    std::optional<Buffer<int32_t>> zeros_;
};

}  // namespace chainerx::native
