// Products with integers of 4 or 8 bits that have scales for blocks. The columns are cut into panels
// [block][step][columns] of words, which hold a column's integers of 8 rows (of 4 bits) or 4 rows (of 8 bits), with
// signs. A vector of words gives a vector of numbers for each of these rows.

#include "chainerx/backends/native/kernels/gemm_blocks.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

constexpr int kLanes = Simd<float>::kSize;
constexpr int kAheadWords = 512;  // a panel is read from far away
using Words = Vec<uint32_t>;

// Integers of a word: the number of them, the row of the one in the bits from i kBits on, and it in all lanes.
struct Nibbles {
    static constexpr int kBits = 4;
    static constexpr int kCount = 8;
    // The first four are in the lower halves of bytes, for instructions that multiply four bytes.
    static constexpr int Row(int i) { return i / 2 + i % 2 * 4; }
#if defined(__AVX512F__)
    // Looks up the lowest four bits.
    static CHAINERX_INLINE Vec<float> Decode(Words words, int i) {
        __m512 table = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
        return (Vec<float>)_mm512_permutexvar_ps((__m512i)(words >> (4 * i)), table);
    }
#else
    static CHAINERX_INLINE Vec<float> Decode(Words words, int i) {
        return __builtin_convertvector((Vec<int32_t>)(words << (28 - 4 * i)) >> 28, Vec<float>);
    }
#endif
};

struct Bytes {
    static constexpr int kBits = 8;
    static constexpr int kCount = 4;
    static constexpr int Row(int i) { return i; }
    static CHAINERX_INLINE Vec<float> Decode(Words words, int i) {
        return __builtin_convertvector((Vec<int32_t>)(words << (24 - 8 * i)) >> 24, Vec<float>);
    }
};

// A panel of B
struct Panel {
    const uint32_t* words;
    const float* scales;
    const int8_t* zeros;  // or null
    int64_t blocks;
    int64_t steps;  // words of a column of a block
};

// Rows of A with their blocks padded, as numbers or as integers with a scale for each block.
struct Rows {
    const float* x;
    const int8_t* q;
    int64_t row;          // distance of rows
    const float* scales;  // (m, blocks) of integers
    const float* sums;    // (m, blocks) of numbers, if B has zero points
    const int32_t* q_sums;
};

CHAINERX_INLINE Vec<int32_t> LoadBytes(const int8_t* p) {
    typedef int8_t Part __attribute__((vector_size(kLanes), aligned(1), may_alias));
    return __builtin_convertvector(*reinterpret_cast<const Part*>(p), Vec<int32_t>);
}

// Products of kRows rows of A from `row` on with a panel of kVectors vectors: y [kRows][kVectors][kLanes].
template <class T>
struct BlockTile {
    template <int kRows, int kVectors>
    static void Run(const Panel& panel, const Rows& a, int64_t row, float* y) {
        constexpr int kSums = kRows * kVectors;
        constexpr int kChains = kSums >= 6 ? 1 : kSums >= 3 ? 2 : 4;  // an addition takes several cycles
        constexpr int kWidth = kVectors * kLanes;
        Vec<float> totals[kRows][kVectors] = {};
        const float* x = a.x + row * a.row;
        const uint32_t* words = panel.words;
        for (int64_t b = 0; b < panel.blocks; ++b) {
            Vec<float> acc[kChains][kRows][kVectors] = {};
            for (int64_t s = 0; s < panel.steps; ++s, words += kWidth, x += T::kCount) {
                Words w[kVectors];
#pragma GCC unroll 16
                for (int v = 0; v < kVectors; ++v) {
                    w[v] = Load(words + v * kLanes);
                    __builtin_prefetch(words + kAheadWords + v * kLanes);
                }
#pragma GCC unroll 8
                for (int i = 0; i < T::kCount; ++i) {
                    Vec<float> numbers[kVectors];
#pragma GCC unroll 16
                    for (int v = 0; v < kVectors; ++v) numbers[v] = T::Decode(w[v], i);
                    AddProducts<float, kRows, kVectors>(x + T::Row(i), a.row, numbers, acc[i % kChains]);
                }
            }
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                int64_t at = b * kWidth + v * kLanes;
                Vec<float> scale = Load(panel.scales + at);
                Vec<float> zero{};
                if (panel.zeros != nullptr) {
                    zero = __builtin_convertvector(LoadBytes(panel.zeros + at), Vec<float>);
                }
#pragma GCC unroll 16
                for (int r = 0; r < kRows; ++r) {
                    Vec<float> sum = acc[0][r][v];
#pragma GCC unroll 4
                    for (int i = 1; i < kChains; ++i) sum += acc[i][r][v];
                    if (panel.zeros != nullptr) sum -= zero * Set(a.sums[(row + r) * panel.blocks + b]);
                    totals[r][v] += scale * sum;
                }
            }
        }
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) Store(y + r * kWidth + v * kLanes, totals[r][v]);
        }
    }
};

