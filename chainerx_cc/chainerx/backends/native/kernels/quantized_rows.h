#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// A matrix (n, k) of integers of few bits in rows of bytes, as files have them. An element is scale (q - zero), with a
// scale and a zero point for each block of elements of a row.
struct QuantizedRows {
    int64_t n;
    int64_t k;
    int64_t block;
    int bits;  // 2, 4 or 8
    bool is_signed;
    int64_t row_bytes;
    const uint8_t* q;
    const float* scales;  // (n, blocks)
    const float* zeros;   // (n, blocks), or null for the middle of the range of the integers

    CHAINERX_INLINE int64_t blocks() const { return (k + block - 1) / block; }
    CHAINERX_INLINE int center() const { return is_signed ? 0 : 1 << (bits - 1); }
};

// The elements of an arranged row of x at most
inline int64_t ArrangedElements(const QuantizedRows& w) { return w.blocks() * ((w.block + 15) / 16 * 16); }

// Rows of x in the order in which integers are decoded, and the sums of their blocks if W has zero points.
struct QuantizedOperand {
    const float* arranged;
    const float* sums;  // (m, blocks), or null
    int64_t m;
};

// Arranges x (m, k) for products with W.
CHAINERX_ISA_KERNEL(ArrangeForQuantizedRows, (const QuantizedRows& w, const T* x, int64_t m, T* out), (w, x, m, out))
// The columns [first, last) of y (m, n) = x W^T. T: the type of the result, float.
CHAINERX_ISA_KERNEL(MultiplyQuantizedRows,
                    (const QuantizedRows& w, int64_t first, int64_t last, const QuantizedOperand& x, T* y),
                    (w, first, last, x, y))
// The rows [first, last) of W as numbers (last - first, k)
CHAINERX_ISA_KERNEL(DecodeQuantizedRows, (const QuantizedRows& w, int64_t first, int64_t last, T* out),
                    (w, first, last, out))

}  // namespace chainerx::native
