// Products of bfloat16. The columns of B are cut into panels [k / 2][columns][2], so that a vector holds pairs of rows
// of some columns. An instruction multiplies it by a pair of elements of a row of A and adds both products within
// columns.

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/gemm_bf16.h"
#include "chainerx/backends/native/kernels/gemm_bf16_pack.h"
#include "chainerx/backends/native/kernels/gemm_bf16_panels.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

// Products of kRows rows of A, `a_row` elements apart, with a panel of kVectors vectors.
template <class T>
struct Bf16Tile {
    template <int kRows, int kVectors>
    static void Run(int64_t pairs, const uint16_t* a, int64_t a_row, const uint16_t* b, int columns, float beta,
                    uint16_t* c, int64_t ldc) {
        constexpr int kSums = kRows * kVectors;
        constexpr int kChains = kSums >= 8 ? 1 : kSums >= 4 ? 2 : 4;  // an addition takes several cycles
        __m512 acc[kChains][kRows][kVectors];
        for (auto& chain : acc) {
            for (auto& row : chain) {
                for (auto& vector : row) vector = _mm512_setzero_ps();
            }
        }
        auto add = [&](__m512(&chain)[kRows][kVectors]) __attribute__((always_inline)) {
            __m512bh panel[kVectors];
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                panel[v] = (__m512bh)_mm512_loadu_si512(b + v * kPairLanes);
                __builtin_prefetch(b + kAhead + v * kPairLanes);
            }
#pragma GCC unroll 16
            for (int r = 0; r < kRows; ++r) {
                int pair;
                __builtin_memcpy(&pair, a + r * a_row, sizeof(pair));
                auto row = (__m512bh)_mm512_set1_epi32(pair);
#pragma GCC unroll 16
                for (int v = 0; v < kVectors; ++v) chain[r][v] = _mm512_dpbf16_ps(chain[r][v], row, panel[v]);
            }
            a += 2;
            b += kVectors * kPairLanes;
        };
        int64_t p = 0;
        for (; p + kChains <= pairs; p += kChains) {
#pragma GCC unroll 4
            for (int i = 0; i < kChains; ++i) add(acc[i]);
        }
        for (; p < pairs; ++p) add(acc[0]);
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r, c += ldc) {
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 4
                for (int i = 1; i < kChains; ++i) acc[0][r][v] += acc[i][r][v];
                StoreRounded(acc[0][r][v], columns - v * kLanes, beta, c + v * kLanes);
            }
        }
    }
    // Elements of a panel, which is read from the second-level cache or from farther away.
    static constexpr int kAhead = 1024;
};

// Dot products of a row of A with kColumns columns of B, `ldb` elements apart.
template <int kColumns>
void Dots(int64_t k, const uint16_t* a, const uint16_t* b, int64_t ldb, float* sums) {
    __m512 acc[kColumns] = {};
    for (int64_t q = 0; q < k; q += kPairLanes) {
        __mmask32 mask = FirstLanes(k - q);
        __m512bh row = LoadBf16(a + q, mask);
#pragma GCC unroll 8
        for (int i = 0; i < kColumns; ++i) acc[i] = _mm512_dpbf16_ps(acc[i], row, LoadBf16(b + i * ldb + q, mask));
    }
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) sums[i] = _mm512_reduce_add_ps(acc[i]);
}

// Products of rows of A with columns of B that are stored one after the other.
void MultiplyByColumns(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const uint16_t* b, int64_t ldb,
                       float beta, uint16_t* c, int64_t ldc) {
    constexpr int kColumns = 8;
    float sums[kLanes] = {};
    for (int64_t column = 0; column < n; column += kColumns) {
        int columns = n - column < kColumns ? static_cast<int>(n - column) : kColumns;
        for (int64_t r = 0; r < m; ++r) {
            const uint16_t* row = a + r * lda;
            const uint16_t* first = b + column * ldb;
            if (columns == kColumns) {
                Dots<kColumns>(k, row, first, ldb, sums);
            } else {
                for (int i = 0; i < columns; ++i) Dots<1>(k, row, first + i * ldb, ldb, sums + i);
            }
            StoreRounded(_mm512_loadu_ps(sums), columns, beta, c + r * ldc + column);
        }
    }
}

