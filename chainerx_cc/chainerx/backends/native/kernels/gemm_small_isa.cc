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

// Blocks of C whose sums stay in registers: of rows of A and vectors of columns, or of rows and dot products.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kBlockRows = 4;
constexpr int kBlockVectors = 4;  // 16 of 32 registers
constexpr int kDotColumns = 4;
#elif defined(__AVX2__)
constexpr int kBlockRows = 6;
constexpr int kBlockVectors = 2;  // 12 of 16
constexpr int kDotColumns = 3;
#else
constexpr int kBlockRows = 4;
constexpr int kBlockVectors = 2;  // 8 of 16
constexpr int kDotColumns = 2;
#endif
constexpr int kDotRows = 4;

// Whether strips of B are packed and columns of dot products cut. Vectors of whole lines of the cache gain little.
constexpr bool kPacksStrips = CHAINERX_SIMD_BYTES < 64;
constexpr int64_t kLittle = 4096;  // elements of B, up to which packing takes longer than it saves
constexpr int64_t kShortSum = 32;
constexpr int64_t kDotBytes = int64_t{1} << 17;     // of columns that stay in the second-level cache
constexpr int64_t kPackedBytes = int64_t{1} << 18;  // of strips
constexpr int64_t kAhead = 8;                       // rows of B from a fetch to its use

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

// The same for `rows` <= MR rows.
template <class T, int MR, int NV, bool kTail>
CHAINERX_INLINE void ColumnRows(const Problem<T>& p, int64_t rows, int64_t i, int64_t j, int tail) {
    if (rows == MR) {
        ColumnBlock<T, MR, NV, kTail>(p, i, j, tail);
    } else if constexpr (MR > 1) {
        ColumnRows<T, MR - 1, NV, kTail>(p, rows, i, j, tail);
    }
}

// For rows [first, last), in blocks of about equally many
template <class T, int NV, bool kTail>
CHAINERX_INLINE void ColumnStrip(const Problem<T>& p, int64_t first, int64_t last, int64_t j, int tail) {
    int64_t blocks = (last - first + kBlockRows - 1) / kBlockRows;
    int64_t step = (last - first + blocks - 1) / blocks;
    for (int64_t i = first; i < last; i += step) {
        ColumnRows<T, kBlockRows, NV, kTail>(p, last - i < step ? last - i : step, i, j, tail);
    }
}

// Rows [first, last) of C, whose columns begin at a vector. B is as it is.
template <class T>
void ColumnStrips(const Problem<T>& p, int64_t first, int64_t last) {
    constexpr int kSize = Simd<T>::kSize;
    int64_t j = 0;
    for (; j + kBlockVectors * kSize <= p.n; j += kBlockVectors * kSize) {
        ColumnStrip<T, kBlockVectors, false>(p, first, last, j, 0);
    }
    if (kBlockVectors > 2 && j + 2 * kSize <= p.n) {
        ColumnStrip<T, 2, false>(p, first, last, j, 0);
        j += 2 * kSize;
    }
    if (j + kSize <= p.n) {
        ColumnStrip<T, 1, false>(p, first, last, j, 0);
        j += kSize;
    }
    if (j < p.n) {
        ColumnStrip<T, 1, true>(p, first, last, j, static_cast<int>(p.n - j));
    }
}

template <class T>
constexpr int64_t kStripColumns = kBlockVectors * Simd<T>::kSize;

// Copies strips of B, of `columns` from j on, each as [k][columns of a strip].
template <class T>
CHAINERX_INLINE void PackStrips(const Problem<T>& p, int64_t j, int64_t columns, T* to) {
    constexpr int kSize = Simd<T>::kSize;
    const T* b = p.b + j;
    for (int64_t q = 0; q < p.k; ++q, b += p.ldb, to += kStripColumns<T>) {
        T* row = to;
        for (int64_t i = 0; i < columns; i += kStripColumns<T>, row += p.k * kStripColumns<T>) {
            __builtin_prefetch(b + i + kAhead * p.ldb);
            for (int v = 0; v < kBlockVectors; ++v) Store(row + v * kSize, Load(b + i + v * kSize));
        }
    }
}

// The problem of a strip that is packed.
template <class T>
CHAINERX_INLINE Problem<T> StripOf(const Problem<T>& p, int64_t j, const T* packed) {
    Problem<T> strip = p;
    strip.n = kStripColumns<T>;
    strip.b = packed;
    strip.ldb = kStripColumns<T>;
    strip.c = p.c + j;
    return strip;
}

