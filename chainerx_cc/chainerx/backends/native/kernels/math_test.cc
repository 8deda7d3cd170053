// Errors of math/elementary.h in units in the last place, against the C library in long double, over the whole range
// of float and samples of double. CHAINERX_PRINT_ULPS=1 prints the table.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "chainerx/backends/native/kernels/math_loops.h"
#include "chainerx/math/elementary.h"

namespace chainerx::native {
namespace {

using Real = long double;

Real Sigmoid(Real x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

struct UnaryCase {
    UnaryMath function;
    const char* name;
    Real (*reference)(Real);
    double low, high;  // an interval sampled more densely
    double limit;      // of the argument; beyond is a slow path
    double float_ulps;
    double double_ulps;
};

constexpr double kAll = std::numeric_limits<double>::infinity();

const UnaryCase kUnaryCases[] = {
        {UnaryMath::kExp, "exp", [](Real x) { return std::exp(x); }, -110, 100, kAll, 1.5, 1.5},
        {UnaryMath::kExp2, "exp2", [](Real x) { return std::exp2(x); }, -155, 130, kAll, 1.5, 1.5},
        {UnaryMath::kExpm1, "expm1", [](Real x) { return std::expm1(x); }, -20, 20, kAll, 2.5, 2.5},
        {UnaryMath::kLog, "log", [](Real x) { return std::log(x); }, 0, 4, kAll, 1.5, 1.5},
        {UnaryMath::kLog2, "log2", [](Real x) { return std::log2(x); }, 0, 4, kAll, 2.5, 2.5},
        {UnaryMath::kLog10, "log10", [](Real x) { return std::log10(x); }, 0, 4, kAll, 2.5, 2.5},
        {UnaryMath::kLog1p, "log1p", [](Real x) { return std::log1p(x); }, -1, 3, kAll, 2, 2},
        {UnaryMath::kSin, "sin", [](Real x) { return std::sin(x); }, -100, 100, 71476, 2, 2.5},
        {UnaryMath::kCos, "cos", [](Real x) { return std::cos(x); }, -100, 100, 71476, 2, 2.5},
        {UnaryMath::kTan, "tan", [](Real x) { return std::tan(x); }, -100, 100, 71476, 4, 4},
        {UnaryMath::kAsin, "asin", [](Real x) { return std::asin(x); }, -1, 1, kAll, 3, 3},
        {UnaryMath::kAcos, "acos", [](Real x) { return std::acos(x); }, -1, 1, kAll, 2, 2},
        {UnaryMath::kAtan, "atan", [](Real x) { return std::atan(x); }, -5, 5, kAll, 3, 3},
        {UnaryMath::kSinh, "sinh", [](Real x) { return std::sinh(x); }, -91, 91, kAll, 3, 3},
        {UnaryMath::kCosh, "cosh", [](Real x) { return std::cosh(x); }, -91, 91, kAll, 2, 2},
        {UnaryMath::kTanh, "tanh", [](Real x) { return std::tanh(x); }, -10, 10, kAll, 3, 3},
        {UnaryMath::kAsinh, "asinh", [](Real x) { return std::asinh(x); }, -5, 5, kAll, 2.5, 2.5},
        {UnaryMath::kAcosh, "acosh", [](Real x) { return std::acosh(x); }, 1, 5, kAll, 3, 3},
        {UnaryMath::kAtanh, "atanh", [](Real x) { return std::atanh(x); }, -1, 1, kAll, 2.5, 2.5},
        {UnaryMath::kErf, "erf", [](Real x) { return std::erf(x); }, -4, 4, kAll, 3, 4},
        {UnaryMath::kErfc, "erfc", [](Real x) { return std::erfc(x); }, -4, 11, kAll, 4, 5},
        {UnaryMath::kGelu, "gelu",
         [](Real x) { return x < -60         ? Real{-0.0}
                             : std::isinf(x) ? x
                                             : x / 2 * std::erfc(-x * std::sqrt(Real{0.5})); },
         -15, 10, kAll, 4.5, 7},
        {UnaryMath::kSigmoid, "sigmoid", Sigmoid, -110, 30, kAll, 3, 3},
        {UnaryMath::kSilu, "silu", [](Real x) { return x < -1e5 ? Real{-0.0} : x * Sigmoid(x); }, -110, 30, kAll, 4, 4},
        {UnaryMath::kSoftplus, "softplus", [](Real x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x))); },
         -110, 20, kAll, 3, 3},
        {UnaryMath::kRsqrt, "rsqrt", [](Real x) { return 1 / std::sqrt(x); }, 0, 5, kAll, 1.6, 1.6},
        {UnaryMath::kSqrt, "sqrt", [](Real x) { return std::sqrt(x); }, 0, 5, kAll, 0.51, 0.51},
};

