// Matrix products without a library: the reference for those of cuBLAS, and the path of integers.

#include <algorithm>
#include <type_traits>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/layout.h"
#include "chainerx/backends/cuda/matmul.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"

namespace chainerx::cuda {
namespace {

constexpr int kTile = 16;

// Distances in bytes between elements of the last two dimensions.
struct MatrixStrides {
    int64_t row;
    int64_t column;
};

template <class T, class C>
__device__ C Load(const char* p, MatrixStrides s, int64_t row, int64_t column, int64_t rows, int64_t columns) {
    if (row >= rows || column >= columns) return C{};
    return static_cast<C>(*reinterpret_cast<const T*>(p + row * s.row + column * s.column));
}

CHAINERX_HOST_DEVICE int64_t CountTiles(int64_t length) { return (length + kTile - 1) / kTile; }

// Each block computes a tile of `out`; its threads load tiles of the operands together. Blocks of the grid's y axis
// share the products of a stack.
template <class T>
__global__ void MatmulTiles(uint32_t batch, int64_t rows, int64_t columns, int64_t inner, Layout<3> stack, char* out,
                            const char* a, MatrixStrides strides_a, const char* b, MatrixStrides strides_b,
                            double beta) {
    using C = std::conditional_t<std::is_same_v<T, bool>, int, typename ComputeType<T>::type>;
    __shared__ C tile_a[kTile][kTile];
    __shared__ C tile_b[kTile][kTile + 1];
    auto across = static_cast<unsigned>(CountTiles(columns));
    int64_t row = static_cast<int64_t>(blockIdx.x / across) * kTile + threadIdx.y;
    int64_t column = static_cast<int64_t>(blockIdx.x % across) * kTile + threadIdx.x;
    for (uint32_t i = blockIdx.y; i < batch; i += gridDim.y) {
        int64_t offsets[3];
        stack.GetOffsets(i, offsets);
        C sum{};
        for (int64_t k = 0; k < inner; k += kTile) {
            tile_a[threadIdx.y][threadIdx.x] = Load<T, C>(a + offsets[1], strides_a, row, k + threadIdx.x, rows, inner);
            tile_b[threadIdx.y][threadIdx.x] =
                    Load<T, C>(b + offsets[2], strides_b, k + threadIdx.y, column, inner, columns);
            __syncthreads();
            for (int j = 0; j < kTile; ++j) {
                sum = static_cast<C>(sum + tile_a[threadIdx.y][j] * tile_b[j][threadIdx.x]);
            }
            __syncthreads();
        }
        if (row < rows && column < columns) {
            T* p = reinterpret_cast<T*>(out + offsets[0]) + row * columns + column;
            if (beta != 0) sum = static_cast<C>(sum + static_cast<C>(beta) * static_cast<C>(*p));
            *p = Convert<C, T>(sum);
        }
    }
}

MatrixStrides GetMatrixStrides(const Array& a) { return {a.strides()[a.ndim() - 2], a.strides()[a.ndim() - 1]}; }

// Of the dimensions before those of the matrices.
Strides StackStrides(const Array& a) { return Strides(a.strides().begin(), a.strides().end() - 2); }

}  // namespace

void MatmulByTiles(const Array& a, const Array& b, double beta, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    int n = out.ndim();
    int64_t rows = out.shape()[n - 2];
    int64_t columns = out.shape()[n - 1];
    auto tiles = static_cast<unsigned>(CountTiles(rows) * CountTiles(columns));
    Strides strides[] = {StackStrides(out), StackStrides(a), StackStrides(b)};
    char* data[] = {out.raw_data(), a.raw_data(), b.raw_data()};
    LoopNest stack{Shape(out.shape().begin(), out.shape().end() - 2), 3, strides};
    ForParts(stack, data, [&](const LoopNest& part, char* const* p) {
        dim3 grid(tiles, static_cast<unsigned>(std::min<int64_t>(part.size, 65535)));
        VisitDtype(out.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            Launch("matmul", out.device(), grid, dim3(kTile, kTile), &MatmulTiles<T>, static_cast<uint32_t>(part.size),
                   rows, columns, a.shape()[n - 1], Layout<3>{part}, p[0], p[1], GetMatrixStrides(a), p[2],
                   GetMatrixStrides(b), beta);
        });
    });
}

}  // namespace chainerx::cuda