// Products of rows of A with B stored by rows: a few rows of B at a time are added to sums, which stay in the cache.
void MultiplyByRows(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const uint16_t* b, int64_t ldb,
                    float beta, uint16_t* c, int64_t ldc) {
    constexpr int kRows = 8;
    int64_t width = (n + kPairLanes - 1) / kPairLanes * kPairLanes;
    Scratch<float> sums{m * width};
    for (int64_t i = 0; i < m * width; ++i) sums.data()[i] = 0;
    for (int64_t q = 0; q < k; q += kRows) {
        int64_t rows = k - q < kRows ? k - q : kRows;
        for (int64_t column = 0; column < n; column += kPairLanes) {
            __mmask32 mask = FirstLanes(n - column);
            // Unpacking interleaves two rows within each 128 bits: [0] has the first four columns of each, [1] the
            // rest.
            __m512bh pairs[kRows / 2][2];
#pragma GCC unroll 4
            for (int i = 0; i < kRows / 2; ++i) {
                const uint16_t* from = b + (q + 2 * i) * ldb + column;
                auto even = (__m512i)LoadBf16(from, 2 * i < rows ? mask : 0);
                auto odd = (__m512i)LoadBf16(from + ldb, 2 * i + 1 < rows ? mask : 0);
                pairs[i][0] = (__m512bh)_mm512_unpacklo_epi16(even, odd);
                pairs[i][1] = (__m512bh)_mm512_unpackhi_epi16(even, odd);
            }
            for (int64_t r = 0; r < m; ++r) {
                float* to = sums.data() + r * width + column;
                __m512 acc[2] = {_mm512_loadu_ps(to), _mm512_loadu_ps(to + kLanes)};
                __m128i row = _mm_maskz_loadu_epi16(static_cast<__mmask8>((1 << rows) - 1), a + r * lda + q);
                int weights[kRows / 2];
                _mm_storeu_si128(reinterpret_cast<__m128i*>(weights), row);
#pragma GCC unroll 4
                for (int i = 0; i < kRows / 2; ++i) {
                    auto weight = (__m512bh)_mm512_set1_epi32(weights[i]);
                    acc[0] = _mm512_dpbf16_ps(acc[0], weight, pairs[i][0]);
                    acc[1] = _mm512_dpbf16_ps(acc[1], weight, pairs[i][1]);
                }
                _mm512_storeu_ps(to, acc[0]);
                _mm512_storeu_ps(to + kLanes, acc[1]);
            }
        }
    }
    const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i high = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    for (int64_t r = 0; r < m; ++r) {
        float* row = sums.data() + r * width;
        for (int64_t column = 0; column < n; column += kPairLanes) {
            __m512 first = _mm512_loadu_ps(row + column);
            __m512 second = _mm512_loadu_ps(row + column + kLanes);
            uint16_t* to = c + r * ldc + column;
            StoreRounded(_mm512_permutex2var_ps(first, low, second), n - column, beta, to);
            if (column + kLanes >= n) break;
            StoreRounded(_mm512_permutex2var_ps(first, high, second), n - column - kLanes, beta, to + kLanes);
        }
    }
}

// The kernel of PanelProduct.
struct VectorKernel {
    using Panels = VectorTiles<float>;
    static constexpr int kColumns = kTileColumns<float>;

    static int64_t Step(int64_t m) { return PanelRows(m); }
    static int64_t PanelSize(int64_t k) { return 2 * Pairs(k) * kColumns; }

    static void Pack(int64_t k, const Bf16Matrix& b, int64_t first, int columns, uint16_t* panel) {
        PackPanel(k, b, first, columns, Vectors(columns) * kLanes, panel);
    }

    static void Multiply(int64_t rows, int64_t step, int columns, int64_t k, const uint16_t* a, int64_t lda,
                         const uint16_t* panel, float beta, uint16_t* c, int64_t ldc) {
        for (int64_t row = 0; row < rows; row += step) {
            int64_t count = rows - row < step ? rows - row : step;
            ChooseTile<float, Bf16Tile>(count, Vectors(columns))(Pairs(k), a + row * lda, lda, panel, columns, beta,
                                                                 c + row * ldc, ldc);
        }
    }
};

}  // namespace

void MultiplyFewBf16(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                     uint16_t* c, int64_t ldc) {
    // Every column is summed in the same order, so threads do not change the bits.
    constexpr int64_t kBlock = 4 * kPairLanes;
    ParallelFor((n + kBlock - 1) / kBlock, 1 + (int64_t{1} << 18) / (m * k * kBlock + 1),
                [&](int64_t begin, int64_t end) {
                    int64_t first = begin * kBlock;
                    int64_t columns = (end * kBlock < n ? end * kBlock : n) - first;
                    auto multiply = b.trans ? MultiplyByColumns : MultiplyByRows;
                    multiply(m, columns, k, a, lda, b.data + first * (b.trans ? b.ld : 1), b.ld, beta, c + first, ldc);
                });
}

void PackBf16Rows(int64_t m, int64_t k, const Bf16Matrix& a, int64_t width, uint16_t* packed) {
    constexpr int64_t kBlock = 2 * kPairLanes;
    ParallelFor((m + kBlock - 1) / kBlock, 1 + (1 << 15) / (k * kBlock + 1), [&](int64_t begin, int64_t end) {
        int64_t first = begin * kBlock;
        int64_t last = end * kBlock < m ? end * kBlock : m;
        if (a.trans) {
            auto load = [&](int64_t pair, int64_t r) {
                return (Vec<float>)LoadPairs(a.data + 2 * pair * a.ld + first + r, a.ld, 2 * pair + 1 < k,
                                             last - first - r);
            };
            TransposePairs(Pairs(k), last - first, load, packed + first * width, width);
            return;
        }
        for (int64_t r = first; r < last; ++r) {
            for (int64_t q = 0; q < width; q += kPairLanes) {
                auto pairs = (__m512i)LoadBf16(a.data + r * a.ld + q, FirstLanes(k - q));
                _mm512_mask_storeu_epi16(packed + r * width + q, FirstLanes(width - q), pairs);
            }
        }
    });
}

void MultiplyBf16(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                  uint16_t* c, int64_t ldc) {
    PanelProduct<VectorKernel>{m, n, k, a, lda, b, beta, c, ldc}.Run();
}

}  // namespace chainerx::native::CHAINERX_ISA
