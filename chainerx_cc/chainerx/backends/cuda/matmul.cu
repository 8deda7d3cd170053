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
__global__ void MatmulTiles(int64_t batch, int64_t rows, int64_t columns, int64_t inner, Layout<2> stack, const char* a,
                            MatrixStrides strides_a, const char* b, MatrixStrides strides_b, double beta, T* out) {
    using C = std::conditional_t<std::is_same_v<T, bool>, int, typename ComputeType<T>::type>;
    __shared__ C tile_a[kTile][kTile];
    __shared__ C tile_b[kTile][kTile + 1];
    auto across = static_cast<unsigned>(CountTiles(columns));
    int64_t row = static_cast<int64_t>(blockIdx.x / across) * kTile + threadIdx.y;
    int64_t column = static_cast<int64_t>(blockIdx.x % across) * kTile + threadIdx.x;
    for (int64_t i = blockIdx.y; i < batch; i += gridDim.y) {
        int64_t offsets[2];
        stack.GetOffsets(static_cast<uint32_t>(i), offsets);
        C sum{};
        for (int64_t k = 0; k < inner; k += kTile) {
            tile_a[threadIdx.y][threadIdx.x] = Load<T, C>(a + offsets[0], strides_a, row, k + threadIdx.x, rows, inner);
            tile_b[threadIdx.y][threadIdx.x] =
                    Load<T, C>(b + offsets[1], strides_b, k + threadIdx.y, column, inner, columns);
            __syncthreads();
            for (int j = 0; j < kTile; ++j) {
                sum = static_cast<C>(sum + tile_a[threadIdx.y][j] * tile_b[j][threadIdx.x]);
            }
            __syncthreads();
        }
        if (row < rows && column < columns) {
            T* p = out + (i * rows + row) * columns + column;
            if (beta != 0) sum = static_cast<C>(sum + static_cast<C>(beta) * static_cast<C>(*p));
            *p = Convert<C, T>(sum);
        }
    }
}

MatrixStrides GetMatrixStrides(const Array& a) { return {a.strides()[a.ndim() - 2], a.strides()[a.ndim() - 1]}; }

}  // namespace

void MatmulByTiles(const Array& a, const Array& b, double beta, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    int n = out.ndim();
    int64_t rows = out.shape()[n - 2];
    int64_t columns = out.shape()[n - 1];
    int64_t batch = out.GetTotalSize() / (rows * columns);
    Strides strides[] = {Strides(a.strides().begin(), a.strides().end() - 2),
                         Strides(b.strides().begin(), b.strides().end() - 2)};
    // In the order of the output, whose elements are contiguous: dimensions may not be exchanged.
    Layout<2> stack{Shape(out.shape().begin(), out.shape().end() - 2), strides};
    dim3 grid(static_cast<unsigned>(CountTiles(rows) * CountTiles(columns)),
              static_cast<unsigned>(std::min<int64_t>(batch, 65535)));
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Launch("matmul", out.device(), grid, dim3(kTile, kTile), &MatmulTiles<T>, batch, rows, columns,
               a.shape()[n - 1], stack, static_cast<const char*>(a.raw_data()), GetMatrixStrides(a),
               static_cast<const char*>(b.raw_data()), GetMatrixStrides(b), beta, out.data<T>());
    });
}

}  // namespace chainerx::cuda