#if defined(__AVX512VNNI__)
// The same of integers. The instruction takes those of B without a sign, that is with kShift added.
template <class T>
struct IntegerTile {
    static constexpr int kShift = 1 << (T::kBits - 1);

    template <int kRows, int kVectors>
    static void Run(const Panel& panel, const Rows& a, int64_t row, float* y) {
        constexpr int kWidth = kVectors * kLanes;
        Vec<float> totals[kRows][kVectors] = {};
        const int8_t* q = a.q + row * a.row;
        const uint32_t* words = panel.words;
        for (int64_t b = 0; b < panel.blocks; ++b) {
            __m512i acc[kRows][kVectors];
#pragma GCC unroll 16
            for (int r = 0; r < kRows; ++r) {
                int32_t sum = a.q_sums[(row + r) * panel.blocks + b] * -kShift;
#pragma GCC unroll 16
                for (int v = 0; v < kVectors; ++v) acc[r][v] = _mm512_set1_epi32(sum);
            }
            for (int64_t s = 0; s < panel.steps; ++s, words += kWidth, q += T::kCount) {
#pragma GCC unroll 16
                for (int v = 0; v < kVectors; ++v) {
                    Words w = Load(words + v * kLanes);
                    __builtin_prefetch(words + kAheadWords + v * kLanes);
                    if constexpr (T::kBits == 4) {
                        Words flipped = w ^ Set(0x88888888U);
                        Add<kRows, kVectors>(flipped & Set(0x0F0F0F0FU), q, a.row, v, acc);
                        Add<kRows, kVectors>(flipped >> 4 & Set(0x0F0F0F0FU), q + 4, a.row, v, acc);
                    } else {
                        Add<kRows, kVectors>(w ^ Set(0x80808080U), q, a.row, v, acc);
                    }
                }
            }
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                int64_t at = b * kWidth + v * kLanes;
                Vec<float> scale = Load(panel.scales + at);
#pragma GCC unroll 16
                for (int r = 0; r < kRows; ++r) {
                    int64_t i = (row + r) * panel.blocks + b;
                    auto sum = (Vec<int32_t>)acc[r][v];
                    if (panel.zeros != nullptr) sum -= LoadBytes(panel.zeros + at) * Set(a.q_sums[i]);
                    totals[r][v] += scale * Set(a.scales[i]) * __builtin_convertvector(sum, Vec<float>);
                }
            }
        }
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) Store(y + r * kWidth + v * kLanes, totals[r][v]);
        }
    }

    template <int kRows, int kVectors>
    static CHAINERX_INLINE void Add(Words bytes, const int8_t* q, int64_t row, int v, __m512i (&acc)[kRows][kVectors]) {
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
            int32_t four;
            __builtin_memcpy(&four, q + r * row, sizeof(four));
            acc[r][v] = _mm512_dpbusd_epi32(acc[r][v], (__m512i)bytes, _mm512_set1_epi32(four));
        }
    }
};
#endif

