#pragma once

// The functions of cuSOLVER that the backend calls, which it finds at run time. They are those of LAPACK with the same
// names, for column-major matrices, with pointers to memory of the GPU. `info` is memory of the GPU, too.

#include <cuda_runtime.h>

#include <mutex>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/core/array.h"

namespace chainerx::cuda {

namespace solver {

// Constants of cuSOLVER's interface.
constexpr int kNoTranspose = 0;
constexpr int kLower = 0;
constexpr int kUpper = 1;
constexpr int kValues = 0;  // eigenvalues or singular values alone
constexpr int kVectors = 1;
// The sides of the largest matrices that the functions for batches take.
constexpr int kMaxBatchedSide = 32;

struct Context;  // of cuSOLVER
using Handle = Context*;
struct JacobiOptions;  // of cuSOLVER
using Jacobi = JacobiOptions*;

// Those that end in "size" give the number of elements of the workspace.
template <class T>
struct Functions {
    int (*getrf_size)(Handle, int m, int n, T* a, int lda, int* size);
    int (*getrf)(Handle, int m, int n, T* a, int lda, T* work, int* pivots, int* info);
    int (*getrs)(Handle, int op, int n, int columns, const T* a, int lda, const int* pivots, T* b, int ldb, int* info);
    int (*potrf_size)(Handle, int triangle, int n, T* a, int lda, int* size);
    int (*potrf)(Handle, int triangle, int n, T* a, int lda, T* work, int size, int* info);
    int (*geqrf_size)(Handle, int m, int n, T* a, int lda, int* size);
    int (*geqrf)(Handle, int m, int n, T* a, int lda, T* factors, T* work, int size, int* info);
    int (*orgqr_size)(Handle, int m, int n, int k, const T* a, int lda, const T* factors, int* size);
    int (*orgqr)(Handle, int m, int n, int k, T* a, int lda, const T* factors, T* work, int size, int* info);
    // For m >= n only.
    int (*gesvd_size)(Handle, int m, int n, int* size);
    int (*gesvd)(Handle, signed char job_u, signed char job_vt, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* vt,
                 int ldvt, T* work, int size, T* rwork, int* info);
    int (*syevd_size)(Handle, int job, int triangle, int n, const T* a, int lda, const T* w, int* size);
    int (*syevd)(Handle, int job, int triangle, int n, T* a, int lda, T* w, T* work, int size, int* info);
    // Batches of small matrices, by Jacobi's method: u (m, m) and v (n, n), and eigenvectors in place of a.
    int (*gesvdj_size)(Handle, int job, int m, int n, const T* a, int lda, const T* s, const T* u, int ldu, const T* v,
                       int ldv, int* size, Jacobi options, int batch);
    int (*gesvdj)(Handle, int job, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* v, int ldv, T* work, int size,
                  int* info, Jacobi options, int batch);
    int (*syevj_size)(Handle, int job, int triangle, int n, const T* a, int lda, const T* w, int* size, Jacobi options,
                      int batch);
    int (*syevj)(Handle, int job, int triangle, int n, T* a, int lda, T* w, T* work, int size, int* info,
                 Jacobi options, int batch);
};

}  // namespace solver

// Whether cuSOLVER is there and to be used.
bool HasSolver();

// cuSOLVER on the current stream of a device, for matrices of T. One thread at a time has one.
template <class T>
class Solver {
public:
    using Functions = solver::Functions<T>;

    // `what`: the operation, for errors.
    Solver(Device& device, const char* what);

    // Calls a function.
    template <class... Parameters, class... Arguments>
    void operator()(int (*Functions::*function)(solver::Handle, Parameters...), const Arguments&... arguments) const {
        Check((functions_.*function)(handle_, static_cast<Parameters>(arguments)...));
    }
    Array MakeWorkspace(int size) const;

    solver::Jacobi gesvdj_options;
    solver::Jacobi syevj_options;

private:
    void Check(int status) const;

    std::lock_guard<std::mutex> lock_;
    Device& device_;
    CurrentDevice current_;
    const Functions& functions_;
    solver::Handle handle_;
    const char* what_;
};

}  // namespace chainerx::cuda
