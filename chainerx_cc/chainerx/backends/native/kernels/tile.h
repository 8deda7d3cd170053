#pragma once

// Blocked matrix products over packed panels: what the convolutions are made of. For *_isa.cc sources only.
//
// A panel of A holds up to kRows rows as [k][rows], a panel of B holds kColumns columns as [k][kColumns].

#include <cstdint>

#include "chainerx/backends/native/kernels/simd.h"

namespace chainerx {
namespace native {
namespace CHAINERX_ISA {

#if defined(__AVX512F__)
constexpr int kTileRows = 12;  // 24 accumulators of 32 registers
#elif defined(__AVX2__)
constexpr int kTileRows = 6;  // 12 of 16
#elif defined(__aarch64__)
constexpr int kTileRows = 12;  // 24 of 32
#else
constexpr int kTileRows = 4;  // 8 of 16
#endif
constexpr int kTileVectors = 2;

template <class T>
constexpr int kTileColumns = kTileVectors * Simd<T>::kSize;

// Rows of a panel, so that panels of `m` rows are about equal.
CHAINERX_INLINE int64_t PanelRows(int64_t m) {
    int64_t panels = (m + kTileRows - 1) / kTileRows;
    return (m + panels - 1) / panels;
}

// Where a tile of C goes.
template <class T>
struct TileOutput {
    T* c;                    // the first element
    int64_t row;             // distance of rows
    int columns;             // valid columns
    const T* bias;           // per row, or null; with accumulate false
    bool accumulate;         // add to C
    const int64_t* scatter;  // offsets of the columns from c, or null when contiguous
};

template <class T>
CHAINERX_INLINE void StoreTileRow(const TileOutput<T>& out, int row, int vector, Vec<T> value) {
    constexpr int kSize = Simd<T>::kSize;
    T* c = out.c + row * out.row;
    int columns = out.columns - vector * kSize;
    if (columns <= 0) {
        return;
    }
    if (out.scatter != nullptr) {
        T lanes[kSize];
        Store(lanes, value);
        T bias = out.bias != nullptr ? out.bias[row] : T{0};
        for (int i = 0; i < (columns < kSize ? columns : kSize); ++i) {
            T* element = c + out.scatter[vector * kSize + i];
            *element = out.accumulate ? *element + lanes[i] : lanes[i] + bias;
        }
        return;
    }
    c += vector * kSize;
    if (columns >= kSize) {
        if (out.accumulate) {
            value += Load(c);
        } else if (out.bias != nullptr) {
            value += Set(out.bias[row]);
        }
        Store(c, value);
    } else {
        if (out.accumulate) {
            value += LoadPartial(c, columns);
        } else if (out.bias != nullptr) {
            value += Set(out.bias[row]);
        }
        StorePartial(c, value, columns);
    }
}

// C[kRows x columns] (+)= A B with A a panel of kRows rows and B the first kVectors vectors of a panel.
template <class T, int kRows, int kVectors>
void Tile(int64_t k, const T* a, const T* b, const TileOutput<T>& out) {
    constexpr int kSize = Simd<T>::kSize;
    Vec<T> acc[kRows][kVectors] = {};
    for (int64_t p = 0; p < k; ++p, a += kRows, b += kTileColumns<T>) {
        Vec<T> bv[kVectors];
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
            bv[v] = Load(b + v * kSize);
        }
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
            Vec<T> av = Set(a[r]);
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                acc[r][v] += av * bv[v];
            }
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
            StoreTileRow(out, r, v, acc[r][v]);
        }
    }
}

template <class T>
using TileFunction = void (*)(int64_t k, const T* a, const T* b, const TileOutput<T>& out);

template <class T>
TileFunction<T> ChooseTile(int64_t rows, int columns) {
    bool narrow = columns <= Simd<T>::kSize;
    switch (rows) {
#define CHAINERX_CASE(n) \
    case n:              \
        return narrow ? Tile<T, n, 1> : Tile<T, n, 2>;
        CHAINERX_CASE(1)
        CHAINERX_CASE(2)
        CHAINERX_CASE(3)
        CHAINERX_CASE(4)
#if defined(__AVX2__) || defined(__aarch64__)
        CHAINERX_CASE(5)
        CHAINERX_CASE(6)
#endif
#if defined(__AVX512F__) || defined(__aarch64__)
        CHAINERX_CASE(7)
        CHAINERX_CASE(8)
        CHAINERX_CASE(9)
        CHAINERX_CASE(10)
        CHAINERX_CASE(11)
        CHAINERX_CASE(12)
#endif
#undef CHAINERX_CASE
        default:
            return nullptr;  // PanelRows never asks for more
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
                v[i] = __builtin_shuffle(x, y, low);
                v[i + s] = __builtin_shuffle(x, y, high);
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

}  // namespace CHAINERX_ISA
}  // namespace native
}  // namespace chainerx