// Distance in units in the last place of T at the exact value; infinite where a special value is wrong.
template <class T>
double Ulps(T actual, Real exact) {
    auto rounded = static_cast<T>(exact);
    if (std::isnan(rounded) || std::isnan(actual)) {
        return std::isnan(rounded) == std::isnan(actual) ? 0 : kAll;
    }
    if (std::signbit(rounded) != std::signbit(actual) && (rounded == 0 || actual == 0)) {
        return rounded == actual
                       ? kAll
                       : std::abs(static_cast<double>(actual - rounded)) / std::numeric_limits<T>::denorm_min();
    }
    if (std::isinf(rounded) || std::isinf(actual)) {
        // Near the greatest number a last bit decides between it and infinity.
        return rounded == actual || std::abs(exact) > std::numeric_limits<T>::max() * Real{0.999999} ? 0 : kAll;
    }
    T magnitude = std::max(std::abs(rounded), std::numeric_limits<T>::min());
    Real unit = std::ldexp(Real{1}, std::ilogb(magnitude) - std::numeric_limits<T>::digits + 1);
    return static_cast<double>(std::abs(static_cast<Real>(actual) - exact) / unit);
}

template <class T>
std::vector<T> Specials() {
    using Limits = std::numeric_limits<T>;
    std::vector<T> values;
    for (T value : {T{0}, T{1}, T{0.5}, T{2}, T{3}, T{90}, Limits::infinity(), Limits::denorm_min(), Limits::min(),
                    Limits::max(), Limits::epsilon()}) {
        values.push_back(value);
        values.push_back(-value);
    }
    values.push_back(Limits::quiet_NaN());
    return values;
}

// Random bit patterns, an even grid over [low, high], and special values
template <class T>
std::vector<T> Arguments(double low, double high, double limit) {
    using Bits = typename math::Format<T>::Int;
    constexpr int kCount = 30000;
    std::vector<T> all = Specials<T>();
    std::mt19937_64 random{0};
    for (int i = 0; i < kCount; ++i) {
        auto bits = static_cast<Bits>(random());
        T value;
        std::memcpy(&value, &bits, sizeof(value));
        all.push_back(value);
        all.push_back(static_cast<T>(low + (high - low) * i / kCount));
    }
    std::vector<T> inside;
    for (T value : all) {
        if (!(std::abs(value) > limit)) {
            inside.push_back(value);
        }
    }
    return inside;
}

template <class T>
using UnaryLoop = void (*)(UnaryMath, int64_t, const T*, T*);
template <class T>
using BinaryLoop = void (*)(BinaryMath, int64_t, const T*, int64_t, const T*, int64_t, T*);

template <class T>
struct Loops {
    const char* isa;
    UnaryLoop<T> unary;
    BinaryLoop<T> binary;
};

template <class T>
std::vector<Loops<T>> AllLoops() {
    std::vector<Loops<T>> all{{"base", base::UnaryMathLoop<T>, base::BinaryMathLoop<T>}};
#if CHAINERX_ISA_X86
    if (GetIsa() >= Isa::kV3) {
        all.push_back({"v3", v3::UnaryMathLoop<T>, v3::BinaryMathLoop<T>});
    }
    if (GetIsa() >= Isa::kV4) {
        all.push_back({"v4", v4::UnaryMathLoop<T>, v4::BinaryMathLoop<T>});
    }
#endif
    return all;
}

template <class T>
class MathTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MathTest, Types);

TYPED_TEST(MathTest, Unary) {
    using T = TypeParam;
    bool print = std::getenv("CHAINERX_PRINT_ULPS") != nullptr;
    ASSERT_EQ(sizeof(kUnaryCases) / sizeof(kUnaryCases[0]), static_cast<size_t>(UnaryMath::kCount));
    for (const UnaryCase& c : kUnaryCases) {
        auto x = Arguments<T>(c.low, c.high, c.limit);
        std::vector<Real> exact(x.size());
        for (size_t i = 0; i < x.size(); ++i) {
            exact[i] = c.reference(x[i]);
        }
        for (const Loops<T>& loops : AllLoops<T>()) {
            std::vector<T> y(x.size());
            loops.unary(c.function, static_cast<int64_t>(x.size()), x.data(), y.data());
            double worst = 0;
            T at{};
            for (size_t i = 0; i < x.size(); ++i) {
                double ulps = Ulps(y[i], exact[i]);
                if (ulps > worst) {
                    worst = ulps;
                    at = x[i];
                }
            }
            EXPECT_LE(worst, sizeof(T) == 4 ? c.float_ulps : c.double_ulps)
                    << c.name << " " << loops.isa << " at " << at;
            if (print) {
                std::printf("%-9s %-6s %-5s %6.2f ulp at %.9g\n", c.name, sizeof(T) == 4 ? "float" : "double",
                            loops.isa, worst, static_cast<double>(at));
            }
        }
    }
}