// Sums [columns] to a row of the result.
CHAINERX_INLINE void StoreRow(const BlockProduct& p, const float* sums, int64_t column, int columns, float* y) {
    for (int i = 0; i < columns; i += kLanes) {
        int count = columns - i < kLanes ? columns - i : kLanes;
        Vec<float> value = Load(sums + i);
        if (p.bias != nullptr) {
            const float* bias = p.bias + column + i;
            value += count == kLanes ? Load(bias) : LoadPartial(bias, count);
        }
        if (p.relu) value = Rectify(value);
        if (count == kLanes) {
            Store(y + i, value);
        } else {
            StorePartial(y + i, value, count);
        }
    }
}

template <class T, template <class> class Tile>
void MultiplyPart(const BlockFactor& b, const BlockProduct& p, const Rows& a, int64_t first_panel, int64_t last_panel,
                  int64_t first_row, int64_t last_row) {
    VectorTiles<float> panels{b.shape.n};
    int64_t rows_in_words = b.shape.padded_k() / T::kCount;
    int64_t step = PanelRows(last_row - first_row);
    float sums[kTileRows * kTileColumns<float>];
    for (int64_t i = first_panel; i < last_panel; ++i) {
        int64_t column = panels.Column(i);
        int columns = panels.Columns(i);
        int vectors = (columns + kLanes - 1) / kLanes;
        int64_t blocks = b.shape.blocks();
        Panel panel{b.words + column * rows_in_words, b.scales + column * blocks,
                    b.zeros != nullptr ? b.zeros + column * blocks : nullptr, blocks,
                    b.shape.padded_block() / T::kCount};
        for (int64_t row = first_row; row < last_row; row += step) {
            int64_t rows = last_row - row < step ? last_row - row : step;
            ChooseTile<T, Tile>(rows, vectors)(panel, a, row, sums);
            for (int64_t r = 0; r < rows; ++r) {
                StoreRow(p, sums + r * vectors * kLanes, column, columns, p.y + (row + r) * b.shape.n + column);
            }
        }
    }
}

// Rows of a product that stay in the second-level cache
constexpr int64_t kRowBytes = int64_t{1} << 18;

template <class T, template <class> class Tile>
void MultiplyAll(const BlockFactor& b, const BlockProduct& p, const Rows& a) {
    VectorTiles<float> panels{b.shape.n};
    // Blocks of rows, and if they are few of panels, so small that every thread gets some.
    int64_t wanted = InParallelRegion() ? 1 : GetNumThreads();
    int64_t most = kRowBytes / (4 * a.row + 1) / kTileRows * kTileRows;
    most = most < kTileRows ? kTileRows : most;
    int64_t row_parts = (p.m + most - 1) / most;
    int64_t panel_parts = (wanted + row_parts - 1) / row_parts;
    panel_parts = panel_parts < panels.count() ? panel_parts : panels.count();
    constexpr double kMinWork = 1 << 17;
    double work = static_cast<double>(p.m) * static_cast<double>(b.shape.k) * static_cast<double>(b.shape.n) /
                  static_cast<double>(row_parts * panel_parts);
    int64_t grain = 1 + static_cast<int64_t>(kMinWork / (work + 1));
    ParallelFor(row_parts * panel_parts, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t row = i / panel_parts;
            int64_t panel = i % panel_parts;
            MultiplyPart<T, Tile>(b, p, a, panels.count() * panel / panel_parts,
                                  panels.count() * (panel + 1) / panel_parts, p.m * row / row_parts,
                                  p.m * (row + 1) / row_parts);
        }
    });
}

// Calls f(from, count, block) for each block of a row of A.
template <class F>
CHAINERX_INLINE void ForBlocks(const BlockShape& shape, const float* row, const F& f) {
    int64_t blocks = shape.blocks();
    for (int64_t b = 0; b < blocks; ++b) {
        int64_t left = shape.k - b * shape.block;
        f(row + b * shape.block, left < shape.block ? left : shape.block, b);
    }
}

