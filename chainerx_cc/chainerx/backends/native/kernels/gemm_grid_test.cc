#include "chainerx/backends/native/kernels/gemm_grid.h"

#include <gtest/gtest.h>

#include <vector>

namespace chainerx::native {
namespace {

const GemmCuts kAllCuts[] = {GemmCuts{}, GemmCuts{16, true, 1e6}, GemmCuts{48, false, 1e6}};

TEST(GemmGrid, CoversEachElementOnce) {
    for (const GemmCuts& cuts : kAllCuts) {
        for (int64_t m : {1, 15, 47, 100, 203}) {
            for (int64_t n : {1, 17, 96, 210}) {
                for (int64_t threads : {1, 2, 3, 7, 16}) {
                    GemmGrid grid{m, n, 500, threads, cuts};
                    std::vector<int> covered(m * n);
                    for (int64_t i = 0; i < grid.size(); ++i) {
                        GemmGrid::Block block = grid.at(i);
                        for (int64_t row = block.row; row < block.row + block.rows; ++row) {
                            for (int64_t column = block.column; column < block.column + block.columns; ++column) {
                                ++covered[row * n + column];
                            }
                        }
                    }
                    EXPECT_EQ(covered, std::vector<int>(m * n, 1)) << m << " " << n << " " << threads;
                    EXPECT_LE(grid.size(), threads);
                }
            }
        }
    }
}

TEST(GemmGrid, KeepsToItsCuts) {
    GemmGrid grid{200, 300, 50, 4, GemmCuts{48, false, 8e5}};
    EXPECT_EQ(grid.size(), 2);
    for (int64_t i = 0; i < grid.size(); ++i) {
        GemmGrid::Block block = grid.at(i);
        EXPECT_EQ(block.row % 48, 0);
        EXPECT_EQ(block.columns, 300);
        EXPECT_GT(GetGemmWork(block.rows, block.columns, 50), 8e5);
    }
    EXPECT_EQ((GemmGrid{100, 100, 100, 4, GemmCuts{16, true, 1e6}}.size()), 1);
    EXPECT_EQ((GemmGrid{100, 100, 100, 4, GemmCuts{}}.size()), 4);
}

}  // namespace
}  // namespace chainerx::native