TYPED_TEST(MathTest, Binary) {
    using T = TypeParam;
    auto values = Arguments<T>(-30, 30, kAll);
    auto specials = Specials<T>();
    std::vector<T> a;
    std::vector<T> b;
    for (T x : specials) {
        for (T y : specials) {
            a.push_back(x);
            b.push_back(y);
        }
    }
    for (size_t i = 0; i + 7 < values.size(); ++i) {
        a.push_back(i % 3 == 0 ? std::abs(values[i]) : values[i]);
        b.push_back(values[i + 7]);
    }
    for (const Loops<T>& loops : AllLoops<T>()) {
        std::vector<T> y(a.size());
        for (BinaryMath function : {BinaryMath::kPow, BinaryMath::kAtan2}) {
            loops.binary(function, static_cast<int64_t>(a.size()), a.data(), 1, b.data(), 1, y.data());
            for (size_t i = 0; i < a.size(); ++i) {
                bool pow = function == BinaryMath::kPow;
                Real exact = pow ? std::pow(static_cast<Real>(a[i]), static_cast<Real>(b[i]))
                                 : std::atan2(static_cast<Real>(a[i]), static_cast<Real>(b[i]));
                ASSERT_LE(Ulps(y[i], exact), 3.5)
                        << loops.isa << (pow ? " pow " : " atan2 ") << a[i] << " " << b[i] << " " << y[i];
            }
        }
    }
}

// Blocks in which nothing is special take a way of their own: with results of any size, negative bases, numbers
// instead of arrays, and a result that overwrites an argument.
TYPED_TEST(MathTest, PowOfUsualNumbers) {
    using T = TypeParam;
    constexpr int kCount = 20000;
    constexpr T kLimit = math::kPowNormal<T> - T(0.01);
    std::mt19937_64 random{0};
    auto uniform = [&](T low, T high) { return std::uniform_real_distribution<T>(low, high)(random); };
    std::vector<T> a(kCount);
    std::vector<T> b(kCount);
    for (int i = 0; i < kCount; ++i) {
        a[i] = std::exp2(i % 2 == 0 ? uniform(T(-0.6), T(0.6)) : uniform(-kLimit, kLimit));
        b[i] = uniform(-kLimit, kLimit) / std::log2(a[i]);
        if (i % 4 >= 2 && std::abs(b[i]) >= 1) {
            a[i] = -a[i];
            b[i] = std::trunc(b[i]);
        }
    }
    auto check = [&](const Loops<T>& loops, const std::vector<T>& y, bool fixed_a, bool fixed_b) {
        for (int i = 0; i < kCount; ++i) {
            T x1 = a[fixed_a ? 0 : i];
            T x2 = b[fixed_b ? 0 : i];
            Real exact = std::pow(static_cast<Real>(x1), static_cast<Real>(x2));
            ASSERT_LE(Ulps(y[i], exact), sizeof(T) == 4 ? 2.2 : 1.2) << loops.isa << " " << x1 << " " << x2;
        }
    };
    for (const Loops<T>& loops : AllLoops<T>()) {
        std::vector<T> y(kCount);
        loops.binary(BinaryMath::kPow, kCount, a.data(), 1, b.data(), 1, y.data());
        check(loops, y, false, false);
        loops.binary(BinaryMath::kPow, kCount, a.data(), 0, b.data(), 1, y.data());
        check(loops, y, true, false);
        loops.binary(BinaryMath::kPow, kCount, a.data(), 1, b.data(), 0, y.data());
        check(loops, y, false, true);
        y = a;
        loops.binary(BinaryMath::kPow, kCount, y.data(), 1, b.data(), 1, y.data());
        check(loops, y, false, false);
        y = b;
        loops.binary(BinaryMath::kPow, kCount, a.data(), 1, y.data(), 1, y.data());
        check(loops, y, false, false);
    }
}

TYPED_TEST(MathTest, LargeAngles) {
    using T = TypeParam;
    for (T x : {T{71476}, T{1e6}, T{3e9}, T{1e30}, -T{2.5e20}}) {
        Real wide = x;
        EXPECT_LE(Ulps(math::Sin(x), std::sin(wide)), 2.5) << x;
        EXPECT_LE(Ulps(math::Cos(x), std::cos(wide)), 2.5) << x;
        EXPECT_LE(Ulps(math::Tan(x), std::tan(wide)), 4) << x;
    }
    EXPECT_TRUE(math::TrigNeedsSlowPath(T{2e6}));
    EXPECT_TRUE(math::TrigNeedsSlowPath(std::numeric_limits<T>::infinity()));
    EXPECT_FALSE(math::TrigNeedsSlowPath(T{70000}));
    EXPECT_TRUE(std::isnan(math::Sin(std::numeric_limits<T>::infinity())));
}

}  // namespace
}  // namespace chainerx::native
