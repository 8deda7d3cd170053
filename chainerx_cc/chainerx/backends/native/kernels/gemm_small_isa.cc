#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/gemm_small.h"
#include "chainerx/backends/native/kernels/simd.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

template <class T>
struct Problem {
    int64_t m, n, k;
    T alpha, beta;
    const T* a;  // element (i, p) of op(A) at a[i * a_row + p * a_col]
    int64_t a_row, a_col;
    const T* b;  // rows of n (kernel on columns) or of k (kernel on dot products), ldb apart
    int64_t ldb;
    T* c;
    int64_t ldc;
};

template <class T>
CHAINERX_INLINE void WriteScalar(const Problem<T>& p, T* c, T value) {
    *c = p.beta == T{0} ? p.alpha * value : p.alpha * value + p.beta * *c;
}

// C[i:i+MR, j:j+NV*kSize] with B stored k x n: NV vectors of a row of B times MR scalars of A.
// With kTail the last vector has `tail` elements.
template <class T, int MR, int NV, bool kTail>
CHAINERX_INLINE void ColumnBlock(const Problem<T>& p, int64_t i, int64_t j, int tail) {
    constexpr int kSize = Simd<T>::kSize;
    Vec<T> acc[MR][NV] = {};
    const T* a = p.a + i * p.a_row;
    const T* b = p.b + j;
    for (int64_t q = 0; q < p.k; ++q, a += p.a_col, b += p.ldb) {
        Vec<T> bv[NV];
        for (int v = 0; v < NV; ++v) {
            bv[v] = kTail && v == NV - 1 ? LoadPartial(b + v * kSize, tail) : Load(b + v * kSize);
        }
        for (int r = 0; r < MR; ++r) {
            Vec<T> av = Set(a[r * p.a_row]);
            for (int v = 0; v < NV; ++v) {
                acc[r][v] += av * bv[v];
            }
        }
    }
    for (int r = 0; r < MR; ++r) {
        for (int v = 0; v < NV; ++v) {
            T* c = p.c + (i + r) * p.ldc + j + v * kSize;
            Vec<T> out = Set(p.alpha) * acc[r][v];
            if (kTail && v == NV - 1) {
                if (p.beta != T{0}) {
                    out += Set(p.beta) * LoadPartial(c, tail);
                }
                StorePartial(c, out, tail);
            } else {
                if (p.beta != T{0}) {
                    out += Set(p.beta) * Load(c);
                }
                Store(c, out);
            }
        }
    }
}

template <class T, int NV, bool kTail>
CHAINERX_INLINE void ColumnStrip(const Problem<T>& p, int64_t j, int tail) {
    constexpr int kRows = 4;
    int64_t i = 0;
    for (; i + kRows <= p.m; i += kRows) {
        ColumnBlock<T, kRows, NV, kTail>(p, i, j, tail);
    }
    switch (p.m - i) {
        case 3:
            ColumnBlock<T, 3, NV, kTail>(p, i, j, tail);
            break;
        case 2:
            ColumnBlock<T, 2, NV, kTail>(p, i, j, tail);
            break;
        case 1:
            ColumnBlock<T, 1, NV, kTail>(p, i, j, tail);
            break;
        default:
            break;
    }
}

template <class T>
void Columns(const Problem<T>& p) {
    constexpr int kSize = Simd<T>::kSize;
    int64_t j = 0;
    for (; j + 4 * kSize <= p.n; j += 4 * kSize) {
        ColumnStrip<T, 4, false>(p, j, 0);
    }
    if (j + 2 * kSize <= p.n) {
        ColumnStrip<T, 2, false>(p, j, 0);
        j += 2 * kSize;
    }
    if (j + kSize <= p.n) {
        ColumnStrip<T, 1, false>(p, j, 0);
        j += kSize;
    }
    if (j < p.n) {
        ColumnStrip<T, 1, true>(p, j, static_cast<int>(p.n - j));
    }
}

