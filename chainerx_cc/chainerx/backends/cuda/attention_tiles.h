#pragma once

// Products of tiles of matrices, by a block of kSide x kSide threads. They are multiply-adds on values that are widened
// in shared memory; tensor cores would take the place of MultiplyRows and AddWeighted, on tiles in half precision.

#include <cstdint>
#include <cstring>

#include "chainerx/backends/cuda/block_reduce.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/macro.h"

namespace chainerx::cuda {

constexpr int kSide = 16;
constexpr int kDepth = 32;  // terms of a product that are in shared memory at a time
static_assert(kSide * kSide == kBlock);

// A matrix with strides in bytes.
template <class T>
struct Matrix {
    const char* data;
    int64_t rows;
    int64_t columns;
    int64_t row;
    int64_t column;

    // Zero outside.
    __device__ typename ComputeType<T>::type Get(int64_t i, int64_t j) const {
        if (i >= rows || j >= columns) return 0;
        return static_cast<typename ComputeType<T>::type>(*reinterpret_cast<const T*>(data + i * row + j * column));
    }
};

// Shared memory and positions of a block that computes with C: float or double. A thread has kMicro rows and kMicro
// columns of a tile of weights.
template <class C>
struct Tile {
    static constexpr int kPack = 16 / sizeof(C);  // values of one access to shared memory
    static constexpr int kMicro = sizeof(C) == 8 ? 2 : 4;
    static constexpr int kSize = kSide * kMicro;
    static constexpr int kOperandRow = kDepth + kPack;
    static constexpr int kWeightRow = kSize + kPack;

    struct alignas(16) Pack {
        C values[kPack];
    };
    struct Shared {
        alignas(16) C operands[2 * kSize * kOperandRow];
        alignas(16) C weights[kSize * kWeightRow];
    };

    __device__ static int Row(int i) { return static_cast<int>(threadIdx.x) / kSide * kMicro + i; }
    __device__ static int Column(int j) { return static_cast<int>(threadIdx.x) % kSide + kSide * j; }
    __device__ static Pack Load(const C* p) { return *reinterpret_cast<const Pack*>(p); }
};

// Combines the values of the threads that share rows; all of them get the result.
template <class Op, class C>
__device__ C CombineSide(const Op& op, C value) {
    for (int bits = kSide / 2; bits > 0; bits /= 2) value = op.Combine(value, ShuffleXor(value, bits));
    return value;
}

// Copies a part of a matrix to rows of kStride elements in shared memory.
template <int kRows, int kColumns, int kStride, class T, class C>
__device__ void LoadTile(const Matrix<T>& m, int64_t row, int64_t column, C* tile) {
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < kRows * kColumns; i += kBlock) {
        int r = i / kColumns;
        int c = i % kColumns;
        tile[r * kStride + c] = m.Get(row + r, column + c);
    }
}

// Adds products of the thread's rows of two tiles.
template <class C>
__device__ void MultiplyRows(const C* a, const C* b, C (&out)[Tile<C>::kMicro][Tile<C>::kMicro]) {
    using S = Tile<C>;
#pragma unroll 1  // more would take registers
    for (int k = 0; k < kDepth; k += S::kPack) {
        typename S::Pack x[S::kMicro];
        typename S::Pack y[S::kMicro];
#pragma unroll
        for (int i = 0; i < S::kMicro; ++i) {
            x[i] = S::Load(a + S::Row(i) * S::kOperandRow + k);
            y[i] = S::Load(b + S::Column(i) * S::kOperandRow + k);
        }
#pragma unroll
        for (int e = 0; e < S::kPack; ++e) {
#pragma unroll
            for (int i = 0; i < S::kMicro; ++i) {
#pragma unroll
                for (int j = 0; j < S::kMicro; ++j) out[i][j] += x[i].values[e] * y[j].values[e];
            }
        }
    }
}

// Adds products of rows i, i + 1, ... of a and rows j, j + 1, ... of b.
template <class T, class C>
__device__ void AddProducts(const Matrix<T>& a, int64_t i, const Matrix<T>& b, int64_t j, C* operands,
                            C (&out)[Tile<C>::kMicro][Tile<C>::kMicro]) {
    using S = Tile<C>;
    C* second = operands + S::kSize * S::kOperandRow;
    for (int64_t k = 0; k < a.columns; k += kDepth) {
        LoadTile<S::kSize, kDepth, S::kOperandRow>(a, i, k, operands);
        LoadTile<S::kSize, kDepth, S::kOperandRow>(b, j, k, second);
        __syncthreads();
        MultiplyRows(operands, second, out);
        __syncthreads();
    }
}

// The column of the result that is the thread's value c.
template <class C>
__device__ int OutColumn(int c) {
    constexpr int kPack = Tile<C>::kPack;
    return (static_cast<int>(threadIdx.x) % kSide + kSide * (c / kPack)) * kPack + c % kPack;
}

// Adds the tile of weights, which each thread has written its part of, times rows of x, for kCount * kSide columns.
template <class T, class C, int kCount>
__device__ void AddWeighted(typename Tile<C>::Shared& shared, const Matrix<T>& x, int64_t row, int64_t column,
                            C (&out)[Tile<C>::kMicro][kCount]) {
    using S = Tile<C>;
    constexpr int kColumns = kCount * kSide;
    static_assert(kDepth * kColumns <= sizeof(shared.operands) / sizeof(C));
    for (int k = 0; k < S::kSize; k += kDepth) {
        LoadTile<kDepth, kColumns, kColumns>(x, row + k, column, shared.operands);
        __syncthreads();
#pragma unroll 1
        for (int e = 0; e < kDepth; e += S::kPack) {
            typename S::Pack w[S::kMicro];
#pragma unroll
            for (int i = 0; i < S::kMicro; ++i) w[i] = S::Load(shared.weights + S::Row(i) * S::kWeightRow + k + e);
#pragma unroll
            for (int l = 0; l < S::kPack; ++l) {
#pragma unroll
                for (int c = 0; c < kCount; c += S::kPack) {
                    typename S::Pack values = S::Load(shared.operands + (e + l) * kColumns + OutColumn<C>(c));
#pragma unroll
                    for (int i = 0; i < S::kMicro; ++i) {
#pragma unroll
                        for (int m = 0; m < S::kPack; ++m) out[i][c + m] += w[i].values[l] * values.values[m];
                    }
                }
            }
        }
        __syncthreads();
    }
}

}  // namespace chainerx::cuda
