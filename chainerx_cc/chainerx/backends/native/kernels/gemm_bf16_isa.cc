// Products of bfloat16. The columns of B are cut into panels [k / 2][columns][2], so that a vector holds pairs of rows
// of some columns. An instruction multiplies it by a pair of elements of a row of A and adds both products within
// columns.

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/gemm_bf16.h"
#include "chainerx/backends/native/kernels/gemm_bf16_pack.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

// Rounds the first `count` sums to C, where beta times C is added before. The instruction makes zeros of denormal sums,
// as those that multiply do.
CHAINERX_INLINE void StoreRounded(__m512 sums, int64_t count, float beta, uint16_t* c) {
    __mmask16 mask = FirstSums(count);
    if (beta != 0) {
        __m512i wide = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, c)), 16);
        sums = _mm512_fmadd_ps(_mm512_set1_ps(beta), _mm512_castsi512_ps(wide), sums);
    }
    _mm256_mask_storeu_epi16(c, mask, (__m256i)_mm512_cvtneps_pbh(sums));
}

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
        bool is_whole = columns == kVectors * kLanes;
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

// A product whose rows are cut into blocks that stay in the second-level cache. If panels are few, blocks are so small
// that every thread gets some.
class PanelProduct {
public:
    PanelProduct(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                 uint16_t* c, int64_t ldc)
        : m_{m},
          k_{k},
          a_{a},
          lda_{lda},
          b_{b},
          beta_{beta},
          c_{c},
          ldc_{ldc},
          panels_{n},
          step_{PanelRows(m)},
          steps_{(m + step_ - 1) / step_} {
        constexpr int64_t kRowElements = int64_t{1} << 17;
        int64_t most = kRowElements / (k + 1) / kTileRows * kTileRows;
        most = most < 8 * kTileRows ? 8 * kTileRows : most;
        blocks_ = (m + most - 1) / most;
        is_cached_ = blocks_ == 1;
        int64_t threads = InParallelRegion() ? 1 : GetNumThreads();
        int64_t wanted = (threads + panels_.count() - 1) / panels_.count();
        blocks_ = blocks_ < wanted ? wanted : blocks_;
        blocks_ = blocks_ < steps_ ? blocks_ : steps_;
    }

    void Run() const {
        if (is_cached_) {
            RunPanelByPanel();
        } else {
            RunBlockByBlock();
        }
    }

private:
    // Packs a panel right before it is used.
    void RunPanelByPanel() const {
        ParallelFor(panels_.count() * blocks_, Grain(), [this](int64_t begin, int64_t end) {
            Scratch<uint16_t> panel{PanelSize()};
            for (int64_t i = begin; i < end; ++i) {
                Pack(i / blocks_, panel.data());
                Multiply(i / blocks_, panel.data(), i % blocks_);
            }
        });
    }

    // Packs all panels first.
    void RunBlockByBlock() const {
        int64_t count = panels_.count();
        Scratch<uint16_t> panels{count * PanelSize()};
        ParallelFor(count, 1 + (1 << 15) / (PanelSize() + 1), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) Pack(i, panels.data() + i * PanelSize());
        });
        ParallelFor(count * blocks_, Grain(), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                Multiply(i % count, panels.data() + i % count * PanelSize(), i / count);
            }
        });
    }

    int64_t PanelSize() const { return 2 * Pairs(k_) * kTileColumns<float>; }

    // Panels of a block that make a thread worthwhile.
    int64_t Grain() const {
        constexpr double kMinWork = 1 << 18;
        double work = static_cast<double>(m_) * static_cast<double>(k_) * kTileColumns<float>;
        return 1 + static_cast<int64_t>(kMinWork / (work / static_cast<double>(blocks_) + 1));
    }

    void Pack(int64_t panel, uint16_t* packed) const {
        int columns = panels_.Columns(panel);
        PackPanel(k_, b_, panels_.Column(panel), columns, Vectors(columns) * kLanes, packed);
    }

    void Multiply(int64_t panel, const uint16_t* packed, int64_t block) const {
        int64_t column = panels_.Column(panel);
        int columns = panels_.Columns(panel);
        int64_t last_row = FirstRow(block + 1);
        for (int64_t row = FirstRow(block); row < last_row; row += step_) {
            int64_t rows = last_row - row < step_ ? last_row - row : step_;
            ChooseTile<float, Bf16Tile>(rows, Vectors(columns))(Pairs(k_), a_ + row * lda_, lda_, packed, columns,
                                                                beta_, c_ + row * ldc_ + column, ldc_);
        }
    }

    // Of a block. Threads do not change which rows are in a tile, and so no bits.
    int64_t FirstRow(int64_t block) const {
        int64_t row = steps_ * block / blocks_ * step_;
        return row < m_ ? row : m_;
    }

    int64_t m_;
    int64_t k_;
    const uint16_t* a_;
    int64_t lda_;
    const Bf16Matrix& b_;
    float beta_;
    uint16_t* c_;
    int64_t ldc_;
    VectorTiles<float> panels_;
    int64_t step_;   // rows of a tile
    int64_t steps_;  // tiles
    int64_t blocks_;
    bool is_cached_;  // whether all rows are one block
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

void PackBf16Rows(int64_t m, int64_t k, const Bf16Matrix& a, uint16_t* packed) {
    int64_t width = Pairs(k) * 2;
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
    PanelProduct{m, n, k, a, lda, b, beta, c, ldc}.Run();
}

}  // namespace chainerx::native::CHAINERX_ISA
