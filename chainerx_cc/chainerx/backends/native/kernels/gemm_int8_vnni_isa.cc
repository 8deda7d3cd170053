// Products of 8-bit integers. The columns of B are cut into panels [k / kDepth][columns][kDepth], so that a vector
// holds kDepth rows of some columns. An instruction multiplies it by kDepth elements of a row of A and sums within
// columns.

#include "chainerx/backends/native/kernels/dot_int8.h"
#include "chainerx/backends/native/kernels/gemm_int8.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

// Elements of rows of A
using Wide = RowElement<int8_t>;

constexpr int kMaxSums = kTileRows * kTileColumns<int32_t>;

// Sums of kRows rows of A, `a_row` apart, with a panel of kVectors vectors, to sums [kRows][kVectors][kLanes]
template <class T>
struct Int8Tile {
    template <int kRows, int kVectors>
    static void Run(int64_t steps, const Wide* a, int64_t a_row, const int8_t* b, uint32_t* sums) {
        constexpr int kStep = kVectors * kLanes * kDepth;
        constexpr int kSums = kRows * kVectors;
        constexpr int kChains = kSums >= 8 ? 1 : kSums >= 4 ? 2 : 4;  // an addition takes several cycles
        Sums acc[kChains][kRows][kVectors] = {};
        auto add = [&](Sums(&chain)[kRows][kVectors]) __attribute__((always_inline)) {
            decltype(LoadColumns(b)) columns[kVectors];
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                columns[v] = LoadColumns(b + v * kLanes * kDepth);
                __builtin_prefetch(b + kAheadBytes + v * kLanes * kDepth);
            }
#pragma GCC unroll 16
            for (int r = 0; r < kRows; ++r) {
                uint32_t row = LoadRow(a + r * a_row);
#pragma GCC unroll 16
                for (int v = 0; v < kVectors; ++v) chain[r][v] = AddProducts(chain[r][v], row, columns[v]);
            }
            a += kDepth;
            b += kStep;
        };
        int64_t p = 0;
        for (; p + kChains <= steps; p += kChains) {
#pragma GCC unroll 4
            for (int i = 0; i < kChains; ++i) add(acc[i]);
        }
        for (; p < steps; ++p) add(acc[0]);
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 4
                for (int i = 1; i < kChains; ++i) acc[0][r][v] += acc[i][r][v];
                Store(sums + (r * kVectors + v) * kLanes, acc[0][r][v]);
            }
        }
    }
    // A panel is read from the second-level cache or from farther away.
    static constexpr int kAheadBytes = 2048;
};

CHAINERX_INLINE void StoreSome(int32_t* c, Sums value, int count) {
    if (count >= kLanes) {
        Store(c, (Vec<int32_t>)value);
        return;
    }
    int32_t lanes[kLanes];
    Store(lanes, (Vec<int32_t>)value);
    for (int i = 0; i < count; ++i) c[i] = lanes[i];
}

CHAINERX_INLINE void StoreSome(float* c, Vec<float> value, int count) {
    if (count >= kLanes) {
        Store(c, value);
    } else {
        StorePartial(c, value, count);
    }
}

CHAINERX_INLINE Sums LoadInts(const int32_t* p) { return (Sums)Load(p); }

// (A - a_zero) (B - zero) = A B - a_zero sums(B) - zero (sums(A) - k a_zero)
template <class T>
void StoreSums(const Int8Factor& b, const Int8Product<T>& p, int64_t row, int rows, int64_t column, int columns,
               int vectors, const uint32_t* sums) {
    for (int64_t r = row; r < row + rows; ++r) {
        auto a_zero = static_cast<uint32_t>(p.a_zeros[p.is_per_row ? r : 0]);
        uint32_t a_sum = 0;
        if (b.zeros != nullptr) a_sum = static_cast<uint32_t>(p.a_sums[r]) - static_cast<uint32_t>(b.k) * a_zero;
        T* c = p.c + r * p.ldc + column;
        for (int i = 0; i < columns; i += kLanes) {
            Sums value = Load(sums + i);
            if (a_zero != 0) value -= LoadInts(b.sums + column + i) * Set(a_zero);
            if (b.zeros != nullptr) value -= LoadInts(b.zeros + column + i) * Set(a_sum);
            if constexpr (std::is_same_v<T, float>) {
                auto y = __builtin_convertvector((Vec<int32_t>)value, Vec<float>) * Load(p.scales + column + i);
                if (p.bias != nullptr) y += Load(p.bias + column + i);
                StoreSome(c + i, p.relu ? Rectify(y) : y, columns - i);
            } else {
                StoreSome(c + i, value, columns - i);
            }
        }
        sums += vectors * kLanes;
    }
}

