#pragma once

// Blocked matrix products over packed panels. For *_isa.cc sources only.
//
// A panel of A holds up to kRows rows as [k][rows], a panel of B holds kColumns columns as [k][kColumns].

#include <cstdint>
#include <limits>

#include "chainerx/backends/native/kernels/simd.h"

namespace chainerx::native::CHAINERX_ISA {

// Each step loads a row of B and a column of A for all products of the two. A wide tile of few rows has fewer loads.
#if defined(__AVX512F__)
constexpr int kTileRows = 8;
constexpr int kTileVectors = 3;  // 24 accumulators of 32 registers
#elif defined(__AVX2__)
constexpr int kTileRows = 6;
constexpr int kTileVectors = 2;  // 12 of 16
#elif defined(__aarch64__)
constexpr int kTileRows = 12;
constexpr int kTileVectors = 2;  // 24 of 32
#else
constexpr int kTileRows = 4;
constexpr int kTileVectors = 2;  // 8 of 16
#endif

// X(n) for every number of rows up to kTileRows
#if defined(__AVX512F__)
#define CHAINERX_TILE_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#elif defined(__aarch64__)
#define CHAINERX_TILE_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)
#elif defined(__AVX2__)
#define CHAINERX_TILE_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6)
#else
#define CHAINERX_TILE_ROWS(X) X(1) X(2) X(3) X(4)
#endif

template <class T>
constexpr int kTileColumns = kTileVectors * Simd<T>::kSize;

// The number of rows of a panel that makes the panels of `m` rows about equal.
CHAINERX_INLINE int64_t PanelRows(int64_t m) {
    int64_t panels = (m + kTileRows - 1) / kTileRows;
    return (m + panels - 1) / panels;
}

// Columns cut into tiles of at most kTileVectors vectors, about equally many each.
template <class T>
class VectorTiles {
public:
    CHAINERX_INLINE explicit VectorTiles(int64_t columns)
        : columns_{columns},
          vectors_{(columns + Simd<T>::kSize - 1) / Simd<T>::kSize},
          count_{(vectors_ + kTileVectors - 1) / kTileVectors} {}
    CHAINERX_INLINE int64_t count() const { return count_; }
    CHAINERX_INLINE int64_t vectors() const { return vectors_; }
    // The first column, and the number of columns
    CHAINERX_INLINE int64_t Column(int64_t tile) const { return tile * vectors_ / count_ * Simd<T>::kSize; }
    CHAINERX_INLINE int Columns(int64_t tile) const {
        int64_t end = Column(tile + 1);
        return static_cast<int>((end < columns_ ? end : columns_) - Column(tile));
    }

private:
    int64_t columns_;
    int64_t vectors_;
    int64_t count_;
};

// The destination of a tile of C.
template <class T>
struct TileOutput {
    T* c;                // the first element
    int64_t row;         // distance of rows
    int columns;         // valid columns
    const T* bias;       // per row, or null; with accumulate false
    bool accumulate;     // add to C
    const T* addend;     // added at last, or null
    int64_t addend_row;  // distance of its rows
    bool relu;           // limits the result:
    T least{0};          // in memory, so that a limit is one instruction
    T most{std::numeric_limits<T>::infinity()};