// C[i:i+MR, j:j+NR] with B stored n x k and rows of A contiguous: dot products along k.
template <class T, int MR, int NR>
CHAINERX_INLINE void DotBlock(const Problem<T>& p, int64_t i, int64_t j) {
    constexpr int kSize = Simd<T>::kSize;
    Vec<T> acc[MR][NR] = {};
    const T* a = p.a + i * p.a_row;
    const T* b = p.b + j * p.ldb;
    int64_t q = 0;
    for (; q + kSize <= p.k; q += kSize) {
        Vec<T> av[MR];
        for (int r = 0; r < MR; ++r) {
            av[r] = Load(a + r * p.a_row + q);
        }
        for (int s = 0; s < NR; ++s) {
            Vec<T> bv = Load(b + s * p.ldb + q);
            for (int r = 0; r < MR; ++r) {
                acc[r][s] += av[r] * bv;
            }
        }
    }
    if (q < p.k) {
        int tail = static_cast<int>(p.k - q);
        for (int s = 0; s < NR; ++s) {
            Vec<T> bv = LoadPartial(b + s * p.ldb + q, tail);
            for (int r = 0; r < MR; ++r) {
                acc[r][s] += LoadPartial(a + r * p.a_row + q, tail) * bv;
            }
        }
    }
    for (int r = 0; r < MR; ++r) {
        for (int s = 0; s < NR; ++s) {
            WriteScalar(p, p.c + (i + r) * p.ldc + j + s, Sum<T>(acc[r][s]));
        }
    }
}

template <class T, int MR>
CHAINERX_INLINE void DotStrip(const Problem<T>& p, int64_t i) {
    constexpr int kColumns = MR == 1 ? 8 : 4;
    int64_t j = 0;
    for (; j + kColumns <= p.n; j += kColumns) {
        DotBlock<T, MR, kColumns>(p, i, j);
    }
    for (; j < p.n; ++j) {
        DotBlock<T, MR, 1>(p, i, j);
    }
}

template <class T>
void Dots(const Problem<T>& p) {
    int64_t i = 0;
    for (; i + 4 <= p.m; i += 4) {
        DotStrip<T, 4>(p, i);
    }
    for (; i < p.m; ++i) {
        DotStrip<T, 1>(p, i);
    }
}

}  // namespace

template <class T>
void GemmSmall(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
               const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
    if (n == 1 && m > 1 && ldc == 1) {
        // A column is a row of the transposed product: C' = op(B)' op(A)'.
        GemmSmall(!trans_b, !trans_a, n, m, k, alpha, b, ldb, a, lda, beta, c, m);
        return;
    }
    int64_t a_row = trans_a ? 1 : lda;
    int64_t a_col = trans_a ? lda : 1;
    Problem<T> p{m, n, k, alpha, beta, a, a_row, a_col, b, ldb, c, ldc};
    if (!trans_b) {
        Columns(p);
        return;
    }
    if (n == 1) {
        // One row of B, contiguous: the same as one column with distance 1.
        p.ldb = 1;
        if (a_col != 1) {
            Columns(p);
            return;
        }
        p.ldb = ldb;
    }
    if (a_col == 1 && (m < 4 || k >= 8 * Simd<T>::kSize)) {
        Dots(p);
        return;
    }
    if (m == 1) {
        // A strided vector: gather it.
        Scratch<T> row{k};
        for (int64_t q = 0; q < k; ++q) {
            row.data()[q] = a[q * a_col];
        }
        p.a = row.data();
        p.a_col = 1;
        Dots(p);
        return;
    }
    Scratch<T> transposed{k * n};  // B as k x n
    for (int64_t j = 0; j < n; ++j) {
        for (int64_t q = 0; q < k; ++q) {
            transposed.data()[q * n + j] = b[j * ldb + q];
        }
    }
    p.b = transposed.data();
    p.ldb = n;
    Columns(p);
}

template void GemmSmall<float>(bool, bool, int64_t, int64_t, int64_t, float, const float*, int64_t, const float*,
                               int64_t, float, float*, int64_t);
template void GemmSmall<double>(bool, bool, int64_t, int64_t, int64_t, double, const double*, int64_t, const double*,
                                int64_t, double, double*, int64_t);

}  // namespace chainerx::native::CHAINERX_ISA
