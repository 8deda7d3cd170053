#pragma once

// Products of packed weights with one or two columns, which would leave most lanes of vectors of columns empty. Lanes
// are elements of the panel of weights as they lie, [k][row]; every column is spread to that layout, once for all
// panels. For *_isa.cc sources only.

#include <cstdint>

#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {

// The most columns that leave too many lanes of a vector empty.
constexpr int kNarrowColumns = 2;

// Elements that SpreadColumns writes at most.
template <class T>
constexpr int64_t SpreadSize(int64_t k) {
    return kNarrowColumns * kTileRows * k + Simd<T>::kSize;
}

// Copies the first columns of a panel B as [column][k][row], the same for all rows.
template <class T>
void SpreadColumns(int64_t k, int64_t rows, int columns, const T* b, T* to) {
    constexpr int kSize = Simd<T>::kSize;
    for (int c = 0; c < columns; ++c) {
        for (int64_t p = 0; p < k; ++p, to += rows) {
            Vec<T> value = Set(b[p * kTileColumns<T> + c]);
            for (int64_t r = 0; r < rows; r += kSize) {
                Store(to + r, value);  // in order: the next ones overwrite the excess
            }
        }
    }
}

// C[kRows x columns] (+)= A B. A is a panel of kRows rows, B is spread. Reads up to kSize elements past both.
template <class T>
struct NarrowTile {
    template <int kRows, int kColumns>
    static void Run(int64_t k, const T* a, const T* b, const TileOutput<T>& out) {
        constexpr int kSize = Simd<T>::kSize;
        constexpr int kChains = 8;  // sums of every eighth product, added at last
        constexpr int kStep = kChains * kRows;
        constexpr int kVectors = (kStep + kSize - 1) / kSize;  // excess lanes are ignored
        Vec<T> acc[kColumns][kVectors] = {};
        int64_t whole = k / kChains * kStep;
        int64_t size = k * kRows;
        for (int64_t i = 0; i < whole; i += kStep) {
#pragma GCC unroll 32
            for (int v = 0; v < kVectors; ++v) {
                Vec<T> av = Load(a + i + v * kSize);
#pragma GCC unroll 8
                for (int c = 0; c < kColumns; ++c) {
                    acc[c][v] += av * Load(b + c * size + i + v * kSize);
                }
            }
        }
        constexpr int kRowVectors = (kRows + kSize - 1) / kSize;
        T sums[kRows * kSize];  // as one vector of columns
        for (int c = 0; c < kColumns; ++c) {
            T chains[kStep + 2 * kSize] = {};
            for (int v = 0; v < kVectors; ++v) {
                Store(chains + v * kSize, acc[c][v]);
            }
            for (int v = 0; v < kRowVectors; ++v) {
                Vec<T> sum = Load(chains + v * kSize);
                for (int64_t i = whole; i < size; i += kRows) {
                    sum += Load(a + i + v * kSize) * Load(b + c * size + i + v * kSize);
                }
                for (int i = 1; i < kChains; ++i) {
                    sum += Load(chains + i * kRows + v * kSize);
                }
                for (int r = v * kSize; r < kRows && r < (v + 1) * kSize; ++r) {
                    sums[r * kSize + c] = sum[r - v * kSize];
                }
            }
        }
        StoreIrregularTile<T>(out, kRows, 1, sums);
    }
};

}  // namespace chainerx::native::CHAINERX_ISA