// Pads the blocks of rows.
void PadRows(const BlockShape& shape, int64_t m, const float* a, float* padded) {
    int64_t width = shape.padded_block();
    for (int64_t r = 0; r < m; ++r) {
        ForBlocks(shape, a + r * shape.k, [&](const float* from, int64_t count, int64_t b) {
            float* to = padded + r * shape.padded_k() + b * width;
            for (int64_t i = 0; i < width; ++i) to[i] = i < count ? from[i] : 0.0F;
        });
    }
}

void SumRows(const BlockShape& shape, int64_t m, const float* a, float* sums) {
    for (int64_t r = 0; r < m; ++r) {
        ForBlocks(shape, a + r * shape.k, [&](const float* from, int64_t count, int64_t b) {
            float sum = 0;
            for (int64_t i = 0; i < count; ++i) sum += from[i];
            sums[r * shape.blocks() + b] = sum;
        });
    }
}

template <class T>
void MultiplyFloats(const BlockFactor& b, const BlockProduct& p) {
    const BlockShape& shape = b.shape;
    bool is_padded = shape.padded_k() != shape.k;
    Scratch<float> padded{is_padded ? p.m * shape.padded_k() : 0};
    Scratch<float> sums{b.zeros != nullptr ? p.m * shape.blocks() : 0};
    if (is_padded) PadRows(shape, p.m, p.a, padded.data());
    if (b.zeros != nullptr) SumRows(shape, p.m, p.a, sums.data());
    Rows a{is_padded ? padded.data() : p.a, nullptr, shape.padded_k(), nullptr, sums.data(), nullptr};
    MultiplyAll<T, BlockTile>(b, p, a);
}

#if defined(__AVX512VNNI__)
// Rounds a block of a row to integers of 8 bits, and returns their scale, which is no number if one of the block is
// none or infinite.
float RoundBlock(const float* from, int64_t count, int64_t width, int8_t* q, int32_t* sum) {
    auto load = [&](int64_t i) {
        if (i >= count) return Vec<float>{};
        return count - i < kLanes ? LoadPartial(from + i, static_cast<int>(count - i)) : Load(from + i);
    };
    Vec<float> magnitudes{};
    Vec<float> zeros{};
    for (int64_t i = 0; i < count; i += kLanes) {
        Vec<float> x = load(i);
        Vec<float> magnitude = x < 0 ? -x : x;
        magnitudes = magnitude > magnitudes ? magnitude : magnitudes;
        zeros += x * 0;
    }
    float largest = _mm512_reduce_max_ps((__m512)magnitudes);
    float zero = Sum<float>(zeros);
    float inverse = largest > 0 && zero == 0 ? 127.0F / largest : 0.0F;
    Vec<int32_t> totals{};
    for (int64_t i = 0; i < width; i += kLanes) {
        Vec<float> scaled = load(i) * inverse;
        Vec<float> half = scaled < 0 ? Set(-0.5F) : Set(0.5F);
        auto rounded = (Vec<int32_t>)_mm512_cvttps_epi32((__m512)(scaled + half));
        totals += rounded;
        auto lanes = static_cast<__mmask16>(width - i < kLanes ? 0xFF : 0xFFFF);  // widths are multiples of eight
        _mm_mask_storeu_epi8(q + i, lanes, _mm512_cvtepi32_epi8((__m512i)rounded));
    }
    *sum = _mm512_reduce_add_epi32((__m512i)totals);
    return largest / 127.0F + zero;
}

template <class T>
void MultiplyIntegers(const BlockFactor& b, const BlockProduct& p) {
    const BlockShape& shape = b.shape;
    int64_t blocks = shape.blocks();
    Scratch<int8_t> q{p.m * shape.padded_k()};
    Scratch<float> scales{p.m * blocks};
    Scratch<int32_t> sums{p.m * blocks};
    for (int64_t r = 0; r < p.m; ++r) {
        ForBlocks(shape, p.a + r * shape.k, [&](const float* from, int64_t count, int64_t i) {
            int8_t* to = q.data() + r * shape.padded_k() + i * shape.padded_block();
            int64_t at = r * blocks + i;
            scales.data()[at] = RoundBlock(from, count, shape.padded_block(), to, sums.data() + at);
        });
    }
    MultiplyAll<T, IntegerTile>(b, p, {nullptr, q.data(), shape.padded_k(), scales.data(), nullptr, sums.data()});
}
#endif

