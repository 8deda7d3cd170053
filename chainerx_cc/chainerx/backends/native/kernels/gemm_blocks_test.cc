#include "chainerx/backends/native/kernels/gemm_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "chainerx/backends/native/kernels/test_util.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

struct Case {
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t block;
};

const Case kCases[] = {{1, 1, 1, 1},       {1, 10, 784, 16},  {2, 17, 3, 8},    {3, 16, 4, 4},
                       {5, 49, 70, 32},    {8, 48, 64, 64},   {9, 130, 65, 16}, {17, 33, 130, 5},
                       {31, 64, 256, 128}, {64, 1, 130, 130}, {7, 129, 20, 11}, {1, 300, 512, 32},
                       {4, 3, 0, 1},       {0, 3, 4, 2},      {3, 0, 4, 4},     {130, 20, 300, 32}};

// The kernels of an instruction set
struct Kernels {
    const char* name;
    bool has_integers;
    void (*get_columns)(int64_t, int64_t*);
    void (*pack)(const BlockSource&, const BlockFactor&);
    void (*multiply)(const BlockFactor&, const BlockProduct&);
};

#define CHAINERX_KERNELS(isa, has_integers)                                                                       \
    Kernels {                                                                                                     \
        #isa, has_integers, isa::GetBlockColumns<float>, isa::PackBlockColumns<float>, isa::MultiplyBlocks<float> \
    }

std::vector<Kernels> AvailableKernels() {
    std::vector<Kernels> all{CHAINERX_KERNELS(base, false)};
#if CHAINERX_ISA_X86
    if (GetIsa() >= Isa::kV3) all.push_back(CHAINERX_KERNELS(v3, false));
    if (GetIsa() >= Isa::kV4) all.push_back(CHAINERX_KERNELS(v4, false));
    if (HasVnni()) all.push_back(CHAINERX_KERNELS(vnni, true));
#endif
    return all;
}

// A matrix of integers, with scales and zero points of blocks, and operands to multiply with it.
struct Problem {
    Problem(const Case& s, int bits, bool is_signed, bool has_zeros)
        : shape{s.k, s.n, s.block, bits},
          center{is_signed ? 0 : 1 << (bits - 1)},
          q(s.k * s.n),
          scales(RandomVector<float>(s.n * shape.blocks(), 2)),
          zeros(s.n * shape.blocks()),
          a(RandomVector<float>(s.m * s.k, 3)),
          bias(RandomVector<float>(s.n, 4, 10)),
          source{q.data(), is_signed, s.n, 1, center, scales.data(), has_zeros ? zeros.data() : nullptr},
          product{s.m, a.data(), nullptr, false, false, nullptr} {
        int levels = 1 << bits;
        for (size_t i = 0; i < q.size(); ++i) {
            q[i] = static_cast<uint8_t>(static_cast<int>(i * 37 % levels) - (is_signed ? levels / 2 : 0));
        }
        for (size_t i = 0; i < zeros.size(); ++i)
            zeros[i] = static_cast<int8_t>(static_cast<int>(i * 11 % levels) - levels / 2);
    }

    double WeightAt(int64_t row, int64_t column) const {
        uint8_t byte = q[row * source.row + column * source.column];
        int64_t at = column * shape.blocks() + row / shape.block;
        int value = (source.is_signed ? static_cast<int8_t>(byte) : byte) - center;
        return static_cast<double>(scales[at]) * (value - (source.zeros != nullptr ? zeros[at] : 0));
    }

    // Numbers of A, or what is left of them in 8 bits.
    double RowAt(int64_t row, int64_t i) const {
        float x = a[row * shape.k + i];
        if (!product.rounds_a) return x;
        float largest = 0;
        int64_t first = i / shape.block * shape.block;
        for (int64_t j = first; j < std::min(first + shape.block, shape.k); ++j) {
            largest = std::max(largest, std::abs(a[row * shape.k + j]));
        }
        return std::round(x * (127.0F / largest)) * (largest / 127.0F);
    }

