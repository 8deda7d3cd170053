#pragma once

// The LAPACK routines the linear algebra operations use, from OpenBLAS. Matrices are column-major; a
// row-major caller passes or reads transposes. The hidden trailing lengths are those of character arguments.

#include <cstddef>

namespace chainerx::native {

template <class T>
struct Lapack {
    // Factors of A (n x n) by LU, solutions and inverses from them.
    void (*getrf)(const int* m, const int* n, T* a, const int* lda, int* ipiv, int* info);
    void (*getrs)(const char* trans, const int* n, const int* nrhs, const T* a, const int* lda, const int* ipiv, T* b,
                  const int* ldb, int* info, size_t);
    void (*getri)(const int* n, T* a, const int* lda, const int* ipiv, T* work, const int* lwork, int* info);
    // Singular values by divide and conquer. jobz: 'A', 'S' or 'N'. iwork: 8 min(m, n).
    void (*gesdd)(const char* jobz, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu, T* vt,
                  const int* ldvt, T* work, const int* lwork, int* iwork, int* info, size_t);
    void (*geqrf)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);
    void (*orgqr)(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,
                  const int* lwork, int* info);
    void (*potrf)(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);
    // Eigenvalues (jobz 'N') and eigenvectors (jobz 'V') of a symmetric matrix.
    void (*syevd)(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,
                  const int* lwork, int* iwork, const int* liwork, int* info, size_t, size_t);
};

}  // namespace chainerx::native
