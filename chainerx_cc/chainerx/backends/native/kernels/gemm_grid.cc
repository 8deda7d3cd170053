#include "chainerx/backends/native/kernels/gemm_grid.h"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>

#include "chainerx/backends/native/kernels/blas.h"

namespace chainerx::native {
namespace {

// Up to this many multiply-adds, OpenBLAS has kernels of their own.
constexpr double kLittleWork = 1000 * 1000;

bool IsReproducible() {
    static const bool value = [] {
        const char* text = std::getenv("CHAINERX_REPRODUCIBLE");
        return text != nullptr && *text != '\0' && std::string{text} != "0";
    }();
    return value;
}

bool FloatsHaveOneOrder() {
    static const bool value = HasOneOrder(GetBlas().core_type);
    return value;
}

int64_t GetEdge(int64_t size, int64_t parts, int64_t part, int64_t step) {
    return part == parts ? size : std::min(size, (size * part / parts + step / 2) / step * step);
}

}  // namespace

template <class T>
GemmCuts GetBlasCuts() {
    if (std::is_same_v<T, float> && FloatsHaveOneOrder()) return GemmCuts{16, true, kLittleWork};
    // Others treat the last columns of a block apart, and take rows by groups whose sizes divide 48.
    return IsReproducible() ? GemmCuts{48, false, kLittleWork} : GemmCuts{};
}
template GemmCuts GetBlasCuts<float>();
template GemmCuts GetBlasCuts<double>();
template GemmCuts GetBlasCuts<std::complex<float>>();
template GemmCuts GetBlasCuts<std::complex<double>>();

GemmGrid::GemmGrid(int64_t m, int64_t n, int64_t k, int64_t threads, const GemmCuts& cuts) : m_{m}, n_{n}, cuts_{cuts} {
    do {
        Choose(threads--);
    } while (size() > 1 && SmallestArea() * static_cast<double>(k) <= cuts.min_work);
}

GemmGrid::Block GemmGrid::at(int64_t i) const {
    auto edge = [&](int64_t size, int64_t parts, int64_t part) { return GetEdge(size, parts, part, cuts_.step); };
    int64_t row = i / column_parts_;
    int64_t column = i % column_parts_;
    int64_t row_begin = edge(m_, row_parts_, row);
    int64_t column_begin = edge(n_, column_parts_, column);
    return {row_begin, edge(m_, row_parts_, row + 1) - row_begin, column_begin,
            edge(n_, column_parts_, column + 1) - column_begin};
}

void GemmGrid::Choose(int64_t threads) {
    double best_cost = std::numeric_limits<double>::infinity();
    int64_t most_columns = cuts_.columns ? std::max<int64_t>(1, n_ / cuts_.step) : 1;
    for (int64_t rows = 1; rows <= threads; ++rows) {
        if (rows > 1 && m_ / rows < cuts_.step) break;
        int64_t columns = std::min(threads / rows, most_columns);
        auto block_m = static_cast<double>((m_ + rows - 1) / rows);
        auto block_n = static_cast<double>((n_ + columns - 1) / columns);
        // The work of the largest block, including packing.
        double cost = block_m * block_n + 8.0 * (block_m + block_n);
        if (cost < best_cost) {
            best_cost = cost;
            row_parts_ = rows;
            column_parts_ = columns;
        }
    }
}

double GemmGrid::SmallestArea() const {
    double smallest = std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < size(); ++i) {
        Block block = at(i);
        double area = GetGemmWork(block.rows, block.columns, 1);
        if (area > 0) smallest = std::min(smallest, area);
    }
    return smallest;
}

}  // namespace chainerx::native
