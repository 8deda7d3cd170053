#include "chainerx/backends/native/kernels/tile.h"
#include "chainerx/backends/native/kernels/transpose.h"

namespace chainerx::native::CHAINERX_ISA {

// Square blocks of one vector by as many rows are transposed in registers.
template <class T>
void TransposeMatrix(int64_t rows, int64_t columns, const T* from, int64_t from_row, T* to, int64_t to_row) {
    constexpr int kSize = Simd<T>::kSize;
    // Rows of the result that are written in turn: their cache lines stay until they are full.
    constexpr int64_t kPanel = 4 * kSize;
    int64_t whole_rows = rows / kSize * kSize;
    int64_t whole_columns = columns / kSize * kSize;
    for (int64_t panel = 0; panel < whole_columns; panel += kPanel) {
        int64_t panel_end = panel + kPanel < whole_columns ? panel + kPanel : whole_columns;
        for (int64_t i = 0; i < whole_rows; i += kSize) {
            for (int64_t j = panel; j < panel_end; j += kSize) {
                Vec<T> block[kSize];
#pragma GCC unroll 16
                for (int r = 0; r < kSize; ++r) {
                    block[r] = Load(from + (i + r) * from_row + j);
                }
                Transpose<T>(block);
#pragma GCC unroll 16
                for (int r = 0; r < kSize; ++r) {
                    Store(to + (j + r) * to_row + i, block[r]);
                }
            }
        }
    }
    for (int64_t j = 0; j < columns; ++j) {
        for (int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i) {
            to[j * to_row + i] = from[i * from_row + j];
        }
    }
}

template void TransposeMatrix<float>(int64_t, int64_t, const float*, int64_t, float*, int64_t);
template void TransposeMatrix<double>(int64_t, int64_t, const double*, int64_t, double*, int64_t);

}  // namespace chainerx::native::CHAINERX_ISA