    CHAINERX_INLINE int vectors() const { return (columns + Simd<T>::kSize - 1) / Simd<T>::kSize; }
};

template <class V>
CHAINERX_INLINE V Rectify(V v) {
    return v < V{} ? V{} : v;
}

// NaN stays.
template <class T>
CHAINERX_INLINE Vec<T> Limit(Vec<T> v, T least, T most) {
    Vec<T> low = Set(least);
    Vec<T> high = Set(most);
    v = v < low ? low : v;
    return v > high ? high : v;
}

// Stores sums [rows][vectors][kSize] if columns are cut off. Not inlined, to keep the code of a tile
// small.
template <class T>
__attribute__((noinline)) void StoreIrregularTile(const TileOutput<T>& out, int rows, int vectors, const T* sums) {
    constexpr int kSize = Simd<T>::kSize;
    int width = vectors * kSize;
    int columns = out.columns < width ? out.columns : width;
    for (int r = 0; r < rows; ++r, sums += width) {
        T* c = out.c + r * out.row;
        T bias = out.bias != nullptr ? out.bias[r] : T{0};
        const T* addend = out.addend != nullptr ? out.addend + r * out.addend_row : nullptr;
        for (int i = 0; i < columns; i += kSize) {
            int count = columns - i < kSize ? columns - i : kSize;
            auto load = [count](const T* p) { return count == kSize ? Load(p) : LoadPartial(p, count); };
            Vec<T> value = Load(sums + i) + (out.accumulate ? load(c + i) : Set(bias));
            value = addend != nullptr ? value + load(addend + i) : value;
            value = out.relu ? Limit<T>(value, out.least, out.most) : value;
            if (count == kSize) {
                Store(c + i, value);
            } else {
                StorePartial(c + i, value, count);
            }
        }
    }
}

// The first kVectors vectors of a row of a panel of B.
template <class T, int kVectors>
CHAINERX_INLINE void LoadPanel(const T* b, Vec<T> (&vectors)[kVectors]) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
        vectors[v] = Load(b + v * Simd<T>::kSize);
    }
}

// acc += one column of A, with elements `a_row` apart, times one row of B.
template <class T, int kRows, int kVectors>
CHAINERX_INLINE void AddProducts(const T* a, int64_t a_row, const Vec<T> (&b)[kVectors],
                                 Vec<T> (&acc)[kRows][kVectors]) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
        Vec<T> av = Set(a[r * a_row]);
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
            acc[r][v] += av * b[v];
        }
    }
}

// Before the multiplications, for StoreTile after them.
template <class T, int kRows, int kVectors>
CHAINERX_INLINE void PrefetchTile(const TileOutput<T>& out) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
            __builtin_prefetch(out.c + r * out.row + v * Simd<T>::kSize, 1);
        }
    }
}

template <class T, int kRows, int kVectors>
CHAINERX_INLINE void StoreTile(const TileOutput<T>& out, const Vec<T> (&acc)[kRows][kVectors]) {
    constexpr int kSize = Simd<T>::kSize;
    if (out.columns < kVectors * kSize) {
        T sums[kRows * kVectors * kSize];
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                Store(sums + (r * kVectors + v) * kSize, acc[r][v]);
            }
        }
        StoreIrregularTile<T>(out, kRows, kVectors, sums);
        return;
    }
    // In passes, so that each choice is made once.
    Vec<T> sums[kRows][kVectors];
    auto update = [&](const auto& f) __attribute__((always_inline)) {
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) sums[r][v] = f(r, v);
        }
    };
    if (out.accumulate) {
        update([&](int r, int v)
                       __attribute__((always_inline)) { return acc[r][v] + Load(out.c + r * out.row + v * kSize); });
    } else if (out.bias != nullptr) {
        update([&](int r, int v) __attribute__((always_inline)) { return acc[r][v] + Set(out.bias[r]); });
    } else {
        update([&](int r, int v) __attribute__((always_inline)) { return acc[r][v] + Vec<T>{}; });
    }
    if (out.addend != nullptr) {
        update([&](int r, int v) __attribute__((always_inline)) {
            return sums[r][v] + Load(out.addend + r * out.addend_row + v * kSize);
        });
    }
    if (out.relu) {
        update([&](int r, int v) __attribute__((always_inline)) { return Limit<T>(sums[r][v], out.least, out.most); });
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) Store(out.c + r * out.row + v * kSize, sums[r][v]);
    }
}

// Kinds of tiles: Run computes C[kRows x columns] (+)= A B with B of kVectors vectors.

// Steps between fetching a part of a panel and its use. B is in the second-level cache, A may be far away.
constexpr int kAheadColumns = 8;
constexpr int kAheadPlanes = 16;
constexpr int kAheadRows = 256;
constexpr int kAheadNear = 24;

// A is fetched into the second-level cache, and later into the first one.
template <class T, int kRows>
CHAINERX_INLINE void FetchRows(const T* a) {
    __builtin_prefetch(a + kAheadRows * kRows, 0, 2);
    __builtin_prefetch(a + kAheadNear * kRows);
}

