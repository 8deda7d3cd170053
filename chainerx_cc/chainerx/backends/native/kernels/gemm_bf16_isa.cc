// Products of bfloat16. The columns of B are cut into panels [k / 2][columns][2], so that a vector holds pairs of rows
// of some columns. An instruction multiplies it by a pair of elements of a row of A and adds both products within
// columns.

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/gemm_bf16.h"
#include "chainerx/backends/native/kernels/half.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

constexpr int kLanes = Simd<float>::kSize;
constexpr int kMaxSums = kTileRows * kTileColumns<float>;

CHAINERX_INLINE int64_t Pairs(int64_t k) { return (k + 1) / 2; }

// Sums of kRows rows of A, `a_row` elements apart, with a panel of kVectors vectors, to sums [kRows][kVectors][kLanes]
template <class T>
struct Bf16Tile {
    template <int kRows, int kVectors>
    static void Run(int64_t pairs, const uint16_t* a, int64_t a_row, const uint16_t* b, float* sums) {
        constexpr int kSums = kRows * kVectors;
        constexpr int kChains = kSums >= 8 ? 1 : kSums >= 4 ? 2 : 4;  // an addition takes several cycles
        __m512 acc[kChains][kRows][kVectors];
        for (auto& chain : acc) {
            for (auto& row : chain) {
                for (auto& vector : row) vector = _mm512_setzero_ps();
            }
        }
        auto add = [&](__m512(&chain)[kRows][kVectors]) __attribute__((always_inline)) {
            __m512bh columns[kVectors];
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                columns[v] = (__m512bh)_mm512_loadu_si512(b + v * kLanes * 2);
                __builtin_prefetch(b + kAhead + v * kLanes * 2);
            }
#pragma GCC unroll 16
            for (int r = 0; r < kRows; ++r) {
                int pair;
                __builtin_memcpy(&pair, a + r * a_row, sizeof(pair));
                auto row = (__m512bh)_mm512_set1_epi32(pair);
#pragma GCC unroll 16
                for (int v = 0; v < kVectors; ++v) chain[r][v] = _mm512_dpbf16_ps(chain[r][v], row, columns[v]);
            }
            a += 2;
            b += kVectors * kLanes * 2;
        };
        int64_t p = 0;
        for (; p + kChains <= pairs; p += kChains) {
#pragma GCC unroll 4
            for (int i = 0; i < kChains; ++i) add(acc[i]);
        }
        for (; p < pairs; ++p) add(acc[0]);
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 4
                for (int i = 1; i < kChains; ++i) acc[0][r][v] += acc[i][r][v];
                _mm512_storeu_ps(sums + (r * kVectors + v) * kLanes, acc[0][r][v]);
            }
        }
    }
    // Elements of a panel, which is read from the second-level cache or from farther away.
    static constexpr int kAhead = 1024;
};

// Rounds sums [rows][vectors][kLanes] to C.
void StoreSums(const float* sums, int64_t rows, int columns, int vectors, float beta, uint16_t* c, int64_t ldc) {
    for (int64_t r = 0; r < rows; ++r, sums += vectors * kLanes, c += ldc) {
        for (int i = 0; i < columns; ++i) {
            c[i] = FloatToBfloat16(beta == 0 ? sums[i] : sums[i] + beta * Bfloat16ToFloat(c[i]));
        }
    }
}

// Pairs of B stored by columns, which are neighbors there: blocks of them, so that a cache line is read at a time.
void PackPairs(int64_t k, int columns, const uint16_t* b, int64_t ld, int64_t width, uint32_t* to) {
    constexpr int64_t kBlock = 16;
    for (int64_t first = 0; first < k / 2; first += kBlock) {
        int64_t last = k / 2 - first < kBlock ? k / 2 : first + kBlock;
        for (int i = 0; i < columns; ++i) {
            for (int64_t p = first; p < last; ++p) __builtin_memcpy(to + p * width + i, b + i * ld + 2 * p, 4);
        }
    }
    for (int i = 0; k % 2 != 0 && i < columns; ++i) to[k / 2 * width + i] = b[i * ld + k - 1];
}

// Pairs of B stored by rows, two at a time.
void InterleaveRows(int64_t k, int columns, const uint16_t* b, int64_t ld, int64_t width, uint32_t* to) {
    for (int64_t q = 0; q + 2 <= k; q += 2, b += 2 * ld, to += width) {
        for (int i = 0; i < columns; ++i) to[i] = b[i] | static_cast<uint32_t>(b[ld + i]) << 16;
    }
    for (int i = 0; k % 2 != 0 && i < columns; ++i) to[i] = b[i];
}

struct Part {
    int64_t first_panel;
    int64_t last_panel;  // exclusive
    int64_t first_row;
    int64_t last_row;  // exclusive
};

constexpr int kPairLanes = 2 * kLanes;  // elements of a vector

CHAINERX_INLINE __m512bh LoadBf16(const uint16_t* p, __mmask32 mask) {
    return (__m512bh)_mm512_maskz_loadu_epi16(mask, p);
}

