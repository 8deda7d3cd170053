#pragma once

// What the backend uses of the interface of cuSOLVER 11 and 12. Functions are those of LAPACK with the same names, for
// column-major matrices, with pointers to memory of the GPU. `info` is memory of the GPU, too. The build compares this
// with NVIDIA's header where that is found (checks/cusolver_header.cc).

#include <cuda_runtime.h>

namespace chainerx::cuda::solver {

constexpr int kNoTranspose = 0;
constexpr int kLower = 0;
constexpr int kUpper = 1;
constexpr int kValues = 0;  // eigenvalues or singular values alone
constexpr int kVectors = 1;
// The sides of the largest matrices that the functions for batches take.
constexpr int kMaxBatchedSide = 32;

struct Context;
using Handle = Context*;
struct JacobiOptions;
using Jacobi = JacobiOptions*;

// Name without the prefix, parameters.
#define CHAINERX_CUSOLVER_FUNCTIONS(X)                 \
    X(Create, (Handle * handle))                       \
    X(SetStream, (Handle handle, cudaStream_t stream)) \
    X(CreateGesvdjInfo, (Jacobi * options))            \
    X(CreateSyevjInfo, (Jacobi * options))

// The name here, the one there without the prefix and the letter of the type T, parameters. Those that end in "size"
// give the number of elements of the workspace. gesvd is for m >= n only. The last four take batches of small matrices,
// by Jacobi's method: u (m, m) and v (n, n), and eigenvectors in place of a.
#define CHAINERX_CUSOLVER_TYPED_FUNCTIONS(X, T)                                                                        \
    X(getrf_size, getrf_bufferSize, (Handle, int m, int n, T* a, int lda, int* size))                                  \
    X(getrf, getrf, (Handle, int m, int n, T* a, int lda, T* work, int* pivots, int* info))                            \
    X(getrs, getrs,                                                                                                    \
      (Handle, int op, int n, int columns, const T* a, int lda, const int* pivots, T* b, int ldb, int* info))          \
    X(potrf_size, potrf_bufferSize, (Handle, int triangle, int n, T* a, int lda, int* size))                           \
    X(potrf, potrf, (Handle, int triangle, int n, T* a, int lda, T* work, int size, int* info))                        \
    X(geqrf_size, geqrf_bufferSize, (Handle, int m, int n, T* a, int lda, int* size))                                  \
    X(geqrf, geqrf, (Handle, int m, int n, T* a, int lda, T* factors, T* work, int size, int* info))                   \
    X(orgqr_size, orgqr_bufferSize, (Handle, int m, int n, int k, const T* a, int lda, const T* factors, int* size))   \
    X(orgqr, orgqr, (Handle, int m, int n, int k, T* a, int lda, const T* factors, T* work, int size, int* info))      \
    X(gesvd_size, gesvd_bufferSize, (Handle, int m, int n, int* size))                                                 \
    X(gesvd, gesvd,                                                                                                    \
      (Handle, signed char job_u, signed char job_vt, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* vt,         \
       int ldvt, T* work, int size, T* rwork, int* info))                                                              \
    X(syevd_size, syevd_bufferSize,                                                                                    \
      (Handle, int job, int triangle, int n, const T* a, int lda, const T* w, int* size))                              \
    X(syevd, syevd, (Handle, int job, int triangle, int n, T* a, int lda, T* w, T* work, int size, int* info))         \
    X(gesvdj_size, gesvdjBatched_bufferSize,                                                                           \
      (Handle, int job, int m, int n, const T* a, int lda, const T* s, const T* u, int ldu, const T* v, int ldv,       \
       int* size, Jacobi options, int batch))                                                                          \
    X(gesvdj, gesvdjBatched,                                                                                           \
      (Handle, int job, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* v, int ldv, T* work, int size, int* info, \
       Jacobi options, int batch))                                                                                     \
    X(syevj_size, syevjBatched_bufferSize,                                                                             \
      (Handle, int job, int triangle, int n, const T* a, int lda, const T* w, int* size, Jacobi options, int batch))   \
    X(syevj, syevjBatched,                                                                                             \
      (Handle, int job, int triangle, int n, T* a, int lda, T* w, T* work, int size, int* info, Jacobi options,        \
       int batch))

struct CommonFunctions {
#define CHAINERX_CUSOLVER_POINTER(name, parameters) int(*name) parameters;
    CHAINERX_CUSOLVER_FUNCTIONS(CHAINERX_CUSOLVER_POINTER)
#undef CHAINERX_CUSOLVER_POINTER
};

template <class T>
struct Functions {
#define CHAINERX_CUSOLVER_POINTER(name, symbol, parameters) int(*name) parameters;
    CHAINERX_CUSOLVER_TYPED_FUNCTIONS(CHAINERX_CUSOLVER_POINTER, T)
#undef CHAINERX_CUSOLVER_POINTER
};

}  // namespace chainerx::cuda::solver
