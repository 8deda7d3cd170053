#pragma once

#include <complex>
#include <cstdint>

namespace chainerx::native {

// The same contract as Gemm, for m, n, k > 0, of complex numbers: for so little work that a call of BLAS costs more,
// and where there is no memory for its buffer.
template <class R>
void GemmSmall(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, std::complex<R> alpha,
               const std::complex<R>* a, int64_t lda, const std::complex<R>* b, int64_t ldb, std::complex<R> beta,
               std::complex<R>* c, int64_t ldc) {
    int64_t row_a = trans_a ? 1 : lda;
    int64_t step_a = trans_a ? lda : 1;
    int64_t step_b = trans_b ? 1 : ldb;
    int64_t column_b = trans_b ? ldb : 1;
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            R real = 0;
            R imag = 0;
            for (int64_t l = 0; l < k; ++l) {
                std::complex<R> x = a[i * row_a + l * step_a];
                std::complex<R> y = b[l * step_b + j * column_b];
                real += x.real() * y.real() - x.imag() * y.imag();
                imag += x.real() * y.imag() + x.imag() * y.real();
            }
            std::complex<R> sum = alpha * std::complex<R>{real, imag};
            std::complex<R>& out = c[i * ldc + j];
            out = beta == std::complex<R>{} ? sum : sum + beta * out;
        }
    }
}

}  // namespace chainerx::native
