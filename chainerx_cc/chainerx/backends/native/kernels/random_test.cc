#include "chainerx/backends/native/kernels/random.h"

#include <algorithm>
#include <array>

#include "chainerx/backends/native/kernels/test_util.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

constexpr uint64_t kKey = 0x9A2B3C4D5E6F7081;

TEST(RandomTest, WordsArePhilox) {
    // Counter and key of zeros: the first of the published test vectors of philox4x32-10.
    std::array<uint32_t, 4 * kRandomChunk> words{};
    RandomWords(0, 0, words.data());
    std::array<uint32_t, 4> first{words[0], words[kRandomChunk], words[2 * kRandomChunk], words[3 * kRandomChunk]};
    EXPECT_EQ((std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}), first);
}

TEST(RandomTest, PositionsBeyond32Bits) {
    std::array<uint32_t, 4 * kRandomChunk> low{};
    std::array<uint32_t, 4 * kRandomChunk> high{};
    RandomWords(kKey, 0, low.data());
    RandomWords(kKey, uint64_t{1} << 32, high.data());
    EXPECT_NE(low, high);
}

template <class T>
class RandomArrayTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RandomArrayTest, Types);

template <class T>
void ExpectMoments(const std::vector<T>& x, double mean, double variance, double fourth) {
    double sums[3] = {};
    for (T value : x) {
        double d = value - mean;
        sums[0] += d;
        sums[1] += d * d;
        sums[2] += d * d * d * d;
    }
    auto n = static_cast<double>(x.size());
    EXPECT_NEAR(0, sums[0] / n, 5 * std::sqrt(variance / n));
    EXPECT_NEAR(variance, sums[1] / n, 5 * std::sqrt((fourth - variance * variance) / n));
    EXPECT_NEAR(fourth, sums[2] / n, 0.05 * fourth);
}

TYPED_TEST(RandomArrayTest, Uniform) {
    using T = TypeParam;
    std::vector<T> x(100000);
    RandomUniform<T>(100000, kKey, 0, T{-1}, T{2}, x.data());
    EXPECT_LE(T{-1}, *std::min_element(x.begin(), x.end()));
    EXPECT_GT(T{1}, *std::max_element(x.begin(), x.end()));
    ExpectMoments(x, 0, 1.0 / 3, 1.0 / 5);
}

TYPED_TEST(RandomArrayTest, Normal) {
    using T = TypeParam;
    std::vector<T> x(100000);
    RandomNormal<T>(100000, kKey, 0, T{1}, T{2}, x.data());
    ExpectMoments(x, 1, 4, 48);
    EXPECT_LT(7, *std::max_element(x.begin(), x.end()));
}

TYPED_TEST(RandomArrayTest, PartsOfTheSequence) {
    // A shorter array is the beginning of a longer one, and the number of threads does not matter.
    using T = TypeParam;
    std::vector<T> all(20000);
    int threads = GetNumThreads();
    SetNumThreads(4);
    RandomNormal<T>(20000, kKey, 64, T{0}, T{1}, all.data());
    SetNumThreads(1);
    for (int64_t n : {0, 1, 7, 255, 256, 20000}) {
        std::vector<T> x(n + 1, T{42});
        RandomNormal<T>(n, kKey, 64, T{0}, T{1}, x.data());
        EXPECT_TRUE(std::equal(x.begin(), x.end() - 1, all.begin()));
        EXPECT_EQ(T{42}, x.back());
    }
    SetNumThreads(threads);
}

TYPED_TEST(RandomArrayTest, Dropout) {
    using T = TypeParam;
    std::vector<T> x(30001);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<T>(i + 1);
    }
    std::vector<T> y(x.size());
    RandomDropout<T>(30001, kKey, 0, uint32_t{1} << 30, T{3}, x.data(), y.data());
    int64_t dropped = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_TRUE(y[i] == T{0} || y[i] == T{3} * x[i]);
        dropped += y[i] == T{0} ? 1 : 0;
    }
    EXPECT_NEAR(0.25, static_cast<double>(dropped) / 30001, 0.0125);
}

TEST(RandomTest, Integers) {
    std::vector<int64_t> x(60000);
    RandomIntegers<int64_t>(60000, kKey, 0, -2, 6, x.data());
    std::array<int, 6> counts{};
    for (int64_t value : x) {
        ASSERT_TRUE(value >= -2 && value < 4);
        ++counts[value + 2];
    }
    for (int count : counts) {
        EXPECT_NEAR(10000, count, 500);
    }
    // The whole range but one, which wraps around.
    RandomIntegers<int64_t>(60000, kKey, 0, INT64_MIN, UINT64_MAX, x.data());
    EXPECT_NEAR(30000, std::count_if(x.begin(), x.end(), [](int64_t value) { return value < 0; }), 700);
}

}  // namespace
}  // namespace chainerx::native
