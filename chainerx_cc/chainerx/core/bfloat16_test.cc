#include "chainerx/core/bfloat16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "chainerx/core/convert.h"

namespace chainerx {
namespace {

// The value by its definition.
double ExactValue(uint16_t bits) {
    int exponent = bits >> 7 & 255;
    int fraction = bits & 127;
    double value = exponent == 0     ? std::ldexp(fraction, -133)
                   : exponent == 255 ? (fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan(""))
                                     : std::ldexp(128 + fraction, exponent - 134);
    return (bits & 0x8000) != 0 ? -value : value;
}

bool IsNan(uint16_t bits) { return (bits & 0x7fff) > 0x7f80; }

TEST(Bfloat16Test, EveryPatternBothWays) {
    for (int i = 0; i < 1 << 16; ++i) {
        auto bits = static_cast<uint16_t>(i);
        Bfloat16 half = Bfloat16::FromBits(bits);
        auto single = static_cast<float>(half);
        auto wide = static_cast<double>(half);
        if (IsNan(bits)) {
            ASSERT_TRUE(std::isnan(single) && std::isnan(wide));
            // Quiet, and of the same sign.
            ASSERT_EQ((bits & 0x8000) | 0x7fc0, Bfloat16{single}.bits());
            ASSERT_EQ((bits & 0x8000) | 0x7fc0, Bfloat16{wide}.bits());
            continue;
        }
        ASSERT_EQ(ExactValue(bits), wide);
        ASSERT_EQ(ExactValue(bits), single);
        ASSERT_EQ(bits, Bfloat16{single}.bits());
        ASSERT_EQ(bits, Bfloat16{wide}.bits());
        auto expected = Float16{wide};
        ASSERT_EQ(expected.bits(), (Convert<Bfloat16, Float16>(half).bits()));
    }
}

// Between each pattern and the next one: the middle goes to the even one, its neighbors in float and in double to the
// nearest one.
TEST(Bfloat16Test, RoundsToNearestEven) {
    for (uint16_t low = 0; low < 0x7f7f; ++low) {
        auto high = static_cast<uint16_t>(low + 1);
        double middle = (ExactValue(low) + ExactValue(high)) / 2;
        uint16_t even = (low & 1) == 0 ? low : high;
        auto single = static_cast<float>(middle);  // exact
        ASSERT_EQ(even, Bfloat16{middle}.bits());
        ASSERT_EQ(low, Bfloat16{std::nextafter(middle, 0.0)}.bits());
        ASSERT_EQ(high, Bfloat16{std::nextafter(middle, 1e300)}.bits());
        ASSERT_EQ(low, Bfloat16{std::nextafter(single, 0.0F)}.bits());
        ASSERT_EQ(high, Bfloat16{std::nextafter(single, std::numeric_limits<float>::infinity())}.bits());
        ASSERT_EQ(even | 0x8000, Bfloat16{-middle}.bits());
    }
    constexpr double kHalfUlp = 0x1p119;
    double largest = ExactValue(0x7f7f);
    EXPECT_EQ(0x7f7f, Bfloat16{std::nextafter(largest + kHalfUlp, 0.0)}.bits());
    EXPECT_EQ(0x7f80, Bfloat16{largest + kHalfUlp}.bits());
    EXPECT_EQ(0xff80, Bfloat16{-1e300}.bits());
    EXPECT_EQ(0, Bfloat16{1e-300}.bits());
    EXPECT_EQ(0x8000, Bfloat16{-0.0}.bits());
}

template <class T>
uint16_t FromInteger(T v) {
    return Convert<T, Bfloat16>(v).bits();
}

// Middles of large integers, and what is one off, which float32 and float64 cannot tell.
TEST(Bfloat16Test, IntegersRoundOnce) {
    EXPECT_EQ(0x4d00, FromInteger(int32_t{0x8000000}));  // 2^27
    EXPECT_EQ(0x4d00, FromInteger(int32_t{0x8080000}));
    EXPECT_EQ(0x4d01, FromInteger(int32_t{0x8080001}));
    EXPECT_EQ(0xcd01, FromInteger(int32_t{-0x8080001}));
    EXPECT_EQ(0x4d01, FromInteger(uint32_t{0x817ffff}));
    EXPECT_EQ(0x4d02, FromInteger(uint32_t{0x8180000}));
    EXPECT_EQ(0x5e80, FromInteger(int64_t{0x4040000000000000}));
    EXPECT_EQ(0x5e81, FromInteger(int64_t{0x4040000000000001}));
    EXPECT_EQ(0x5e80, FromInteger(int64_t{0x403fffffffffffff}));
    EXPECT_EQ(0xde81, FromInteger(-int64_t{0x4040000000000001}));
    EXPECT_EQ(0xde80, FromInteger(-int64_t{0x4040000000000000}));
    EXPECT_EQ(0x5f01, FromInteger(uint64_t{0x8080000000000001}));
    EXPECT_EQ(0x5f80, FromInteger(~uint64_t{0}));
    EXPECT_EQ(0xdf00, FromInteger(std::numeric_limits<int64_t>::min()));
    EXPECT_EQ(0xc3, FromInteger(int8_t{-128}) >> 8);
    EXPECT_EQ(-128.0, ExactValue(FromInteger(int8_t{-128})));
    EXPECT_EQ(255.0, ExactValue(FromInteger(uint8_t{255})));
    EXPECT_EQ(1.0, ExactValue(FromInteger(true)));
    EXPECT_EQ(-3, (Convert<Bfloat16, int32_t>(Bfloat16{-3.7F})));
    EXPECT_TRUE((Convert<Bfloat16, bool>(Bfloat16{0.1F})));
}

}  // namespace
}  // namespace chainerx