// A is a panel of kRows rows, B the first vectors of a panel.
template <class T>
struct PackedTile {
    template <int kRows, int kVectors>
    static void Run(int64_t k, const T* a, const T* b, const TileOutput<T>& out) {
        PrefetchTile<T, kRows, kVectors>(out);
        Vec<T> acc[kRows][kVectors] = {};
        for (int64_t p = 0; p < k; ++p, a += kRows, b += kTileColumns<T>) {
            Vec<T> bv[kVectors];
            LoadPanel<T, kVectors>(b, bv);
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                __builtin_prefetch(b + kAheadColumns * kTileColumns<T> + v * Simd<T>::kSize);
            }
            FetchRows<T, kRows>(a);
            AddProducts<T, kRows, kVectors>(a, 1, bv, acc);
        }
        StoreTile<T, kRows, kVectors>(out, acc);
    }
};

// A is a panel, and B lies as in an image: a row is the first vectors of a plane, and rows are `plane` apart.
template <class T>
struct PlanesTile {
    template <int kRows, int kVectors>
    static void Run(int64_t k, const T* a, const T* b, int64_t plane, const TileOutput<T>& out) {
        PrefetchTile<T, kRows, kVectors>(out);
        constexpr int kColumns = kVectors * Simd<T>::kSize;
        Vec<T> acc[kRows][kVectors] = {};
        for (int64_t p = 0; p < k; ++p, a += kRows, b += plane) {
            Vec<T> bv[kVectors];
            LoadPanel<T, kVectors>(b, bv);
            // Behind the last row come those of the next tile.
            const T* ahead = b + (p + kAheadPlanes < k ? kAheadPlanes * plane : (kAheadPlanes - k) * plane + kColumns);
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                __builtin_prefetch(ahead + v * Simd<T>::kSize);
            }
            FetchRows<T, kRows>(a);
            AddProducts<T, kRows, kVectors>(a, 1, bv, acc);
        }
        StoreTile<T, kRows, kVectors>(out, acc);
    }
};

// Memory that is fetched into the second-level cache while a tile is computed: one line in each step.
template <class T>
struct Ahead {
    const T* data;
    int64_t step;
};

// A is kRows rows as they are, `a_row` apart. B is a panel of kVectors vectors.
template <class T>
struct RowsTile {
    template <int kRows, int kVectors>
    static void Run(int64_t k, const T* a, int64_t a_row, const T* b, Ahead<T> ahead, const TileOutput<T>& out) {
        PrefetchTile<T, kRows, kVectors>(out);
        constexpr int kColumns = kVectors * Simd<T>::kSize;
        constexpr int kSums = kRows * kVectors;
        constexpr int kChains = kSums >= 8 ? 1 : kSums >= 4 ? 2 : 4;  // an addition takes several cycles
        Vec<T> acc[kChains][kRows][kVectors] = {};
        int64_t p = 0;
        for (; p + kChains <= k; p += kChains) {
#pragma GCC unroll 4
            for (int i = 0; i < kChains; ++i, ++a, b += kColumns, ahead.data += ahead.step) {
                Vec<T> bv[kVectors];
                LoadPanel<T, kVectors>(b, bv);
                if constexpr (kChains == 1) {  // the others mostly wait for B, which the processor fetches alone
#pragma GCC unroll 16
                    for (int v = 0; v < kVectors; ++v) {
                        __builtin_prefetch(b + kAheadColumns * kColumns + v * Simd<T>::kSize);
                    }
                    __builtin_prefetch(ahead.data, 0, 2);
                }
                AddProducts<T, kRows, kVectors>(a, a_row, bv, acc[i]);
            }
        }
        for (; p < k; ++p, ++a, b += kColumns) {
            Vec<T> bv[kVectors];
            LoadPanel<T, kVectors>(b, bv);
            AddProducts<T, kRows, kVectors>(a, a_row, bv, acc[0]);
        }
#pragma GCC unroll 4
        for (int i = 1; i < kChains; ++i) {
#pragma GCC unroll 16
            for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
                for (int v = 0; v < kVectors; ++v) {
                    acc[0][r][v] += acc[i][r][v];
                }
            }
        }
        StoreTile<T, kRows, kVectors>(out, acc[0]);
    }
};

