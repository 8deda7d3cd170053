#pragma once

// The LAPACK routines the linear algebra operations use, from OpenBLAS. Matrices are column-major; a
// row-major caller passes or reads transposes. The hidden trailing lengths are those of character arguments.
// Call InitBlas() of gemm.h first.

#include <cstddef>

#include "chainerx/backends/native/kernels/blas.h"

extern "C" {

#define CHAINERX_DECLARE_LAPACK(p, T)                                                                                  \
    /* Solves A X = B by LU; A (n x n) becomes its factors, B (n x nrhs) the solution. */                              \
    void CHAINERX_BLAS(p##gesv_)(const int* n, const int* nrhs, T* a, const int* lda, int* ipiv, T* b, const int* ldb, \
                                 int* info);                                                                           \
    void CHAINERX_BLAS(p##getrf_)(const int* m, const int* n, T* a, const int* lda, int* ipiv, int* info);             \
    void CHAINERX_BLAS(p##getrs_)(const char* trans, const int* n, const int* nrhs, const T* a, const int* lda,        \
                                  const int* ipiv, T* b, const int* ldb, int* info, size_t);                           \
    void CHAINERX_BLAS(p##getri_)(const int* n, T* a, const int* lda, const int* ipiv, T* work, const int* lwork,      \
                                  int* info);                                                                          \
    /* Singular values by divide and conquer. jobz: 'A', 'S' or 'N'. iwork: 8 min(m, n). */                            \
    void CHAINERX_BLAS(p##gesdd_)(const char* jobz, const int* m, const int* n, T* a, const int* lda, T* s, T* u,      \
                                  const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, int* iwork,       \
                                  int* info, size_t);                                                                  \
    void CHAINERX_BLAS(p##geqrf_)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, \
                                  int* info);                                                                          \
    void CHAINERX_BLAS(p##orgqr_)(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau,        \
                                  T* work, const int* lwork, int* info);                                               \
    void CHAINERX_BLAS(p##potrf_)(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);            \
    /* Eigenvalues (jobz 'N') and eigenvectors (jobz 'V') of a symmetric matrix. */                                    \
    void CHAINERX_BLAS(p##syevd_)(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, T* w,        \
                                  T* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t,         \
                                  size_t);                                                                             \
    /* Solves op(A) X = B with triangular A. */                                                                        \
    void CHAINERX_BLAS(p##trtrs_)(const char* uplo, const char* trans, const char* diag, const int* n,                 \
                                  const int* nrhs, const T* a, const int* lda, T* b, const int* ldb, int* info,        \
                                  size_t, size_t, size_t);

CHAINERX_DECLARE_LAPACK(s, float)
CHAINERX_DECLARE_LAPACK(d, double)
#undef CHAINERX_DECLARE_LAPACK

}  // extern "C"
