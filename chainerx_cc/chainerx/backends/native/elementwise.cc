#include "chainerx/backends/native/elementwise.h"

#include <algorithm>
#include <cstdlib>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/transpose.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"

namespace chainerx::native {
namespace {

// Elements per task, and the size from which the loop releases the interpreter lock.
constexpr int64_t kElementwiseGrain = 32768;

// A tile of a transposed operand, which is contiguous across rows. Tiles are transposed before the loops run over them.
constexpr int64_t kTileRows = 32;
constexpr int64_t kTileColumns = 256;

template <class T>
void TurnTile(int64_t rows, int64_t columns, const char* from, int64_t column_stride, char* to) {
    TransposeMatrix(columns, rows, reinterpret_cast<const T*>(from), column_stride / static_cast<int64_t>(sizeof(T)),
                    reinterpret_cast<T*>(to), kTileColumns);
}

// Runs the loops tile by tile if there is such an operand; returns false if there is none.
bool RunTiles(const ElementwiseCall& call, RowFunction row, const LoopNest& nest, char* const* data) {
    int last = nest.ndim - 1;
    if (nest.ndim < 2 || nest.lengths[last] < kTileRows || nest.lengths[last - 1] < kTileRows) return false;
    const int64_t* inner = nest.strides[last];
    const int64_t* across = nest.strides[last - 1];
    int64_t turned[LoopNest::kMaxOperands] = {};  // sizes of elements
    int64_t strides[LoopNest::kMaxOperands];      // in the tiles
    bool any = false;
    for (int k = 0; k < nest.n_operands; ++k) {
        int64_t item = k == 0 || call.in[k - 1] == nullptr ? 0 : call.in[k - 1]->GetItemSize();
        if ((item == 4 || item == 8) && across[k] == item && inner[k] != 0 && inner[k] % item == 0) turned[k] = item;
        strides[k] = turned[k] != 0 ? item : inner[k];
        any = any || turned[k] != 0;
    }
    if (!any) return false;
    int64_t length = nest.lengths[last];
    int64_t rows = nest.lengths[last - 1];
    int64_t blocks = (rows + kTileRows - 1) / kTileRows;
    LoopNest outer = nest;
    --outer.ndim;
    BlockingScope blocking{nest.size > kElementwiseGrain};
    ParallelFor(outer.OuterSize() * blocks, std::max<int64_t>(1, kElementwiseGrain / (kTileRows * length)),
                [&](int64_t begin, int64_t end) {
                    constexpr int64_t kTileBytes = kTileRows * kTileColumns * 8;
                    Scratch<char> tiles{kTileBytes * kMaxElementwiseInputs};
                    for (int64_t task = begin; task < end; ++task) {
                        int64_t first = task % blocks * kTileRows;
                        int64_t n_rows = std::min(kTileRows, rows - first);
                        outer.ForRows(data, task / blocks, task / blocks + 1, [&](int64_t, char* const* p) {
                            for (int64_t column = 0; column < length; column += kTileColumns) {
                                int64_t n_columns = std::min(kTileColumns, length - column);
                                char* q[LoopNest::kMaxOperands];
                                int64_t step[LoopNest::kMaxOperands];
                                for (int k = 0; k < nest.n_operands; ++k) {
                                    q[k] = p[k] + first * across[k] + column * inner[k];
                                    step[k] = across[k];
                                    if (turned[k] == 0) continue;
                                    char* tile = tiles.data() + (k - 1) * kTileBytes;
                                    (turned[k] == 4 ? TurnTile<float> : TurnTile<double>)(n_rows, n_columns, q[k],
                                                                                          inner[k], tile);
                                    q[k] = tile;
                                    step[k] = kTileColumns * turned[k];
                                }
                                for (int64_t r = 0; r < n_rows; ++r) {
                                    row(call.op, n_columns, q, strides);
                                    for (int k = 0; k < nest.n_operands; ++k) q[k] += step[k];
                                }
                            }
                        });
                    }
                });
    return true;
}

}  // namespace

void RunRows(const ElementwiseCall& call, RowFunction row) {
    const Array& out = *call.out;
    int64_t size = out.GetTotalSize();
    if (size == 0) return;
    int n = call.n_inputs + 1;
    char* data[LoopNest::kMaxOperands];
    int64_t strides[LoopNest::kMaxOperands];
    data[0] = out.raw_data();
    strides[0] = out.GetItemSize();
    bool flat = out.IsContiguous();
    for (int i = 0; i < call.n_inputs; ++i) {
        const Array* a = call.in[i];
        if (a == nullptr) {
            data[i + 1] = const_cast<char*>(call.scalars[i]);
            strides[i + 1] = 0;
        } else {
            data[i + 1] = a->raw_data();
            strides[i + 1] = a->GetTotalSize() == 1 ? 0 : a->GetItemSize();
            flat = flat && (a->GetTotalSize() == 1 || (a->IsContiguous() && a->shape() == out.shape()));
        }
    }
    if (CHAINERX_LIKELY(flat)) {
        if (CHAINERX_LIKELY(size <= kElementwiseGrain)) {
            row(call.op, size, data, strides);
            return;
        }
        BlockingScope blocking;
        ParallelFor(size, kElementwiseGrain, [&](int64_t begin, int64_t end) {
            char* p[LoopNest::kMaxOperands];
            for (int k = 0; k < n; ++k) p[k] = data[k] + begin * strides[k];
            row(call.op, end - begin, p, strides);
        });
        return;
    }
    Strides full[LoopNest::kMaxOperands];
    full[0] = out.strides();
    for (int i = 0; i < call.n_inputs; ++i) {
        const Array* a = call.in[i];
        full[i + 1] = a == nullptr ? Strides(out.ndim(), 0) : BroadcastStrides(a->shape(), a->strides(), out.shape());
    }
    LoopNest nest{out.shape(), n, full};
    if (RunTiles(call, row, nest, data)) return;
    int64_t length = nest.lengths[nest.ndim - 1];
    const int64_t* inner = nest.strides[nest.ndim - 1];
    BlockingScope blocking{size > kElementwiseGrain};
    ParallelFor(nest.OuterSize(), std::max<int64_t>(1, kElementwiseGrain / length), [&](int64_t begin, int64_t end) {
        nest.ForRows(data, begin, end, [&](int64_t m, char* const* p) { row(call.op, m, p, inner); });
    });
}

const NativeKernels g_loop_kernels{[](Backend& backend) {
    kParallelForKernel.Register(
            backend, [](int64_t n, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& body) {
                BlockingScope blocking{n > grain};
                ParallelFor(n, grain, body);
            });
}};

}  // namespace chainerx::native
