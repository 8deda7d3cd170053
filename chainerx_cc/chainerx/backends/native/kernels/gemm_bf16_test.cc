#include "chainerx/backends/native/kernels/gemm_bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "chainerx/backends/native/kernels/half.h"

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
                                           Case{8, 130, 70}, Case{12, 5, 2}));

}  // namespace
}  // namespace chainerx::native
