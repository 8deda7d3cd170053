#include <cmath>
#include <limits>
#include <tuple>

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

using testing::ExpectValues;
using testing::MakeArray;

class FactorizationTest : public testing::ContextFixture {
protected:
    Array a_ = MakeArray(Shape{2, 2}, {4, 2, 2, 3});
};

TEST_F(FactorizationTest, SolvesAndInverts) {
    ExpectValues(Solve(a_, MakeArray(Shape{2}, {8, 8})), {1, 2});
    ExpectValues(Inverse(a_), {0.375, -0.25, -0.25, 0.5});
    ExpectValues(PseudoInverse(MakeArray(Shape{2, 1}, {3, 4})), {0.12, 0.16});
    ExpectValues(Det(a_), {8});
    auto [sign, logdet] = Slogdet(-a_);
    ExpectValues(sign, {1});
    ExpectValues(logdet, {std::log(8.)});
}

TEST_F(FactorizationTest, FactorsGiveTheMatrixBack) {
    Array l = Cholesky(a_);
    ExpectValues(l, {2, 0, 1, std::sqrt(2.)});
    Array wide = MakeArray(Shape{2, 3}, {1, 2, 3, 4, 5, 7});
    auto [u, s, vt] = Svd(wide);
    EXPECT_EQ((Shape{3, 3}), vt.shape());
    auto [u1, s1, vt1] = Svd(wide, false);
    ExpectValues(Matmul(u1 * s1, vt1), {1, 2, 3, 4, 5, 7}, 1e-10);
    ExpectValues(SingularValues(wide) - s, {0, 0}, 1e-12);
    for (QrMode mode : {QrMode::kReduced, QrMode::kComplete}) {
        auto [q, r] = Qr(wide, mode);
        ExpectValues(Matmul(q, r), {1, 2, 3, 4, 5, 7}, 1e-12);
    }
    for (Triangle triangle : {Triangle::kLower, Triangle::kUpper}) {
        auto [w, v] = Eigh(a_, triangle);
        ExpectValues(Matmul(v * w, Transpose(v)), {4, 2, 2, 3}, 1e-12);
        ExpectValues(Eigvalsh(a_, triangle) - w, {0, 0}, 1e-12);
    }
}

TEST_F(FactorizationTest, StacksOfMatrices) {
    Array stack = Stack({a_, a_ * Scalar{2}});
    ExpectValues(Det(stack), {8, 32}, 1e-12);
    Array x = Solve(stack, MakeArray(Shape{2, 1}, {8, 8}));
    EXPECT_EQ((Shape{2, 2, 1}), x.shape());
    ExpectValues(x, {1, 2, 0.5, 1});
}

TEST_F(FactorizationTest, GradientsOfAnyOrder) {
    // f(x) = 1 / x as a matrix of one element.
    Array x = MakeArray(Shape{1, 1}, {2});
    x.RequireGrad();
    BackwardOptions options;
    options.enable_double_backprop = true;
    Array y = Inverse(x);
    double expected = 0.5;
    for (int order = 1; order <= 3; ++order) {
        y = Grad({y}, {x}, std::nullopt, false, {}, options)[0];
        expected *= -order / 2.;
        ExpectValues(y, {expected});
    }
}

TEST_F(FactorizationTest, BadInput) {
    EXPECT_THROW(Inverse(MakeArray(Shape{2, 2}, {1, 2, 2, 4})), ChainerxError);
    EXPECT_THROW(Inverse(MakeArray(Shape{1, 2}, {1, 2})), DimensionError);
    EXPECT_THROW(Inverse(Zeros(Shape{2, 2}, Dtype::kFloat16)), DtypeError);
    EXPECT_THROW(Cholesky(-a_), ChainerxError);
    EXPECT_THROW(Solve(a_, MakeArray(Shape{3}, {1, 2, 3})), DimensionError);
    EXPECT_THROW(Svd(MakeArray(Shape{1, 1}, {std::numeric_limits<double>::quiet_NaN()})), ChainerxError);
    EXPECT_EQ((Shape{0, 0}), Inverse(Zeros(Shape{0, 0}, Dtype::kFloat64)).shape());
}

TEST_F(FactorizationTest, Einsum) {
    Array b = MakeArray(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
    ExpectValues(Einsum("ij,jk,lk->il", {a_, b, b}), {120, 282, 124, 295});
    ExpectValues(Einsum("ii", {a_}), {7});
    ExpectValues(Tensordot(a_, b, 1) - Einsum("...j,jk", {a_, b}), {0, 0, 0, 0, 0, 0});
    EXPECT_THROW(Einsum("ij->k", {a_}), ChainerxError);
    EXPECT_THROW(Einsum("ij,jk", {b, b}), DimensionError);
}

}  // namespace
}  // namespace chainerx
