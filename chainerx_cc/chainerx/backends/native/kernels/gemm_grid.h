#pragma once

#include <cstdint>

namespace chainerx::native {

inline double GetGemmWork(int64_t m, int64_t n, int64_t k) {  // multiply-adds
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

// Where the blocks of a product may begin.
struct GemmCuts {
    int64_t step = 16;  // suits the vector kernels
    bool columns = true;
    double min_work = 0;  // multiply-adds that each block exceeds
};

// The cuts of a product by OpenBLAS. If they have a min_work, results are those of one thread, to the bit: float32 with
// AVX-512 always, all else where the environment variable CHAINERX_REPRODUCIBLE is set.
template <class T>
GemmCuts GetBlasCuts();

// Blocks of an m x n product, one per thread, as square as the sizes allow.
class GemmGrid {
public:
    struct Block {
        int64_t row, rows;
        int64_t column, columns;
    };

    GemmGrid(int64_t m, int64_t n, int64_t k, int64_t threads, const GemmCuts& cuts);

    int64_t size() const { return row_parts_ * column_parts_; }
    Block at(int64_t i) const;

private:
    void Choose(int64_t threads);
    double SmallestArea() const;

    int64_t m_;
    int64_t n_;
    GemmCuts cuts_;
    int64_t row_parts_{1};
    int64_t column_parts_{1};
};

}  // namespace chainerx::native
