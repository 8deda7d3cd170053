#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/allocator.h"

namespace chainerx::native {

// The right operand op(B), k x n with k > 0, of many products with few rows each, such as the steps of a recurrent
// network. It is packed once for all products.
template <class T>
class PackedMatrix {
public:
    // B is stored n x k where `trans` is true.
    PackedMatrix(bool trans, int64_t k, int64_t n, const T* b, int64_t ldb);

    // C = A op(B) + beta C for A (m, k), in parallel.
    void Multiply(int64_t m, const T* a, int64_t lda, T beta, T* c, int64_t ldc) const;

private:
    int64_t k_;
    int64_t n_;
    Scratch<T> panels_;  // of kColumns columns each; the last one has the remaining columns
};

}  // namespace chainerx::native
