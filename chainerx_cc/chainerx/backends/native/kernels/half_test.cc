#include "chainerx/backends/native/kernels/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace chainerx::native {
namespace {

// The value of a half, by its definition
double ExactValue(uint16_t half) {
    int exponent = half >> 10 & 31;
    double fraction = half & 1023;
    double value = exponent == 0    ? std::ldexp(fraction, -24)
                   : exponent == 31 ? (fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan(""))
                                    : std::ldexp(1024 + fraction, exponent - 25);
    return (half & 0x8000) != 0 ? -value : value;
}

TEST(HalfTest, EveryHalfBothWays) {
    std::vector<uint16_t> halves(1 << 16);
    for (size_t i = 0; i < halves.size(); ++i) {
        halves[i] = static_cast<uint16_t>(i);
    }
    auto count = static_cast<int64_t>(halves.size());
    std::vector<float> floats(halves.size());
    std::vector<double> doubles(halves.size());
    std::vector<uint16_t> back(halves.size());
    ConvertFromHalf(count, halves.data(), floats.data());
    ConvertFromHalf(count, halves.data(), doubles.data());
    ConvertToHalf(count, floats.data(), back.data());
    for (size_t i = 0; i < halves.size(); ++i) {
        double exact = ExactValue(halves[i]);
        if (std::isnan(exact)) {
            EXPECT_TRUE(std::isnan(floats[i]) && std::isnan(HalfToFloat(halves[i])) && std::isnan(doubles[i]));
            EXPECT_TRUE(std::isnan(ExactValue(back[i])) && std::isnan(ExactValue(FloatToHalf(floats[i]))));
            continue;
        }
        ASSERT_EQ(floats[i], exact);
        ASSERT_EQ(HalfToFloat(halves[i]), exact);
        ASSERT_EQ(doubles[i], exact);
        ASSERT_EQ(back[i], halves[i]);
        ASSERT_EQ(FloatToHalf(floats[i]), halves[i]);
    }
}

TEST(HalfTest, RoundsToNearestEven) {
    std::vector<double> values;
    std::vector<uint16_t> expected;
    for (uint16_t half = 0; half < 0x7bff; ++half) {
        double low = ExactValue(half);
        double high = ExactValue(static_cast<uint16_t>(half + 1));
        double middle = (low + high) / 2;
        auto even = static_cast<uint16_t>(half + (half & 1));
        auto next = static_cast<uint16_t>(half + 1);
        for (auto [value, result] : std::vector<std::pair<double, uint16_t>>{
                     {middle, even}, {std::nextafter(middle, 0.0), half}, {std::nextafter(middle, 1e9), next}}) {
            values.push_back(value);
            expected.push_back(result);
            values.push_back(-value);
            expected.push_back(static_cast<uint16_t>(result | 0x8000));
        }
        auto single = static_cast<float>(middle);  // exact
        for (auto [value, result] : std::vector<std::pair<float, uint16_t>>{
                     {single, even}, {std::nextafter(single, 0.0F), half}, {std::nextafter(single, 1e9F), next}}) {
            ASSERT_EQ(FloatToHalf(value), result) << value;
        }
    }
    values.push_back(65519.999);
    expected.push_back(0x7bff);
    values.push_back(65520);
    expected.push_back(0x7c00);
    values.push_back(1e300);
    expected.push_back(0x7c00);
    values.push_back(1e-300);
    expected.push_back(0);
    std::vector<uint16_t> actual(values.size());
    ConvertToHalf(static_cast<int64_t>(values.size()), values.data(), actual.data());
    for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(actual[i], expected[i]) << values[i];
    }
}

// The value of a bfloat16, by its definition
double ExactBfloat16(uint16_t half) {
    int exponent = half >> 7 & 255;
    double fraction = half & 127;
    double value = exponent == 0     ? std::ldexp(fraction, -133)
                   : exponent == 255 ? (fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan(""))
                                     : std::ldexp(128 + fraction, exponent - 134);
    return (half & 0x8000) != 0 ? -value : value;
}

TEST(HalfTest, EveryBfloat16BothWays) {
    std::vector<uint16_t> halves(1 << 16);
    for (size_t i = 0; i < halves.size(); ++i) {
        halves[i] = static_cast<uint16_t>(i);
    }
    auto count = static_cast<int64_t>(halves.size());
    std::vector<float> floats(halves.size());
    std::vector<uint16_t> back(halves.size());
    ConvertFromBfloat16(count, halves.data(), floats.data());
    ConvertToBfloat16(count, floats.data(), back.data());
    for (size_t i = 0; i < halves.size(); ++i) {
        double exact = ExactBfloat16(halves[i]);
        if (std::isnan(exact)) {
            EXPECT_TRUE(std::isnan(floats[i]));
            EXPECT_EQ(back[i], (halves[i] & 0x8000) | 0x7fc0);
            continue;
        }
        ASSERT_EQ(floats[i], exact);
        ASSERT_EQ(back[i], halves[i]);
    }
}

TEST(HalfTest, RoundsToNearestEvenBfloat16) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::vector<float> values;
    std::vector<uint16_t> expected;
    for (uint16_t half = 0; half < 0x7f7f; ++half) {
        // The middle has 9 bits, so it is exact.
        auto middle = static_cast<float>((ExactBfloat16(half) + ExactBfloat16(static_cast<uint16_t>(half + 1))) / 2);
        auto even = static_cast<uint16_t>(half + (half & 1));
        auto next = static_cast<uint16_t>(half + 1);
        for (auto [value, result] : std::vector<std::pair<float, uint16_t>>{
                     {middle, even}, {std::nextafter(middle, 0.0F), half}, {std::nextafter(middle, kInfinity), next}}) {
            values.push_back(value);
            expected.push_back(result);
            values.push_back(-value);
            expected.push_back(static_cast<uint16_t>(result | 0x8000));
        }
    }
    values.push_back(std::numeric_limits<float>::max());
    expected.push_back(0x7f80);
    std::vector<uint16_t> actual(values.size());
    ConvertToBfloat16(static_cast<int64_t>(values.size()), values.data(), actual.data());
    for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(actual[i], expected[i]) << values[i];
    }
}

}  // namespace
}  // namespace chainerx::native
