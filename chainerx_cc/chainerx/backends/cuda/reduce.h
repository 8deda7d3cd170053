#pragma once

// Kernels of reductions. A reduction `Op` has
//
//   Element, Acc, Result                  types of the input, of partial results and of the output
//   Acc Init() const                      neutral element
//   Acc Map(Element x, int64_t i) const   partial result of the element with the index i along the reduced axes
//   Acc Combine(Acc a, Acc b) const
//   Result Finish(Acc a) const
//
// The order in which values are combined depends on the shape only, so results are reproducible.

#include <algorithm>
#include <cstdint>

#include "chainerx/backends/cuda/block_reduce.h"
#include "chainerx/backends/cuda/launch.h"
#include "chainerx/ops/reduce_layout.h"

namespace chainerx::cuda {

// Joins the partial results of an Op.
template <class Op>
struct JoinOf : Op {
    using Element = typename Op::Acc;
    __device__ typename Op::Acc Map(Element x, int64_t) const { return x; }
};

// The first step of a reduction in two: keeps the partial results.
template <class Op>
struct PartOf : Op {
    using Result = typename Op::Acc;
    __device__ Result Finish(typename Op::Acc a) const { return a; }
};

// Rows of contiguous elements, in pieces: the block (x, y) reduces the piece y of the row x.
template <class Op>
__global__ void ReduceLongRows(Op op, int64_t n, int64_t piece, const typename Op::Element* in,
                               typename Op::Result* out) {
    int64_t begin = piece * blockIdx.y;
    int64_t end = begin + piece < n ? begin + piece : n;
    const typename Op::Element* row = in + n * blockIdx.x;
    auto acc = op.Init();
    for (int64_t i = begin + threadIdx.x; i < end; i += kBlock) acc = op.Combine(acc, op.Map(row[i], i));
    acc = CombineBlock(op, acc);
    if (threadIdx.x == 0) out[static_cast<int64_t>(blockIdx.x) * gridDim.y + blockIdx.y] = op.Finish(acc);
}

// Short rows: one for each warp.
template <class Op>
__global__ void ReduceShortRows(Op op, int64_t rows, int64_t n, const typename Op::Element* in,
                                typename Op::Result* out) {
    int64_t row = ThreadIndex() / kWarp;
    if (row >= rows) return;
    unsigned lane = threadIdx.x % kWarp;
    auto acc = op.Init();
    for (int64_t i = lane; i < n; i += kWarp) acc = op.Combine(acc, op.Map(in[row * n + i], i));
    acc = CombineWarp(op, acc);
    if (lane == 0) out[row] = op.Finish(acc);
}

constexpr unsigned kColumnRows = kBlock / kWarp;

// Columns of n partial results: neighbouring threads combine neighbouring columns, and the rows of the block share a
// column. The block (x, y) combines the piece y of kWarp columns. `values(column)` gives the function of partial
// results by their index, and `store(k, acc)` takes the result with the index k in the order (piece, column).
template <class Op, class Values, class Store>
__device__ void CombineColumns(const Op& op, int64_t columns, int64_t n, int64_t piece, Values&& values,
                               Store&& store) {
    using Acc = decltype(op.Init());
    alignas(Acc) __shared__ char memory[kBlock * sizeof(Acc)];
    Acc* parts = reinterpret_cast<Acc*>(memory);
    int64_t column = static_cast<int64_t>(blockIdx.x) * kWarp + threadIdx.x;
    bool exists = column < columns;
    Acc acc = op.Init();
    if (exists) {
        auto value = values(column);
        int64_t begin = piece * blockIdx.y;
        int64_t end = begin + piece < n ? begin + piece : n;
        for (int64_t i = begin + threadIdx.y; i < end; i += kColumnRows) acc = op.Combine(acc, value(i));
    }
    parts[threadIdx.y * kWarp + threadIdx.x] = acc;
    __syncthreads();
    for (unsigned height = kColumnRows / 2; height > 0; height /= 2) {
        if (threadIdx.y < height) {
            unsigned k = threadIdx.y * kWarp + threadIdx.x;
            parts[k] = op.Combine(parts[k], parts[k + height * kWarp]);
        }
        __syncthreads();
    }
    if (exists && threadIdx.y == 0) store(columns * blockIdx.y + column, parts[threadIdx.x]);
}

template <class Op>
__global__ void ReduceColumns(Op op, int64_t outer, int64_t n, int64_t inner, int64_t piece,
                              const typename Op::Element* in, typename Op::Result* out) {
    CombineColumns(
            op, outer * inner, n, piece,
            [&](int64_t column) {
                const typename Op::Element* p = in + column / inner * n * inner + column % inner;
                return [&op, p, inner](int64_t i) { return op.Map(p[i * inner], i); };
            },
            [&](int64_t k, const auto& acc) { out[k] = op.Finish(acc); });
}

// Pieces of a reduction over n elements, so that a GPU has enough blocks.
struct Pieces {
    int64_t length;
    int64_t count;
};
inline Pieces MakePieces(int64_t n, int64_t blocks, int64_t least) {
    constexpr int64_t kBlocksWanted = 512;
    int64_t count = std::max<int64_t>(1, std::min(kBlocksWanted / std::max<int64_t>(blocks, 1), n / least));
    int64_t length = std::max<int64_t>(1, (n + count - 1) / count);
    return {length, std::max<int64_t>(1, (n + length - 1) / length)};
}

inline StoragePtr AllocateScratch(Device& device, int64_t bytes) { return device.Allocate(static_cast<size_t>(bytes)); }

// `out`: contiguous, of the shape (outer, inner).
template <class Op>
void Reduce(const char* what, const Op& op, const ReduceLayout& l, const Array& out) {
    using Acc = typename Op::Acc;
    constexpr int64_t kShort = 1024;
    constexpr int64_t kLeastPiece = 4096;
    Device& device = out.device();
    const auto* in = l.in.template data<typename Op::Element>();
    auto* result = out.data<typename Op::Result>();
    if (l.inner == 1 && l.reduce <= kShort) {
        Launch(what, device, BlocksFor(l.outer * kWarp), kBlock, &ReduceShortRows<Op>, op, l.outer, l.reduce, in,
               result);
        return;
    }
    if (l.inner == 1) {
        Pieces pieces = MakePieces(l.reduce, l.outer, kLeastPiece);
        dim3 grid(static_cast<unsigned>(l.outer), static_cast<unsigned>(pieces.count));
        if (pieces.count == 1) {
            Launch(what, device, grid, kBlock, &ReduceLongRows<Op>, op, l.reduce, pieces.length, in, result);
            return;
        }
        StoragePtr scratch = AllocateScratch(device, l.outer * pieces.count * sizeof(Acc));
        auto* parts = static_cast<Acc*>(scratch->data());
        Launch(what, device, grid, kBlock, &ReduceLongRows<PartOf<Op>>, PartOf<Op>{op}, l.reduce, pieces.length, in,
               parts);
        Launch(what, device, BlocksFor(l.outer * kWarp), kBlock, &ReduceShortRows<JoinOf<Op>>, JoinOf<Op>{op}, l.outer,
               pieces.count, static_cast<const Acc*>(parts), result);
        return;
    }
    int64_t columns = l.outer * l.inner;
    int64_t blocks = (columns + kWarp - 1) / kWarp;
    Pieces pieces = MakePieces(l.reduce, blocks, 256);
    dim3 block(kWarp, kColumnRows);
    dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(pieces.count));
    if (pieces.count == 1) {
        Launch(what, device, grid, block, &ReduceColumns<Op>, op, l.outer, l.reduce, l.inner, pieces.length, in,
               result);
        return;
    }
    StoragePtr scratch = AllocateScratch(device, columns * pieces.count * sizeof(Acc));
    auto* parts = static_cast<Acc*>(scratch->data());
    Launch(what, device, grid, block, &ReduceColumns<PartOf<Op>>, PartOf<Op>{op}, l.outer, l.reduce, l.inner,
           pieces.length, in, parts);
    Launch(what, device, dim3(static_cast<unsigned>(blocks)), block, &ReduceColumns<JoinOf<Op>>, JoinOf<Op>{op},
           int64_t{1}, pieces.count, columns, pieces.count, static_cast<const Acc*>(parts), result);
}

}  // namespace chainerx::cuda
