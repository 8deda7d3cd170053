#pragma once

// Factorizations of small real and complex matrices, for which a LAPACK call takes longer than the arithmetic.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "chainerx/backends/native/kernels/numbers.h"

namespace chainerx::native {

// Up to this number of rows and columns, the functions below are faster than LAPACK.
constexpr int kSmallMatrix = 32;
constexpr int kSmallCholesky = 10;

// Replaces a row-major matrix by its LU factors with partial pivoting; row i was interchanged with row
// pivots[i] - 1, as LAPACK counts. Returns false at a pivot of zero.
template <class T>
bool FactorLu(int n, T* a, int* pivots) {
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i) {
            if (GetSize(a[i * n + k]) > GetSize(a[p * n + k])) p = i;
        }
        pivots[k] = p + 1;
        T* row = a + k * n;
        if (p != k) std::swap_ranges(row, row + n, a + p * n);
        if (row[k] == T{0}) return false;
        for (int i = k + 1; i < n; ++i) {
            T* other = a + i * n;
            T f = other[k] / row[k];
            other[k] = f;
            for (int j = k + 1; j < n; ++j) other[j] -= f * row[j];
        }
    }
    return true;
}

// Replaces the row-major b (n, columns) by the solution of a x = b, from the factors of a.
template <class T>
void SolveLu(int n, const T* a, const int* pivots, int64_t columns, T* b) {
    auto subtract = [columns](T f, const T* x, T* y) {
        for (int64_t c = 0; c < columns; ++c) y[c] -= f * x[c];
    };
    for (int i = 0; i < n; ++i) {
        int p = pivots[i] - 1;
        if (p != i) std::swap_ranges(b + i * columns, b + (i + 1) * columns, b + p * columns);
    }
    for (int i = 1; i < n; ++i) {
        for (int j = 0; j < i; ++j) subtract(a[i * n + j], b + j * columns, b + i * columns);
    }
    for (int i = n - 1; i >= 0; --i) {
        T* x = b + i * columns;
        for (int j = i + 1; j < n; ++j) subtract(a[i * n + j], b + j * columns, x);
        for (int64_t c = 0; c < columns; ++c) x[c] /= a[i * n + i];
    }
}

// Replaces the lower triangle of a row-major matrix by its Cholesky factor. Returns false when the matrix is not
// positive definite.
template <class T>
bool FactorCholesky(int n, T* a) {
    for (int i = 0; i < n; ++i) {
        T* x = a + i * n;
        for (int j = 0; j <= i; ++j) {
            const T* y = a + j * n;
            T s = x[j];
            for (int k = 0; k < j; ++k) s -= x[k] * Conjugate(y[k]);
            if (j < i) {
                x[j] = s / y[j];
            } else if (GetReal(s) <= 0) {
                return false;
            } else {
                x[i] = std::sqrt(GetReal(s));
            }
        }
    }
    return true;
}

// Length of a vector, without overflow.
template <class T>
T GetNorm(const T* x, int n) {
    T sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    constexpr T kLeast = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
    if (sum > kLeast && sum <= std::numeric_limits<T>::max()) return std::sqrt(sum);
    T scale = 0;
    for (int i = 0; i < n; ++i) scale = std::max(scale, std::fabs(x[i]));
    if (sum == 0 && scale == 0) return 0;
    sum = 0;
    for (int i = 0; i < n; ++i) sum += (x[i] / scale) * (x[i] / scale);
    return scale * std::sqrt(sum);
}

template <class T>
T GetNorm(const std::complex<T>* x, int n) {
    return GetNorm(reinterpret_cast<const T*>(x), 2 * n);
}

// x -= tau v (v^H x) with v = (1, rest) of n elements: a reflection.
template <class T>
void Reflect(const T* rest, T tau, int n, T* x) {
    T s = x[0];
    for (int i = 1; i < n; ++i) s += Conjugate(rest[i]) * x[i];
    s *= tau;
    x[0] -= s;
    for (int i = 1; i < n; ++i) x[i] -= s * rest[i];
}

// Like LAPACK's geqrf: replaces a column-major matrix of m rows by r and reflectors.
template <class T>
void FactorQr(int m, int n, T* a, T* factors) {
    for (int j = 0; j < std::min(m, n); ++j) {
        T* v = a + j * m + j;
        int length = m - j;
        RealOf<T> norm = GetNorm(v + 1, length - 1);
        factors[j] = 0;
        if (norm == 0 && std::imag(v[0]) == 0) continue;
        RealOf<T> beta = -std::copysign(std::hypot(std::abs(v[0]), norm), GetReal(v[0]));
        factors[j] = (beta - v[0]) / beta;
        for (int i = 1; i < length; ++i) v[i] /= v[0] - beta;
        v[0] = beta;
        for (int c = j + 1; c < n; ++c) Reflect(v, Conjugate(factors[j]), length, a + c * m + j);
    }
}

// Like LAPACK's orgqr: replaces the k reflectors by the first n columns of q.
template <class T>
void ExpandQ(int m, int n, int k, T* a, const T* factors) {
    for (int c = k; c < n; ++c) {
        std::fill_n(a + c * m, m, T{0});
        a[c * m + c] = 1;
    }
    for (int j = k - 1; j >= 0; --j) {
        T* v = a + j * m + j;
        for (int c = j + 1; c < n; ++c) Reflect(v, factors[j], m - j, a + c * m + j);
        for (int i = 1; i < m - j; ++i) v[i] *= -factors[j];
        v[0] = T{1} - factors[j];
        std::fill_n(a + j * m, j, T{0});
    }
}

}  // namespace chainerx::native