// Weights that are not packed: that of row r, channel c and tap t is w[r * row + c * channel + tap[t]].
template <class T>
struct DirectWeights {
    const T* w;
    int64_t row;
    int64_t channel;
    const int64_t* tap;
};

// A is of weights as they are, for some channels and all taps.
template <class T>
struct DirectTile {
    template <int kRows, int kVectors>
    static void Run(int64_t channels, int64_t taps, const DirectWeights<T>& weights, const T* b,
                    const TileOutput<T>& out) {
        PrefetchTile<T, kRows, kVectors>(out);
        Vec<T> acc[kRows][kVectors] = {};
        const T* w = weights.w;
        int64_t row = weights.row;
        for (int64_t c = 0; c < channels; ++c, w += weights.channel) {
            for (int64_t t = 0; t < taps; ++t, b += kTileColumns<T>) {
                Vec<T> bv[kVectors];
                LoadPanel<T, kVectors>(b, bv);
                AddProducts<T, kRows, kVectors>(w + weights.tap[t], row, bv, acc);
            }
        }
        StoreTile<T, kRows, kVectors>(out, acc);
    }
};

// The instance of a kind for a number of rows, which PanelRows keeps to at most kTileRows, and of vectors (of columns,
// if the kind is narrow).
template <class T, template <class> class Kind>
auto ChooseTile(int64_t rows, int vectors) -> decltype(&Kind<T>::template Run<1, 1>) {
    switch (rows) {
#define CHAINERX_CASE(n)                                     \
    case n:                                                  \
        return vectors <= 1   ? &Kind<T>::template Run<n, 1> \
               : vectors == 2 ? &Kind<T>::template Run<n, 2> \
                              : &Kind<T>::template Run<n, kTileVectors>;
        CHAINERX_TILE_ROWS(CHAINERX_CASE)
#undef CHAINERX_CASE
        default:
            return nullptr;
    }
}

// Transposes kSize vectors in place.
template <class T>
CHAINERX_INLINE void Transpose(Vec<T> (&v)[Simd<T>::kSize]) {
    constexpr int kSize = Simd<T>::kSize;
    using Mask = typename LaneMask<T>::V;
    // Stage s exchanges blocks of s lanes between vectors s apart.
#pragma GCC unroll 8
    for (int s = kSize / 2; s > 0; s /= 2) {
        Mask low{};
        Mask high{};
#pragma GCC unroll 16
        for (int lane = 0; lane < kSize; ++lane) {
            bool upper = (lane & s) != 0;
            low[lane] = upper ? kSize + lane - s : lane;
            high[lane] = upper ? kSize + lane : lane + s;
        }
#pragma GCC unroll 16
        for (int i = 0; i < kSize; ++i) {
            if ((i & s) == 0) {
                Vec<T> x = v[i];
                Vec<T> y = v[i + s];
                v[i] = Shuffle<T>(x, y, low);
                v[i + s] = Shuffle<T>(x, y, high);
            }
        }
    }
}

// Packs A, `rows` x `k` with rows of contiguous elements `ld` apart, as a panel [k][rows]. Writes up to kSize
// elements past the panel.
template <class T>
CHAINERX_INLINE void PackRows(int64_t rows, int64_t k, const T* a, int64_t ld, T* panel) {
    constexpr int kSize = Simd<T>::kSize;
    int64_t p = 0;
    if (rows <= kSize) {
        for (; p + kSize <= k; p += kSize) {
            Vec<T> block[kSize] = {};
            for (int r = 0; r < rows; ++r) {
                block[r] = Load(a + r * ld + p);
            }
            Transpose<T>(block);
            for (int i = 0; i < kSize; ++i) {
                Store(panel + (p + i) * rows, block[i]);  // in order: the next row overwrites the excess
            }
        }
    }
    for (; p < k; ++p) {
        for (int64_t r = 0; r < rows; ++r) {
            panel[p * rows + r] = a[r * ld + p];
        }
    }
}

}  // namespace chainerx::native::CHAINERX_ISA
