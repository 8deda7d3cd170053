#include "chainerx/backends/native/kernels/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "chainerx/backends/native/kernels/half.h"

namespace chainerx::native {
namespace {

template <class T>
double Value(T value) {
    return static_cast<double>(value);
}
double Value(Half value) { return HalfToFloat(value.bits); }

template <class T>
bool Less(T a, T b) {
    return std::isnan(Value(b)) ? !std::isnan(Value(a)) : Value(a) < Value(b);
}

template <class T>
T RandomValue(std::mt19937& random) {
    if constexpr (std::is_same<T, Half>::value) {
        return Half{static_cast<uint16_t>(random())};
    } else if constexpr (std::is_floating_point<T>::value) {
        switch (random() % 20) {
            case 0:
                return std::numeric_limits<T>::quiet_NaN();
            case 1:
                return -std::numeric_limits<T>::infinity();
            case 2:
                return -T{0};
            case 3:
                return T{0};
            default:
                return std::normal_distribution<T>{}(random) * (random() % 2 == 0 ? T{1} : T{1e20});
        }
    } else if constexpr (std::is_same<T, int64_t>::value) {
        return static_cast<int64_t>(random()) * (random() % 2 == 0 ? 1 : -(int64_t{1} << 20));  // exact in double
    } else {
        return static_cast<T>(random());
    }
}

template <class T>
class SortTest : public ::testing::Test {};
using Types = ::testing::Types<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, Half, float, double>;
TYPED_TEST_SUITE(SortTest, Types);

TYPED_TEST(SortTest, SortAndArgsort) {
    using T = TypeParam;
    std::mt19937 random{0};
    for (int64_t n : {1, 2, 17, 256, 257, 5000}) {
        constexpr int64_t kRows = 3;
        std::unique_ptr<T[]> x{new T[kRows * n]};
        std::unique_ptr<T[]> y{new T[kRows * n]};
        std::vector<int64_t> index(kRows * n);
        for (int64_t i = 0; i < kRows * n; ++i) {
            x[i] = RandomValue<T>(random);
        }
        ArgsortRows(kRows, n, x.get(), index.data());
        SortRows(kRows, n, x.get(), y.get());
        for (int64_t row = 0; row < kRows; ++row) {
            std::vector<int64_t> expected(n);
            std::iota(expected.begin(), expected.end(), 0);
            std::stable_sort(expected.begin(), expected.end(),
                             [&](int64_t a, int64_t b) { return Less(x[row * n + a], x[row * n + b]); });
            for (int64_t i = 0; i < n; ++i) {
                ASSERT_EQ(index[row * n + i], expected[i]) << n << " " << i;
                double sorted = Value(y[row * n + i]);
                double wanted = Value(x[row * n + expected[i]]);
                ASSERT_TRUE(sorted == wanted || (std::isnan(sorted) && std::isnan(wanted))) << n << " " << i;
            }
        }
        SortRows(kRows, n, x.get(), x.get());
        EXPECT_EQ(std::memcmp(x.get(), y.get(), kRows * n * sizeof(T)), 0);
    }
    SortRows<T>(3, 0, nullptr, nullptr);
    ArgsortRows<T>(3, 0, nullptr, nullptr);
}

}  // namespace
}  // namespace chainerx::native
