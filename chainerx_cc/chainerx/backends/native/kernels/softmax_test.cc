#include "chainerx/backends/native/kernels/softmax.h"

#include <limits>

#include "chainerx/backends/native/kernels/test_util.h"

namespace chainerx::native {
namespace {

struct Shape {
    int64_t outer, n, inner;
    int64_t size() const { return outer * n * inner; }
};

constexpr Shape kShapes[] = {{3, 5, 1},   {2, 1000, 1}, {2, 3, 7}, {2, 4, 100},
                             {40, 10, 1}, {1, 1, 1},    {0, 3, 2}, {2, 3, 0}};

std::vector<double> LogSoftmax(Shape s, const std::vector<double>& x) {
    std::vector<double> y(x.size());
    for (int64_t o = 0; o < s.outer; ++o) {
        for (int64_t c = 0; c < s.inner; ++c) {
            auto at = [&](int64_t i) { return (o * s.n + i) * s.inner + c; };
            double max = -std::numeric_limits<double>::infinity();
            double sum = 0;
            for (int64_t i = 0; i < s.n; ++i) {
                max = std::max(max, x[at(i)]);
            }
            for (int64_t i = 0; i < s.n; ++i) {
                sum += std::exp(x[at(i)] - max);
            }
            for (int64_t i = 0; i < s.n; ++i) {
                y[at(i)] = x[at(i)] - max - std::log(sum);
            }
        }
    }
    return y;
}

std::vector<double> Softmax(Shape s, const std::vector<double>& x) {
    auto y = LogSoftmax(s, x);
    for (double& value : y) {
        value = std::exp(value);
    }
    return y;
}

template <class T>
class SoftmaxTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SoftmaxTest, Types);

TYPED_TEST(SoftmaxTest, Forward) {
    using T = TypeParam;
    for (Shape s : kShapes) {
        auto x = RandomVector<T>(s.size(), 1, 30);
        std::vector<T> y(s.size());
        SoftmaxForward(s.outer, s.n, s.inner, x.data(), y.data());
        ExpectClose(y, Softmax(s, ToDouble(x)), Tolerance<T>(), "softmax");
        LogSoftmaxForward(s.outer, s.n, s.inner, x.data(), y.data());
        ExpectClose(y, LogSoftmax(s, ToDouble(x)), Tolerance<T>(), "log_softmax");
    }
}

TYPED_TEST(SoftmaxTest, Backward) {
    using T = TypeParam;
    for (Shape s : {Shape{3, 5, 1}, Shape{1, 70, 1}, Shape{2, 3, 4}, Shape{1, 2, 70}}) {
        auto x = RandomVector<T>(s.size(), 1);
        auto gy = RandomVector<T>(s.size(), 2);
        std::vector<T> y(s.size());
        std::vector<T> gx(s.size());
        SoftmaxForward(s.outer, s.n, s.inner, x.data(), y.data());
        SoftmaxBackward(s.outer, s.n, s.inner, y.data(), gy.data(), gx.data());
        auto expected = NumericalGradient([&](const auto& v) { return Softmax(s, v); }, ToDouble(x), ToDouble(gy));
        ExpectClose(gx, expected, 1e-5, "softmax");
        LogSoftmaxForward(s.outer, s.n, s.inner, x.data(), y.data());
        LogSoftmaxBackward(s.outer, s.n, s.inner, y.data(), gy.data(), gx.data());
        expected = NumericalGradient([&](const auto& v) { return LogSoftmax(s, v); }, ToDouble(x), ToDouble(gy));
        ExpectClose(gx, expected, 1e-5, "log_softmax");
    }
}

TYPED_TEST(SoftmaxTest, CrossEntropy) {
    using T = TypeParam;
    for (Shape s : {Shape{5, 4, 1}, Shape{2, 3, 5}, Shape{3, 300, 1}}) {
        auto x = RandomVector<T>(s.size(), 1, 3);
        int64_t columns = s.outer * s.inner;
        std::vector<int64_t> t(columns);
        for (int64_t i = 0; i < columns; ++i) {
            t[i] = i % 4 == 3 ? -1 : i % s.n;
        }
        auto reference = [&](const std::vector<double>& v) {
            auto log = LogSoftmax(s, v);
            std::vector<double> loss(columns);
            for (int64_t i = 0; i < columns; ++i) {
                loss[i] = t[i] == -1 ? 0 : -log[(i / s.inner * s.n + t[i]) * s.inner + i % s.inner];
            }
            return loss;
        };
        std::vector<T> loss(columns);
        std::vector<T> log_sum(columns);
        SoftmaxCrossEntropyForward(s.outer, s.n, s.inner, x.data(), t.data(), -1, loss.data(), log_sum.data());
        ExpectClose(loss, reference(ToDouble(x)), Tolerance<T>(), "loss");
        auto gloss = RandomVector<T>(columns, 3);
        std::vector<T> gx(s.size());
        SoftmaxCrossEntropyBackward(s.outer, s.n, s.inner, x.data(), t.data(), -1, log_sum.data(), gloss.data(),
                                    gx.data());
        ExpectClose(gx, NumericalGradient(reference, ToDouble(x), ToDouble(gloss)), 1e-5, "gx");
    }
}

TYPED_TEST(SoftmaxTest, InfiniteAndNaN) {
    using T = TypeParam;
    T inf = std::numeric_limits<T>::infinity();
    std::vector<T> x{-inf, 1, 1, 0, std::numeric_limits<T>::quiet_NaN(), 0};
    std::vector<T> y(6);
    SoftmaxForward<T>(2, 3, 1, x.data(), y.data());
    EXPECT_EQ(y[0], T{0});
    EXPECT_NEAR(y[1], 0.5, 1e-6);
    EXPECT_TRUE(std::isnan(y[3]) && std::isnan(y[4]) && std::isnan(y[5]));
}

}  // namespace
}  // namespace chainerx::native
