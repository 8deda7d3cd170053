// The formulas of device.h, which is meant for GPUs, on the host.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

// Functions that compilers of GPUs have beyond the C library.
inline double normcdf(double x) { return static_cast<double>(0.5L * std::erfc(std::sqrt(0.5L) * -x)); }
inline float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }

#include "chainerx/math/device.h"

namespace chainerx {
namespace {

template <class T>
class DeviceMathTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceMathTest, Types);

template <class T>
void ExpectClose(long double expected, T actual, T x) {
    // Numbers below the normal ones have fewer bits.
    long double tolerance = 16 * std::numeric_limits<T>::epsilon() * std::fabs(expected) +
                            static_cast<long double>(std::numeric_limits<T>::denorm_min());
    EXPECT_NEAR(expected, static_cast<long double>(actual), tolerance) << x;
}

TYPED_TEST(DeviceMathTest, Activations) {
    using T = TypeParam;
    for (T x = -120; x <= 120; x += T(0.25)) {
        long double wide = x;
        ExpectClose<T>(1 / (1 + std::exp(-wide)), math::Sigmoid(x), x);
        ExpectClose<T>(wide / (1 + std::exp(-wide)), math::Silu(x), x);
        ExpectClose<T>(std::log1p(std::exp(wide)), math::Softplus(x), x);
    }
    for (T x = -12; x <= 12; x += T(0.125)) {
        long double phi = 0.5L * std::erfc(static_cast<long double>(-x) * std::sqrt(0.5L));
        ExpectClose<T>(x * phi, math::Gelu(x), x);
    }
}

TYPED_TEST(DeviceMathTest, Infinities) {
    using T = TypeParam;
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    EXPECT_EQ(1, math::Sigmoid(kInfinity));
    EXPECT_EQ(0, math::Sigmoid(-kInfinity));
    EXPECT_EQ(kInfinity, math::Softplus(kInfinity));
    EXPECT_EQ(0, math::Softplus(-kInfinity));
    EXPECT_EQ(kInfinity, math::Silu(kInfinity));
    EXPECT_EQ(0, math::Silu(-kInfinity));
    EXPECT_EQ(kInfinity, math::Gelu(kInfinity));
    EXPECT_EQ(0, math::Gelu(-kInfinity));
}

TYPED_TEST(DeviceMathTest, NotANumber) {
    using T = TypeParam;
    T nan = std::numeric_limits<T>::quiet_NaN();
    for (T y : {math::Sigmoid(nan), math::Silu(nan), math::Softplus(nan), math::Gelu(nan)}) EXPECT_NE(y, y);
}

}  // namespace
}  // namespace chainerx