CHAINERX_INLINE int64_t Steps(int64_t k) { return (k + kDepth - 1) / kDepth; }

template <class T>
constexpr int kColumnShift = std::is_signed_v<T> ? 0 : 128;

// Packs kDepth rows of B, `row` apart, and adds them to totals. Bytes may share memory with anything, so the compiler
// vectorizes only with __restrict.
template <class T>
void PackStep(int columns, const T* __restrict from, int64_t row, int8_t* __restrict to, uint32_t* __restrict totals) {
    for (int i = 0; i < columns; ++i) {
        uint32_t sum = 0;
#pragma GCC unroll 4
        for (int d = 0; d < kDepth; ++d) {
            int value = from[d * row + i] - kColumnShift<T>;
            to[i * kDepth + d] = static_cast<int8_t>(value);
            sum += static_cast<uint32_t>(value);
        }
        totals[i] += sum;
    }
}

// As above.
template <class T>
void PackRow(int64_t k, const T* __restrict from, Wide* __restrict to) {
    constexpr int kShift = std::is_signed_v<T> ? 128 : 0;
    for (int64_t q = 0; q < k; ++q) to[q] = static_cast<Wide>(from[q] + kShift);
}

int32_t SumRow(int64_t k, const Wide* row) {
    uint32_t sum = 0;
    for (int64_t q = 0; q < k; ++q) sum += static_cast<uint32_t>(row[q]);
    return static_cast<int32_t>(sum);
}

// Bytes of rows of A that stay in the second-level cache
constexpr int64_t kRowBytes = int64_t{1} << 18;

template <class T>
void MultiplyPart(const Int8Factor& b, const Int8Product<T>& p, int64_t first_panel, int64_t last_panel,
                  int64_t first_row, int64_t last_row) {
    VectorTiles<int32_t> panels{b.n};
    int64_t steps = Steps(b.k);
    int64_t step = PanelRows(last_row - first_row);
    uint32_t sums[kMaxSums];
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
        int64_t column = panels.Column(panel);
        int columns = panels.Columns(panel);
        int vectors = (columns + kLanes - 1) / kLanes;
        const int8_t* from = static_cast<const int8_t*>(b.packed) + column * steps * kDepth;
        for (int64_t row = first_row; row < last_row; row += step) {
            int rows = static_cast<int>(last_row - row < step ? last_row - row : step);
            auto a = reinterpret_cast<const Wide*>(static_cast<const char*>(p.a) + row * p.a_row);
            ChooseTile<int32_t, Int8Tile>(rows, vectors)(steps, a, p.a_row / static_cast<int64_t>(sizeof(Wide)), from,
                                                         sums);
            StoreSums(b, p, row, rows, column, columns, vectors, sums);
        }
    }
}

}  // namespace

template <class T>
void GetInt8Layout(int64_t k, int64_t n, Int8Layout* layout) {
    layout->a_row = Steps(k) * kDepth * static_cast<int64_t>(sizeof(Wide));
    layout->takes_bytes = sizeof(Wide) == 1 && k % kDepth == 0;
    layout->n_rounded = VectorTiles<int32_t>{n}.vectors() * kLanes;
    layout->b_size = layout->n_rounded * Steps(k) * kDepth;
}

template <class T>
void PackInt8Rows(int64_t m, int64_t k, const T* a, int64_t lda, void* packed, int32_t* sums) {
    int64_t width = Steps(k) * kDepth;
    ParallelFor(m, 1 + (1 << 15) / (k + 1), [=](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
            Wide* to = static_cast<Wide*>(packed) + r * width;
            PackRow(k, a + r * lda, to);
            for (int64_t q = k; q < width; ++q) to[q] = 0;
            if (sums != nullptr) sums[r] = SumRow(k, to);
        }
    });
}

