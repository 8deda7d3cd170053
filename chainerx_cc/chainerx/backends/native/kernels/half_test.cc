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

}  // namespace
}  // namespace chainerx::native
