#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// C = A B for A (m, k) and B (k, n), and then in the same pass over C: plus what C held, plus a bias to each row,
// negative numbers replaced by zero.
template <class T>
struct Product {
    int64_t m;
    const T* a;
    int64_t lda;
    bool accumulate;
    const T* bias;  // (n), or null
    bool relu;
    T* c;
    int64_t ldc;
};

// Packs op(B), k x n with k, n > 0, into GetPackedMatrixSize() elements. B is stored n x k where `trans` is true.
CHAINERX_ISA_KERNEL(GetPackedMatrixSize, (int64_t k, int64_t n, int64_t* size), (k, n, size))
CHAINERX_ISA_KERNEL(PackMatrix, (bool trans, int64_t k, int64_t n, const T* b, int64_t ldb, T* packed),
                    (trans, k, n, b, ldb, packed))
CHAINERX_ISA_KERNEL(MultiplyPacked, (int64_t k, int64_t n, const T* packed, const Product<T>& product),
                    (k, n, packed, product))

// The right operand op(B) of many products, packed once for all of them. Products run in parallel.
template <class T>
class PackedMatrix {
public:
    PackedMatrix(bool trans, int64_t k, int64_t n, const T* b, int64_t ldb) : k_{k}, n_{n}, packed_{PackedSize(k, n)} {
        PackMatrix<T>(trans, k, n, b, ldb, packed_.data());
    }
    void Multiply(const Product<T>& product) const { MultiplyPacked<T>(k_, n_, packed_.data(), product); }

private:
    static int64_t PackedSize(int64_t k, int64_t n) {
        int64_t size;
        GetPackedMatrixSize<T>(k, n, &size);
        return size;
    }

    int64_t k_;
    int64_t n_;
    Buffer<T> packed_;
};

}  // namespace chainerx::native