// The integers of a word, whose first row is `first` of a block of `count` rows.
template <class T, class Element>
CHAINERX_INLINE uint32_t WordOf(const Element* q, int64_t row, int64_t first, int64_t count, int center) {
    uint32_t word = 0;
    for (int i = 0; i < T::kCount; ++i) {
        int64_t r = first + T::Row(i);
        int value = r < count ? q[r * row] - center : 0;
        word |= (static_cast<uint32_t>(value) & ((1U << T::kBits) - 1U)) << (i * T::kBits);
    }
    return word;
}

template <class T, class Element>
void PackPanel(const BlockSource& source, const BlockFactor& b, int64_t panel) {
    const BlockShape& shape = b.shape;
    VectorTiles<float> panels{shape.n};
    int64_t column = panels.Column(panel);
    int64_t width = panels.Column(panel + 1) - column;
    int columns = panels.Columns(panel);
    int64_t blocks = shape.blocks();
    uint32_t* words = b.words + column * (shape.padded_k() / T::kCount);
    for (int64_t i = 0; i < blocks; ++i) {
        int64_t left = shape.k - i * shape.block;
        int64_t count = left < shape.block ? left : shape.block;
        for (int64_t first = 0; first < shape.padded_block(); first += T::kCount, words += width) {
            for (int64_t c = 0; c < width; ++c) {
                const auto* q = static_cast<const Element*>(source.q) + (column + c) * source.column +
                                i * shape.block * source.row;
                words[c] = c < columns ? WordOf<T>(q, source.row, first, count, source.center) : 0;
            }
        }
        for (int64_t c = 0; c < width; ++c) {
            int64_t from = (column + c) * blocks + i;
            int64_t to = column * blocks + i * width + c;
            b.scales[to] = c < columns ? source.scales[from] : 0.0F;
            if (b.zeros != nullptr) b.zeros[to] = static_cast<int8_t>(c < columns ? source.zeros[from] : 0);
        }
    }
}

template <class T>
void PackPanels(const BlockSource& source, const BlockFactor& b) {
    ParallelFor(VectorTiles<float>{b.shape.n}.count(), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            if (source.is_signed) {
                PackPanel<T, int8_t>(source, b, i);
            } else {
                PackPanel<T, uint8_t>(source, b, i);
            }
        }
    });
}

template <class T>
void MultiplyWith(const BlockFactor& b, const BlockProduct& p) {
#if defined(__AVX512VNNI__)
    if (p.rounds_a) return MultiplyIntegers<T>(b, p);
    v4::MultiplyBlocks<float>(b, p);  // with the same instructions
#else
    MultiplyFloats<T>(b, p);
#endif
}

}  // namespace

template <class T>
void GetBlockColumns(int64_t n, int64_t* rounded) {
    *rounded = VectorTiles<T>{n}.vectors() * kLanes;
}

template <class T>
void PackBlockColumns(const BlockSource& source, const BlockFactor& b) {
    if (b.shape.bits == 4) {
        PackPanels<Nibbles>(source, b);
    } else {
        PackPanels<Bytes>(source, b);
    }
}

template <class T>
void MultiplyBlocks(const BlockFactor& b, const BlockProduct& p) {
    if (p.m <= 0 || b.shape.n <= 0) return;
    if (b.shape.bits == 4) {
        MultiplyWith<Nibbles>(b, p);
    } else {
        MultiplyWith<Bytes>(b, p);
    }
}

template void GetBlockColumns<float>(int64_t, int64_t*);
template void PackBlockColumns<float>(const BlockSource&, const BlockFactor&);
template void MultiplyBlocks<float>(const BlockFactor&, const BlockProduct&);

}  // namespace chainerx::native::CHAINERX_ISA
