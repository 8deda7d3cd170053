#include "chainerx/backends/native/kernels/norm.h"

#include "chainerx/backends/native/kernels/test_util.h"

namespace chainerx::native {
namespace {

constexpr double kEps = 1e-3;

// Normalizes groups of elements: element i is of group(i), scaled by the parameters of param(i).
struct Reference {
    std::function<int64_t(int64_t)> group;
    std::function<int64_t(int64_t)> param;
    int64_t groups;

    std::vector<double> mean, var;

    std::vector<double> operator()(const std::vector<double>& x, const std::vector<double>& gamma,
                                   const std::vector<double>& beta) {
        std::vector<double> count(groups);
        mean.assign(groups, 0);
        var.assign(groups, 0);
        for (size_t i = 0; i < x.size(); ++i) {
            mean[group(i)] += x[i];
            ++count[group(i)];
        }
        for (int64_t g = 0; g < groups; ++g) {
            mean[g] /= count[g];
        }
        for (size_t i = 0; i < x.size(); ++i) {
            var[group(i)] += (x[i] - mean[group(i)]) * (x[i] - mean[group(i)]) / count[group(i)];
        }
        std::vector<double> y(x.size());
        for (size_t i = 0; i < x.size(); ++i) {
            y[i] = (x[i] - mean[group(i)]) / std::sqrt(var[group(i)] + kEps) * gamma[param(i)] + beta[param(i)];
        }
        return y;
    }
};

template <class T>
class NormTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(NormTest, Types);

struct Shape {
    int64_t batch, channels, spatial;
    int64_t size() const { return batch * channels * spatial; }
};

TYPED_TEST(NormTest, BatchNorm) {
    using T = TypeParam;
    for (Shape s : {Shape{4, 3, 5}, Shape{10, 20, 1}, Shape{2, 2, 70}, Shape{3, 1, 3}, Shape{1, 4, 6}}) {
        auto x = RandomVector<T>(s.size(), 1);
        auto gamma = RandomVector<T>(s.channels, 2);
        auto beta = RandomVector<T>(s.channels, 3);
        auto gy = RandomVector<T>(s.size(), 4);
        Reference reference{};
        reference.groups = s.channels;
        reference.group = reference.param = [s](int64_t i) { return i / s.spatial % s.channels; };
        auto expected = reference(ToDouble(x), ToDouble(gamma), ToDouble(beta));
        std::vector<T> y(s.size());
        std::vector<T> mean(s.channels);
        std::vector<T> var(s.channels);
        std::vector<T> inv_std(s.channels);
        BatchNormForward<T>(s.batch, s.channels, s.spatial, x.data(), gamma.data(), beta.data(), T(kEps), y.data(),
                            mean.data(), var.data(), inv_std.data());
        ExpectClose(y, expected, Tolerance<T>(), "y");
        ExpectClose(mean, reference.mean, Tolerance<T>(), "mean");
        ExpectClose(var, reference.var, Tolerance<T>(), "var");
        std::vector<T> applied(s.size());
        BatchNormApply<T>(s.batch, s.channels, s.spatial, x.data(), gamma.data(), beta.data(), mean.data(),
                          inv_std.data(), applied.data());
        ExpectClose(applied, ToDouble(y), Tolerance<T>(), "applied");

        std::vector<T> gx(s.size());
        std::vector<T> ggamma(s.channels);
        std::vector<T> gbeta(s.channels);
        BatchNormBackward<T>(s.batch, s.channels, s.spatial, x.data(), gamma.data(), gy.data(), mean.data(),
                             inv_std.data(), gx.data(), ggamma.data(), gbeta.data());
        auto x_ = ToDouble(x);
        auto gamma_ = ToDouble(gamma);
        auto beta_ = ToDouble(beta);
        auto gy_ = ToDouble(gy);
        double tolerance = sizeof(T) == 4 ? 2e-4 : 1e-6;
        ExpectClose(gx, NumericalGradient([&](const auto& v) { return reference(v, gamma_, beta_); }, x_, gy_),
                    tolerance, "gx");
        ExpectClose(ggamma, NumericalGradient([&](const auto& v) { return reference(x_, v, beta_); }, gamma_, gy_),
                    tolerance, "ggamma");
        ExpectClose(gbeta, NumericalGradient([&](const auto& v) { return reference(x_, gamma_, v); }, beta_, gy_),
                    tolerance, "gbeta");
    }
}

TYPED_TEST(NormTest, LayerNorm) {
    using T = TypeParam;
    for (auto [rows, width] : std::vector<std::pair<int64_t, int64_t>>{{3, 5}, {2, 70}, {10, 16}, {1, 1}}) {
        auto x = RandomVector<T>(rows * width, 1);
        auto gamma = RandomVector<T>(width, 2);
        auto beta = RandomVector<T>(width, 3);
        auto gy = RandomVector<T>(rows * width, 4);
        Reference reference{};
        reference.groups = rows;
        reference.group = [w = width](int64_t i) { return i / w; };
        reference.param = [w = width](int64_t i) { return i % w; };
        auto x_ = ToDouble(x);
        auto gamma_ = ToDouble(gamma);
        auto beta_ = ToDouble(beta);
        auto gy_ = ToDouble(gy);
        std::vector<T> y(rows * width);
        std::vector<T> mean(rows);
        std::vector<T> inv_std(rows);
        LayerNormForward<T>(rows, width, x.data(), gamma.data(), beta.data(), T(kEps), y.data(), mean.data(),
                            inv_std.data());
        ExpectClose(y, reference(x_, gamma_, beta_), Tolerance<T>(), "y");
        std::vector<T> gx(rows * width);
        std::vector<T> ggamma(width);
        std::vector<T> gbeta(width);
        LayerNormBackward<T>(rows, width, x.data(), gamma.data(), gy.data(), mean.data(), inv_std.data(), gx.data(),
                             ggamma.data(), gbeta.data());
        double tolerance = sizeof(T) == 4 ? 2e-4 : 1e-6;
        ExpectClose(gx, NumericalGradient([&](const auto& v) { return reference(v, gamma_, beta_); }, x_, gy_),
                    tolerance, "gx");
        ExpectClose(ggamma, NumericalGradient([&](const auto& v) { return reference(x_, v, beta_); }, gamma_, gy_),
                    tolerance, "ggamma");
        ExpectClose(gbeta, NumericalGradient([&](const auto& v) { return reference(x_, gamma_, v); }, beta_, gy_),
                    tolerance, "gbeta");
    }
}

// Statistics of values far from zero must not cancel.
TYPED_TEST(NormTest, LargeMean) {
    using T = TypeParam;
    constexpr int64_t kSpatial = 100000;
    auto x = RandomVector<T>(kSpatial, 1);
    for (T& value : x) {
        value += T{1000};
    }
    Reference reference{};
    reference.groups = 1;
    reference.group = reference.param = [](int64_t) { return 0; };
    auto expected = reference(ToDouble(x), {1}, {0});
    std::vector<T> y(kSpatial);
    T gamma{1}, beta{0}, mean, var, inv_std;
    BatchNormForward<T>(1, 1, kSpatial, x.data(), &gamma, &beta, T(kEps), y.data(), &mean, &var, &inv_std);
    EXPECT_NEAR(var, reference.var[0], reference.var[0] * 1e-5);
    EXPECT_NEAR(mean, reference.mean[0], 1e-4);
    ExpectClose(y, expected, 2e-4, "y");
}

}  // namespace
}  // namespace chainerx::native
