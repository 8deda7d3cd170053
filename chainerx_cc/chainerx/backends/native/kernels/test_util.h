#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace chainerx::native {

template <class T>
std::vector<T> RandomVector(int64_t count, unsigned seed, double scale = 1) {
    std::mt19937 random{seed};
    std::uniform_real_distribution<double> uniform{-scale, scale};
    std::vector<T> values(count);
    for (T& value : values) {
        value = static_cast<T>(uniform(random));
    }
    return values;
}

template <class T>
std::vector<double> ToDouble(const std::vector<T>& values) {
    return {values.begin(), values.end()};
}

template <class T>
double Tolerance() {
    return sizeof(T) == 4 ? 2e-5 : 1e-12;
}

template <class T>
void ExpectClose(const std::vector<T>& actual, const std::vector<double>& expected, double tolerance,
                 const char* what) {
    ASSERT_EQ(actual.size(), expected.size()) << what;
    for (size_t i = 0; i < actual.size(); ++i) {
        // Written so that a NaN fails.
        ASSERT_TRUE(std::abs(actual[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i])))
                << what << " at " << i << ": " << actual[i] << ", expected " << expected[i];
    }
}

// The gradient of sum(f(x) * gy) by central differences.
inline std::vector<double> NumericalGradient(const std::function<std::vector<double>(const std::vector<double>&)>& f,
                                             std::vector<double> x, const std::vector<double>& gy) {
    constexpr double kStep = 1e-5;
    std::vector<double> gradient(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
        double value = x[i];
        double sum[2];
        for (int side = 0; side < 2; ++side) {
            x[i] = value + (side == 0 ? kStep : -kStep);
            std::vector<double> y = f(x);
            sum[side] = 0;
            for (size_t j = 0; j < y.size(); ++j) {
                sum[side] += y[j] * gy[j];
            }
        }
        x[i] = value;
        gradient[i] = (sum[0] - sum[1]) / (2 * kStep);
    }
    return gradient;
}

}  // namespace chainerx::native
