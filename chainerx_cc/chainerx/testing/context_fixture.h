#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "chainerx/chainerx.h"

namespace chainerx::testing {

// A test with its own context, which checks that no array outlives it.
class ContextFixture : public ::testing::Test {
protected:
    void SetUp() override { live_before_ = ArrayBody::GetLiveCount(); }
    void TearDown() override { EXPECT_EQ(live_before_, ArrayBody::GetLiveCount()) << "arrays leaked"; }

    Context context_;
    ContextScope scope_{context_};

private:
    int64_t live_before_{0};
};

// A float64 array with the given elements.
inline Array MakeArray(const Shape& shape, const std::vector<double>& values) {
    return FromHost(shape, Dtype::kFloat64, values.data());
}

// Elements in C order, converted to double.
inline std::vector<double> GetValues(const Array& a) {
    Array flat = Reshape(AsType(AsGradStopped(a, true), Dtype::kFloat64), Shape{a.GetTotalSize()});
    const double* data = flat.data<double>();
    return {data, data + a.GetTotalSize()};
}

inline void ExpectValues(const Array& a, const std::vector<double>& expected, double tolerance = 1e-12) {
    ASSERT_TRUE(a);
    std::vector<double> actual = GetValues(a);
    ASSERT_EQ(expected.size(), actual.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(expected[i], actual[i], tolerance) << "element " << i;
}

}  // namespace chainerx::testing