// Mask of the first n elements of a vector.
CHAINERX_INLINE __mmask32 FirstLanes(int64_t n) { return n >= kPairLanes ? ~__mmask32{0} : (__mmask32{1} << n) - 1; }

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
    float sums[kColumns];
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
            StoreSums(sums, 1, columns, 0, beta, c + r * ldc + column, ldc);
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
        for (int64_t column = 0; column < width; column += kPairLanes) {
            __m512 first = _mm512_loadu_ps(row + column);
            __m512 second = _mm512_loadu_ps(row + column + kLanes);
            _mm512_storeu_ps(row + column, _mm512_permutex2var_ps(first, low, second));
            _mm512_storeu_ps(row + column + kLanes, _mm512_permutex2var_ps(first, high, second));
        }
        StoreSums(row, 1, static_cast<int>(n), 0, beta, c + r * ldc, ldc);
    }
}

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

int64_t GetPackedBf16Size(int64_t k, int64_t n) { return VectorTiles<float>{n}.vectors() * kLanes * Pairs(k) * 2; }

void PackBf16Columns(int64_t k, int64_t n, const Bf16Matrix& b, uint16_t* packed) {
    VectorTiles<float> panels{n};
    ParallelFor(panels.count(), 1 + (1 << 15) / (k * kTileColumns<float> + 1), [&](int64_t begin, int64_t end) {
        for (int64_t panel = begin; panel < end; ++panel) {
            int64_t first = panels.Column(panel);
            int64_t width = panels.Column(panel + 1) - first;
            int columns = panels.Columns(panel);
            auto* to = reinterpret_cast<uint32_t*>(packed + first * Pairs(k) * 2);
            if (b.trans) {
                PackPairs(k, columns, b.data + first * b.ld, b.ld, width, to);
            } else {
                InterleaveRows(k, columns, b.data + first, b.ld, width, to);
            }
            for (int64_t p = 0; p < Pairs(k); ++p) {
                for (int64_t i = columns; i < width; ++i) to[p * width + i] = 0;
            }
        }
    });
}

void PackBf16Rows(int64_t m, int64_t k, const Bf16Matrix& a, uint16_t* packed) {
    int64_t width = Pairs(k) * 2;
    int64_t row = a.trans ? 1 : a.ld;
    int64_t column = a.trans ? a.ld : 1;
    constexpr int64_t kBlock = 32;
    ParallelFor((m + kBlock - 1) / kBlock, 1 + (1 << 15) / (k * kBlock + 1), [&](int64_t begin, int64_t end) {
        for (int64_t first = begin * kBlock; first < end * kBlock && first < m; first += kBlock) {
            int64_t last = m - first < kBlock ? m : first + kBlock;
            for (int64_t block = 0; block < k; block += kBlock) {
                int64_t stop = k - block < kBlock ? k : block + kBlock;
                for (int64_t r = first; r < last; ++r) {
                    for (int64_t q = block; q < stop; ++q) packed[r * width + q] = a.data[r * row + q * column];
                }
            }
            for (int64_t r = first; r < last && k % 2 != 0; ++r) packed[r * width + k] = 0;
        }
    });
}

void MultiplyBf16(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const uint16_t* packed, float beta,
                  uint16_t* c, int64_t ldc) {
    VectorTiles<float> panels{n};
    int64_t pairs = Pairs(k);
    auto multiply = [&](const Part& part) {
        int64_t step = PanelRows(part.last_row - part.first_row);
        float sums[kMaxSums];
        for (int64_t panel = part.first_panel; panel < part.last_panel; ++panel) {
            int64_t column = panels.Column(panel);
            int columns = panels.Columns(panel);
            int vectors = (columns + kLanes - 1) / kLanes;
            const uint16_t* b = packed + column * pairs * 2;
            for (int64_t row = part.first_row; row < part.last_row; row += step) {
                int64_t rows = part.last_row - row < step ? part.last_row - row : step;
                ChooseTile<float, Bf16Tile>(rows, vectors)(pairs, a + row * lda, lda, b, sums);
                StoreSums(sums, rows, columns, vectors, beta, c + row * ldc + column, ldc);
            }
        }
    };
    // Blocks of rows, which stay in the second-level cache, and if they are few of panels, so small that every thread
    // gets some.
    constexpr int64_t kRowElements = int64_t{1} << 17;
    int64_t wanted = InParallelRegion() ? 1 : GetNumThreads();
    int64_t most = kRowElements / (k + 1) / kTileRows * kTileRows;
    most = most < 8 * kTileRows ? 8 * kTileRows : most;
    int64_t row_parts = (m + most - 1) / most;
    int64_t panel_parts = (wanted + row_parts - 1) / row_parts;
    panel_parts = panel_parts < panels.count() ? panel_parts : panels.count();
    constexpr double kMinWork = 1 << 18;
    double work = static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n) /
                  static_cast<double>(row_parts * panel_parts);
    ParallelFor(row_parts * panel_parts, 1 + static_cast<int64_t>(kMinWork / (work + 1)),
                [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                        int64_t row = i / panel_parts;
                        int64_t panel = i % panel_parts;
                        multiply(Part{panels.count() * panel / panel_parts, panels.count() * (panel + 1) / panel_parts,
                                      m * row / row_parts, m * (row + 1) / row_parts});
                    }
                });
}

}  // namespace chainerx::native::CHAINERX_ISA