template <class T>
void PackInt8Columns(int64_t k, int64_t n, const T* b, int64_t row, int64_t column, void* packed, int32_t* sums) {
    VectorTiles<int32_t> panels{n};
    int64_t steps = Steps(k);
    ParallelFor(panels.count(), 1 + (1 << 15) / (k * kTileColumns<int32_t> + 1), [&](int64_t begin, int64_t end) {
        for (int64_t panel = begin; panel < end; ++panel) {
            int64_t first = panels.Column(panel);
            int64_t width = panels.Column(panel + 1) - first;
            int columns = panels.Columns(panel);
            int8_t* __restrict to = static_cast<int8_t*>(packed) + first * steps * kDepth;
            uint32_t totals[kTileColumns<int32_t>] = {};
            for (int64_t p = 0; p < k; p += kDepth, to += width * kDepth) {
                const T* from = b + p * row + first * column;
                int depth = k - p < kDepth ? static_cast<int>(k - p) : kDepth;
                if (column == 1 && depth == kDepth) {
                    PackStep(columns, from, row, to, totals);
                } else {
                    for (int i = 0; i < columns; ++i) {
                        for (int d = 0; d < kDepth; ++d) {
                            int value = d < depth ? from[d * row + i * column] - kColumnShift<T> : 0;
                            to[i * kDepth + d] = static_cast<int8_t>(value);
                            totals[i] += static_cast<uint32_t>(value);
                        }
                    }
                }
                for (int64_t i = columns * kDepth; i < width * kDepth; ++i) to[i] = 0;
            }
            for (int64_t i = 0; i < width; ++i) sums[first + i] = static_cast<int32_t>(totals[i]);
        }
    });
}

template <class T>
void MultiplyInt8(const Int8Factor& b, const Int8Product<T>& p) {
    if (p.m <= 0 || b.n <= 0) {
        return;
    }
    VectorTiles<int32_t> panels{b.n};
    // Blocks of rows, and if they are few of panels, so small that every thread gets some.
    int64_t wanted = InParallelRegion() ? 1 : GetNumThreads();
    int64_t most = kRowBytes / (p.a_row + 1) / kTileRows * kTileRows;
    most = most < 8 * kTileRows ? 8 * kTileRows : most;
    int64_t row_parts = (p.m + most - 1) / most;
    int64_t panel_parts = (wanted + row_parts - 1) / row_parts;
    panel_parts = panel_parts < panels.count() ? panel_parts : panels.count();
    constexpr double kMinWork = 1 << 19;
    double work = static_cast<double>(p.m) * static_cast<double>(b.k) * static_cast<double>(b.n) /
                  static_cast<double>(row_parts * panel_parts);
    ParallelFor(
            row_parts * panel_parts, 1 + static_cast<int64_t>(kMinWork / (work + 1)), [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    int64_t row = i / panel_parts;
                    int64_t panel = i % panel_parts;
                    MultiplyPart(b, p, panels.count() * panel / panel_parts, panels.count() * (panel + 1) / panel_parts,
                                 p.m * row / row_parts, p.m * (row + 1) / row_parts);
                }
            });
}

template void GetInt8Layout<int8_t>(int64_t, int64_t, Int8Layout*);
#define CHAINERX_INSTANTIATE(T)                                                          \
    template void PackInt8Rows<T>(int64_t, int64_t, const T*, int64_t, void*, int32_t*); \
    template void PackInt8Columns<T>(int64_t, int64_t, const T*, int64_t, int64_t, void*, int32_t*);
CHAINERX_INSTANTIATE(int8_t)
CHAINERX_INSTANTIATE(uint8_t)
#undef CHAINERX_INSTANTIATE
template void MultiplyInt8<int32_t>(const Int8Factor&, const Int8Product<int32_t>&);
template void MultiplyInt8<float>(const Int8Factor&, const Int8Product<float>&);

}  // namespace chainerx::native::CHAINERX_ISA
