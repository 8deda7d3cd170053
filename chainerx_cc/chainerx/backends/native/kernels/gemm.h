#pragma once

#include <cstdint>
#include <vector>

namespace chainerx::native {

// C = alpha * op(A) op(B) + beta * C on row-major matrices of float, double or complex numbers of them, where op(A) is
// m x k, op(B) is k x n and C is m x n; op transposes where trans_* is true. ld* are the distances between stored rows.
// With beta == 0, C is only written, so it may hold NaN. Zero sizes: m == 0 or n == 0 does nothing, k == 0 or alpha ==
// 0 scales C by beta.
//
// Small products run in gemm_small.h, others in OpenBLAS with one thread, called from the thread pool. One number of
// threads thus governs everything, and fork() is safe. Throws std::invalid_argument if a size exceeds the range of BLAS
// (2^31 - 1).
template <class T>
void Gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda, const T* b,
          int64_t ldb, T beta, T* c, int64_t ldc);

// `batch` products; the i-th takes a + i * stride_a, b + i * stride_b, c + i * stride_c. A stride of zero
// shares the operand.
template <class T>
void GemmBatched(bool trans_a, bool trans_b, int64_t batch, int64_t m, int64_t n, int64_t k, T alpha, const T* a,
                 int64_t lda, int64_t stride_a, const T* b, int64_t ldb, int64_t stride_b, T beta, T* c, int64_t ldc,
                 int64_t stride_c);

// A product op(A) op(B) of a sum of products, whose results have the same size.
template <class T>
struct GemmTerm {
    bool trans_a;
    const T* a;
    int64_t lda;
    bool trans_b;
    const T* b;
    int64_t ldb;
    int64_t k;
};

// C = the sum of the products of float or double, without gaps, for m, n > 0 and at least one of them: to the last bit
// what Gemm gives if its results are added one after the other. Where gemm_small.h multiplies, blocks of C stay in the
// cache.
template <class T>
void GemmSum(int64_t m, int64_t n, const std::vector<GemmTerm<T>>& terms, T* c);

// Loads OpenBLAS, at the first call. For callers that use BLAS or LAPACK directly.
void InitBlas();

// The buffer of a call of BLAS or LAPACK, to hold during the call. OpenBLAS keeps as many as calls have run at a time;
// if there is no memory for another one, it ends the process, so this looks first. Calls of several threads are counted
// and not seen, so that memory that ends between two of them may be missed. A fork waits for the end of the calls. A
// thread may have one buffer at a time, and InitBlas() must have run.
class BlasBuffer {
public:
    BlasBuffer();
    ~BlasBuffer();
    BlasBuffer(const BlasBuffer&) = delete;
    BlasBuffer& operator=(const BlasBuffer&) = delete;

    bool available() const { return available_; }

private:
    bool available_;
};

}  // namespace chainerx::native
