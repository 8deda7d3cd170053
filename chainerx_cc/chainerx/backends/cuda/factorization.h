#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "chainerx/core/array.h"
#include "chainerx/ops/factorization.h"

namespace chainerx::cuda {

// The sizes of a stack of matrices (m, n).
struct Stack {
    explicit Stack(const Array& a) : m{a.shape()[a.ndim() - 2]}, n{a.shape().back()}, k{std::min(m, n)}, count{1} {
        for (int i = 0; i < a.ndim() - 2; ++i) count *= a.shape()[i];
    }
    int64_t larger_side() const { return std::max(m, n); }

    int64_t m;
    int64_t n;
    int64_t k;
    int64_t count;
};

// Factorizations in which one block of threads takes each matrix of a stack: for small ones. All arrays are contiguous.
// `info` (count): int32, not zero where there is no solution.
namespace blocks {

// Whether to use these functions.
inline bool Suit(const Stack& s) { return s.larger_side() <= (s.count == 1 ? 32 : 128); }

// Replaces matrices by their factors with partial pivoting. `pivots` (count, n): row i was interchanged with row
// pivots[i] - 1.
void FactorLu(const Array& lu, const Array& pivots, const Array& info, const char* what);
// Replaces x (..., n, columns) by the solutions.
void SolveLu(const Array& lu, const Array& pivots, const Array& x, const char* what);
// Replaces matrices by their lower factors.
void FactorCholesky(const Array& a, const Array& info);
// Replaces transposed matrices (..., n, m) by r and reflectors, as LAPACK's geqrf, and `q` (..., columns, m), whose
// first rows are reflectors, by the transposed matrices that they stand for.
void FactorQr(const Array& a, const Array& factors);
void ExpandQ(const Array& q, const Array& factors);

}  // namespace blocks

// The same on the host, on copies.
namespace host {

void Solve(const Array& a, const Array& b, const Array& x);
void Inverse(const Array& a, const Array& out);
void Slogdet(const Array& a, const Array& sign, const Array& logdet);
void Svd(const Array& a, const Array& u, const Array& s, const Array& vt);
void Qr(const Array& a, const QrOutput& out);
void Cholesky(const Array& a, const Array& out);
void Eigh(const Array& a, Triangle triangle, const Array& w, const Array& v);

}  // namespace host

}  // namespace chainerx::cuda