// Long sums read a strip of B for all rows.
template <class T>
void LongStrips(const Problem<T>& p, int64_t columns) {
    int64_t fit = kPackedBytes / static_cast<int64_t>(p.k * sizeof(T)) / kStripColumns<T> * kStripColumns<T>;
    fit = fit < kStripColumns<T> ? kStripColumns<T> : fit;
    fit = fit < columns ? fit : columns;
    Scratch<T> strips{p.k * fit};
    for (int64_t first = 0; first < columns; first += fit) {
        int64_t count = columns - first < fit ? columns - first : fit;
        PackStrips(p, first, count, strips.data());
        for (int64_t j = 0; j < count; j += kStripColumns<T>) {
            ColumnStrip<T, kBlockVectors, false>(StripOf<T>(p, first + j, strips.data() + j * p.k), 0, p.m, 0, 0);
        }
    }
}

// Short ones mostly write C, along its rows.
template <class T>
void ShortStrips(const Problem<T>& p, int64_t columns) {
    Scratch<T> strips{p.k * columns};
    PackStrips(p, 0, columns, strips.data());
    T a[kBlockRows * kShortSum];
    for (int64_t i = 0; i < p.m; i += kBlockRows) {
        int64_t rows = p.m - i < kBlockRows ? p.m - i : kBlockRows;
        for (int64_t q = 0; q < p.k; ++q) {
            for (int64_t r = 0; r < rows; ++r) a[q * rows + r] = p.a[(i + r) * p.a_row + q * p.a_col];
        }
        Problem<T> block = p;
        block.a = a;
        block.a_row = 1;
        block.a_col = rows;
        block.c = p.c + i * p.ldc;
        for (int64_t j = 0; j < columns; j += kStripColumns<T>) {
            ColumnStrip<T, kBlockVectors, false>(StripOf<T>(block, j, strips.data() + j * p.k), 0, rows, 0, 0);
        }
    }
}

template <class T>
void Columns(const Problem<T>& p) {
    // Rows of B lie a power of two apart in many networks, and then few of them fit into a cache.
    bool is_packed = kPacksStrips && p.m >= 2 * kBlockRows && p.n >= kStripColumns<T> && p.k * p.n >= kLittle;
    int64_t columns = is_packed ? p.n / kStripColumns<T> * kStripColumns<T> : 0;
    if (is_packed && p.k <= kShortSum) {
        ShortStrips(p, columns);
    } else if (is_packed) {
        LongStrips(p, columns);
    }
    Problem<T> rest = p;
    rest.n -= columns;
    rest.b += columns;
    rest.c += columns;
    ColumnStrips(rest, 0, p.m);
}

template <class T>
CHAINERX_INLINE T SumLanes(Vec<T> v) {
    return Sum<T>(v);
}
#if defined(__AVX2__) && !defined(__AVX512F__)
// In the order of Sum, without memory
template <>
CHAINERX_INLINE float SumLanes<float>(Vec<float> v) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
#endif

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
            WriteScalar(p, p.c + (i + r) * p.ldc + j + s, SumLanes<T>(acc[r][s]));
        }
    }
}

// Columns [first, last)
template <class T, int MR>
CHAINERX_INLINE void DotStrip(const Problem<T>& p, int64_t i, int64_t first, int64_t last) {
    constexpr int kColumns = MR == 1 ? 8 : kDotColumns;
    int64_t j = first;
    for (; j + kColumns <= last; j += kColumns) {
        DotBlock<T, MR, kColumns>(p, i, j);
    }
    for (; j < last; ++j) {
        DotBlock<T, MR, 1>(p, i, j);
    }
}

template <class T>
void Dots(const Problem<T>& p) {
    constexpr int64_t kStep = 8 * kDotColumns;  // without a rest in a strip
    int64_t fit = kDotBytes / static_cast<int64_t>(p.k * sizeof(T)) / kStep * kStep;
    int64_t step = kPacksStrips ? (fit < kStep ? kStep : fit) : p.n;
    for (int64_t j = 0; j < p.n; j += step) {
        int64_t end = p.n - j < step ? p.n : j + step;
        int64_t i = 0;
        for (; i + kDotRows <= p.m; i += kDotRows) {
            DotStrip<T, kDotRows>(p, i, j, end);
        }
        for (; i < p.m; ++i) {
            DotStrip<T, 1>(p, i, j, end);
        }
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
