#include "chainerx/backends/native/kernels/gemm_bf16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "chainerx/backends/native/kernels/half.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

std::vector<uint16_t> Draw(std::mt19937* random, int64_t n) {
    std::uniform_real_distribution<float> distribution{-1, 1};
    std::vector<uint16_t> values(n);
    for (uint16_t& v : values) v = FloatToBfloat16(distribution(*random));
    return values;
}

struct Case {
    int64_t m, n, k;
};

class GemmBf16Test : public ::testing::TestWithParam<Case> {};

// Against sums in float64. What lies around C stays as it is.
TEST_P(GemmBf16Test, EveryLayout) {
    if (!HasBf16()) GTEST_SKIP() << "the processor does not have AVX512-BF16";
    auto [m, n, k] = GetParam();
    std::mt19937 random{static_cast<unsigned>(m * 1000003 + n * 1009 + k)};
    constexpr int64_t kGap = 3;
    constexpr uint16_t kUntouched = 0x4242;
    for (int layout = 0; layout < 8; ++layout) {
        bool trans_a = (layout & 1) != 0;
        bool trans_b = (layout & 2) != 0;
        float beta = (layout & 4) != 0 ? 0.5F : 0.0F;
        int64_t lda = (trans_a ? m : k) + kGap;
        int64_t ldb = (trans_b ? k : n) + kGap;
        int64_t ldc = n + kGap;
        std::vector<uint16_t> a = Draw(&random, (trans_a ? k : m) * lda);
        std::vector<uint16_t> b = Draw(&random, (trans_b ? n : k) * ldb);
        std::vector<uint16_t> c = beta != 0 ? Draw(&random, m * ldc) : std::vector<uint16_t>(m * ldc, 0x7fc0);  // NaN
        for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = n; j < ldc; ++j) c[i * ldc + j] = kUntouched;
        }
        std::vector<uint16_t> before = c;
        GemmBf16(m, n, k, {trans_a, a.data(), lda}, {trans_b, b.data(), ldb}, beta, c.data(), ldc);
        for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < ldc; ++j) {
                if (j >= n) {
                    ASSERT_EQ(kUntouched, c[i * ldc + j]);
                    continue;
                }
                double sum = 0;
                double sum_of_sizes = 0;
                for (int64_t p = 0; p < k; ++p) {
                    double product = double{Bfloat16ToFloat(a[trans_a ? p * lda + i : i * lda + p])} *
                                     Bfloat16ToFloat(b[trans_b ? j * ldb + p : p * ldb + j]);
                    sum += product;
                    sum_of_sizes += std::abs(product);
                }
                if (beta != 0) sum += beta * Bfloat16ToFloat(before[i * ldc + j]);
                double bound = std::abs(sum) * 0x1p-8 + sum_of_sizes * 0x1p-20;
                ASSERT_NEAR(Bfloat16ToFloat(c[i * ldc + j]), sum, bound)
                        << "layout " << layout << ", row " << i << ", column " << j;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GemmBf16Test,
                         ::testing::Values(Case{1, 1, 1}, Case{1, 1, 0}, Case{3, 5, 2}, Case{8, 48, 64},
                                           Case{9, 49, 33}, Case{17, 100, 7}, Case{70, 15, 130}, Case{128, 200, 301},
                                           Case{33, 1, 65}, Case{1, 97, 64}, Case{1, 300, 301}, Case{5, 141, 33},
                                           Case{8, 130, 70}, Case{12, 5, 2}, Case{16, 33, 32}, Case{31, 48, 95},
                                           Case{97, 31, 1}, Case{203, 67, 2050}));

TEST(GemmBf16Test, ThreadsDoNotChangeBits) {
    if (!HasBf16()) GTEST_SKIP() << "the processor does not have AVX512-BF16";
    std::mt19937 random{1};
    constexpr int64_t k = 3000;
    int original = GetNumThreads();
    for (auto [m, n] : {std::pair<int64_t, int64_t>{65, 10}, {50, 20}, {100, 70}, {9, 500}, {130, 60}}) {
        std::vector<uint16_t> a = Draw(&random, m * k);
        std::vector<uint16_t> b = Draw(&random, n * k);
        std::vector<uint16_t> expected(m * n);
        for (int threads : {1, 2, 3, 8}) {
            SetNumThreads(threads);
            std::vector<uint16_t> c(m * n);
            GemmBf16(m, n, k, {false, a.data(), k}, {true, b.data(), k}, 0, c.data(), n);
            if (threads == 1) expected = c;
            EXPECT_EQ(expected, c) << m << " x " << n << ", " << threads << " threads";
        }
    }
    SetNumThreads(original);
}

// A row of each kind by a column of ones and one of zeros, with many rows, a few and one.
TEST(GemmBf16Test, SpecialValues) {
    if (!HasBf16()) GTEST_SKIP() << "the processor does not have AVX512-BF16";
    constexpr float kInf = std::numeric_limits<float>::infinity();
    constexpr float kMax = 3.3895314e38F;  // the largest number
    const float rows[][3] = {{kInf, 1, 1},      {-kInf, 1, 1}, {kInf, -kInf, 1}, {NAN, 1, 1},           {kMax, kMax, 0},
                             {-kMax, -kMax, 0}, {1, 2, 4},     {1, 0x1p-8F, 0},  {1, 0x1p-8F, 0x1p-16F}};
    const float sums[] = {kInf, -kInf, NAN, NAN, kInf, -kInf, 7, 1, 1 + 0x1p-7F};  // half to even, and more than half
    constexpr int64_t kRows = 9;
    std::vector<uint16_t> a;
    for (const auto& row : rows) {
        for (float v : row) a.push_back(FloatToBfloat16(v));
    }
    std::vector<uint16_t> b;
    for (int i = 0; i < 3; ++i) {
        b.push_back(FloatToBfloat16(1));
        b.push_back(0);
    }
    auto expect_same = [](float expected, uint16_t bits, int64_t row) {
        float value = Bfloat16ToFloat(bits);
        EXPECT_TRUE(std::isnan(expected) ? std::isnan(value) : expected == value) << "row " << row << ": " << value;
    };
    for (int64_t count : {kRows, int64_t{4}, int64_t{1}}) {
        for (int64_t first = 0; first < kRows; first += count) {
            int64_t m = std::min(count, kRows - first);
            std::vector<uint16_t> c(m * 2);
            GemmBf16(m, 2, 3, {false, a.data() + first * 3, 3}, {false, b.data(), 2}, 0, c.data(), 2);
            for (int64_t i = 0; i < m; ++i) {
                bool is_finite = std::isfinite(rows[first + i][0]);
                expect_same(sums[first + i], c[2 * i], first + i);
                expect_same(is_finite ? 0 : NAN, c[2 * i + 1], first + i);
            }
        }
    }
}

}  // namespace
}  // namespace chainerx::native