    void Check(const std::vector<float>& y, const char* name) const {
        for (int64_t i = 0; i < product.m; ++i) {
            for (int64_t j = 0; j < shape.n; ++j) {
                double sum = 0;
                double magnitude = 1;
                for (int64_t l = 0; l < shape.k; ++l) {
                    double term = RowAt(i, l) * WeightAt(l, j);
                    sum += term;
                    // Zero points are subtracted from the sum of a block.
                    magnitude += std::abs(term) + (source.zeros != nullptr ? std::abs(scales[0]) * 128 : 0);
                }
                if (product.bias != nullptr) sum += bias[j];
                if (product.relu) sum = std::max(sum, 0.0);
                ASSERT_NEAR(y[i * shape.n + j], sum, 1e-6 * magnitude)
                        << name << " " << product.m << " " << shape.n << " " << shape.k << " " << shape.block << " "
                        << shape.bits << " " << product.rounds_a;
            }
        }
    }

    BlockShape shape;
    int center;
    std::vector<uint8_t> q;
    std::vector<float> scales;
    std::vector<int8_t> zeros;
    std::vector<float> a;
    std::vector<float> bias;
    BlockSource source;
    BlockProduct product;
};

// Calls f with problems of all kinds.
template <class F>
void ForProblems(const F& f) {
    for (const Case& s : kCases) {
        for (int choice = 0; choice < 16; ++choice) {
            Problem problem{s, (choice & 1) != 0 ? 4 : 8, (choice & 2) != 0, (choice & 4) != 0};
            if ((choice & 8) != 0) {
                problem.product.bias = problem.bias.data();
                problem.product.relu = true;
            }
            f(problem);
        }
    }
}

TEST(GemmBlocksTest, AllInstructionSets) {
    for (const Kernels& f : AvailableKernels()) {
        ForProblems([&](Problem& problem) {
            const BlockShape& shape = problem.shape;
            int64_t columns = 0;
            f.get_columns(shape.n, &columns);
            std::vector<uint32_t> words(columns * shape.padded_k() * shape.bits / 32);
            std::vector<float> scales(columns * shape.blocks());
            std::vector<int8_t> zeros(columns * shape.blocks());
            BlockFactor factor{shape, words.data(), scales.data(),
                               problem.source.zeros != nullptr ? zeros.data() : nullptr};
            f.pack(problem.source, factor);
            for (bool rounds_a : {false, true}) {
                std::vector<float> y(problem.product.m * shape.n, 99);
                problem.product.rounds_a = rounds_a && f.has_integers;
                problem.product.y = y.data();
                f.multiply(factor, problem.product);
                ASSERT_NO_FATAL_FAILURE(problem.Check(y, f.name));
            }
        });
    }
}

// Columns that follow each other in memory, and the same bits on any number of threads.
TEST(GemmBlocksTest, Packed) {
    int original = GetNumThreads();
    ForProblems([&](Problem& problem) {
        std::vector<uint8_t> transposed(problem.q.size());
        for (int64_t i = 0; i < problem.shape.k; ++i) {
            for (int64_t j = 0; j < problem.shape.n; ++j) {
                transposed[j * problem.shape.k + i] = problem.q[i * problem.shape.n + j];
            }
        }
        BlockSource by_columns = problem.source;
        by_columns.q = transposed.data();
        by_columns.row = 1;
        by_columns.column = problem.shape.k;
        std::vector<std::vector<float>> ys;
        for (int threads : {1, 2, 3, 8}) {
            SetNumThreads(threads);
            std::vector<float> y(problem.product.m * problem.shape.n, 99);
            problem.product.y = y.data();
            PackedBlockFactor{problem.shape, threads == 2 ? by_columns : problem.source}.Multiply(problem.product);
            ys.push_back(y);
        }
        ASSERT_NO_FATAL_FAILURE(problem.Check(ys[0], "packed"));
        for (const auto& y : ys) ASSERT_EQ(y, ys[0]);
    });
    SetNumThreads(original);
}

// A number that is none or infinite makes its row of the result so, rounded to integers, too.
TEST(GemmBlocksTest, NoNumbers) {
    for (float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        for (bool rounds_a : {false, true}) {
            Problem problem{{2, 20, 64, 32}, 4, true, false};
            problem.q.assign(problem.q.size(), 1);
            problem.a[40] = value;
            std::vector<float> y(40);
            problem.product.rounds_a = rounds_a;
            problem.product.y = y.data();
            PackedBlockFactor{problem.shape, problem.source}.Multiply(problem.product);
            for (int64_t i = 0; i < 40; ++i) EXPECT_EQ(std::isfinite(y[i]), i >= 20);
        }
    }
}

}  // namespace
}  // namespace chainerx::native
