// Products with a packed right operand. Its columns are cut into panels [k][columns], which tiles of a few rows of A
// read from the second-level cache. A stays as it is: a tile reads so few rows that they stay in the first-level one.

#include "chainerx/backends/native/kernels/gemm_packed.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

// Bytes of a column of a panel that a tile reads, and of rows of A that stay in the second-level cache
constexpr int64_t kColumnBytes = 4096;
constexpr int64_t kRowBytes = int64_t{1} << 19;

// A rectangle of tiles of C
struct Part {
    int64_t first_panel;
    int64_t last_panel;  // exclusive
    int64_t first_row;
    int64_t last_row;  // exclusive
};

template <class T>
void MultiplyPart(int64_t k, const VectorTiles<T>& panels, const T* packed, const Product<T>& p, const Part& part) {
    constexpr int64_t kMaxDepth = kColumnBytes / sizeof(T);
    int64_t blocks = (k + kMaxDepth - 1) / kMaxDepth;
    int64_t step = PanelRows(part.last_row - part.first_row);
    int64_t tiles = (part.last_row - part.first_row + step - 1) / step;
    for (int64_t panel = part.first_panel; panel < part.last_panel; ++panel) {
        int64_t column = panels.Column(panel);
        int64_t width = panels.Column(panel + 1) - column;
        for (int64_t block = 0; block < blocks; ++block) {
            int64_t q = k * block / blocks;
            int64_t depth = k * (block + 1) / blocks - q;
            bool is_last = block == blocks - 1;
            TileOutput<T> out{};
            out.row = p.ldc;
            out.columns = panels.Columns(panel);
            out.accumulate = p.accumulate || block > 0;
            out.addend = is_last && p.bias != nullptr ? p.bias + column : nullptr;
            out.relu = is_last && p.relu;
            const T* b = packed + column * k + q * width;
            // All tiles together fetch what comes next.
            Ahead<T> ahead{b, 0};
            if (!is_last || panel + 1 < part.last_panel) ahead = {b + depth * width, (width + tiles - 1) / tiles};
            for (int64_t row = part.first_row; row < part.last_row; row += step, ahead.data += depth * ahead.step) {
                int64_t rows = part.last_row - row < step ? part.last_row - row : step;
                out.c = p.c + row * p.ldc + column;
                ChooseTile<T, RowsTile>(rows, out.vectors())(depth, p.a + row * p.lda + q, p.lda, b, ahead, out);
            }
        }
    }
}

}  // namespace

template <class T>
void GetPackedMatrixSize(int64_t k, int64_t n, int64_t* size) {
    *size = k * VectorTiles<T>{n}.vectors() * Simd<T>::kSize;
}

template <class T>
void PackMatrix(bool trans, int64_t k, int64_t n, const T* b, int64_t ldb, T* packed) {
    VectorTiles<T> panels{n};
    ParallelFor(panels.count(), 1 + (1 << 15) / (k * kTileColumns<T> + 1), [&](int64_t begin, int64_t end) {
        for (int64_t panel = begin; panel < end; ++panel) {
            int64_t column = panels.Column(panel);
            int64_t width = panels.Column(panel + 1) - column;
            int columns = panels.Columns(panel);
            T* to = packed + column * k;
            // Blocks of B stored n x k, whose rows are read a cache line at a time.
            constexpr int64_t kBlock = 16;
            for (int64_t first = 0; first < k; first += kBlock) {
                int64_t last = k - first < kBlock ? k : first + kBlock;
                for (int64_t i = 0; i < width; ++i) {
                    const T* from = trans ? b + (column + i) * ldb : b + column + i;
                    for (int64_t q = first; q < last; ++q) {
                        to[q * width + i] = i < columns ? from[trans ? q : q * ldb] : T{0};
                    }
                }
            }
        }
    });
}

template <class T>
void MultiplyPacked(int64_t k, int64_t n, const T* packed, const Product<T>& p) {
    if (p.m <= 0) {
        return;
    }
    VectorTiles<T> panels{n};
    // Blocks of rows, and if they are few of panels, so small that every thread gets some.
    int64_t wanted = InParallelRegion() ? 1 : GetNumThreads();
    int64_t most = kRowBytes / static_cast<int64_t>(k * sizeof(T)) / kTileRows * kTileRows;
    most = most < 8 * kTileRows ? 8 * kTileRows : most;
    int64_t row_parts = (p.m + most - 1) / most;
    int64_t panel_parts = (wanted + row_parts - 1) / row_parts;
    panel_parts = panel_parts < panels.count() ? panel_parts : panels.count();
    constexpr int64_t kMinWork = 1 << 17;
    constexpr int64_t kLeastRows = 3;  // fewer take as long: they wait for B
    int64_t work = (p.m < kLeastRows ? kLeastRows : p.m) * k * n / (row_parts * panel_parts);
    ParallelFor(row_parts * panel_parts, 1 + kMinWork / (work + 1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t row = i / panel_parts;
            int64_t panel = i % panel_parts;
            MultiplyPart(k, panels, packed, p,
                         Part{panels.count() * panel / panel_parts, panels.count() * (panel + 1) / panel_parts,
                              p.m * row / row_parts, p.m * (row + 1) / row_parts});
        }
    });
}

#define CHAINERX_INSTANTIATE(T)                                                 \
    template void GetPackedMatrixSize<T>(int64_t, int64_t, int64_t*);           \
    template void PackMatrix<T>(bool, int64_t, int64_t, const T*, int64_t, T*); \
    template void MultiplyPacked<T>(int64_t, int64_t, const T*, const Product<T>&);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native::CHAINERX_ISA
