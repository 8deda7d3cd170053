#pragma once

// The LAPACK routines the linear algebra operations use, from OpenBLAS. Matrices are column-major; a
// row-major caller passes or reads transposes. The hidden trailing lengths are those of character arguments.
// Names are those of real numbers: for complex ones, orgqr is ungqr and syevd is heevd.

#include <cstddef>
#include <type_traits>

#include "chainerx/backends/native/kernels/numbers.h"

namespace chainerx::native {

namespace internal {
// `RealWork`: the workspace of real numbers that routines of complex ones take as well.
template <class T, class... RealWork>
using Gesdd = void (*)(const char* jobz, const int* m, const int* n, T* a, const int* lda, RealOf<T>* s, T* u,
                       const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, RealWork... rwork, int* iwork,
                       int* info, size_t);
template <class T, class... RealWork>
using Syevd = void (*)(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, RealOf<T>* w, T* work,
                       const int* lwork, RealWork... rwork, int* iwork, const int* liwork, int* info, size_t, size_t);
}  // namespace internal

template <class T>
struct Lapack {
    using Real = RealOf<T>;
    // Factors of A (n x n) by LU, solutions and inverses from them.
    void (*getrf)(const int* m, const int* n, T* a, const int* lda, int* ipiv, int* info);
    void (*getrs)(const char* trans, const int* n, const int* nrhs, const T* a, const int* lda, const int* ipiv, T* b,
                  const int* ldb, int* info, size_t);
    void (*getri)(const int* n, T* a, const int* lda, const int* ipiv, T* work, const int* lwork, int* info);
    // Singular values by divide and conquer. jobz: 'A', 'S' or 'N'. iwork: 8 min(m, n).
    std::conditional_t<kIsReal<T>, internal::Gesdd<T>, internal::Gesdd<T, Real*>> gesdd;
    void (*geqrf)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);
    void (*orgqr)(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,
                  const int* lwork, int* info);
    void (*potrf)(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);
    // Eigenvalues (jobz 'N') and eigenvectors (jobz 'V') of a symmetric or Hermitian matrix.
    std::conditional_t<kIsReal<T>, internal::Syevd<T>, internal::Syevd<T, Real*, const int*>> syevd;
};

}  // namespace chainerx::native
