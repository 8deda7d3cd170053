#include <cmath>

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

using testing::ExpectValues;
using testing::MakeArray;

class AutogradTest : public testing::ContextFixture {
protected:
    static Array Leaf(const std::vector<double>& values) {
        Array a = MakeArray(Shape{static_cast<int64_t>(values.size())}, values);
        a.RequireGrad();
        return a;
    }
};

TEST_F(AutogradTest, Backward) {
    Array x = Leaf({1, 2});
    Array y = Leaf({3, 4});
    Backward(Sum(x * y + Exp(x)));
    ExpectValues(x.GetGrad(), {3 + std::exp(1.), 4 + std::exp(2.)});
    ExpectValues(y.GetGrad(), {1, 2});
}

TEST_F(AutogradTest, GradientsAccumulate) {
    Array x = Leaf({1, 2});
    Backward(Sum(x * x));
    Backward(Sum(x * x));
    ExpectValues(x.GetGrad(), {4, 8});
    x.ClearGrad();
    EXPECT_FALSE(x.GetGrad());
}

TEST_F(AutogradTest, NothingIsRecordedWithoutNeed) {
    Array x = MakeArray(Shape{2}, {1, 2});
    EXPECT_FALSE((x * x).IsBackpropRequired());
    EXPECT_THROW(x.GetGrad(), GradientError);
}

TEST_F(AutogradTest, NonScalarNeedsAGradient) {
    Array x = Leaf({1, 2});
    Array y = x * x;
    EXPECT_THROW(Backward(y), ChainerxError);
    y.SetGrad(MakeArray(Shape{2}, {1, 10}));
    Backward(y);
    ExpectValues(x.GetGrad(), {2, 40});
}

TEST_F(AutogradTest, HigherOrder) {
    Array x = Leaf({1, 2});
    BackwardOptions record;
    record.enable_double_backprop = true;
    Array g = Grad({Sum(x * x * x)}, {x}, std::nullopt, false, false, {}, record)[0];
    ExpectValues(g, {3, 12});
    Array gg = Grad({Sum(g)}, {x}, std::nullopt, false, false, {}, record)[0];
    ExpectValues(gg, {6, 12});
    ExpectValues(Grad({Sum(gg)}, {x})[0], {6, 6});
    EXPECT_FALSE(x.GetGrad());
}

TEST_F(AutogradTest, UnreachableInput) {
    Array x = Leaf({1});
    Array y = Leaf({2});
    EXPECT_FALSE(Grad({Sum(x * x)}, {y})[0]);
}

TEST_F(AutogradTest, ReleasedGraph) {
    Array x = Leaf({1, 2});
    Array y = Sum(x * x);
    Backward(y);
    EXPECT_THROW(Backward(y), ChainerxError);
}

TEST_F(AutogradTest, LongChain) {
    Array x = Leaf({1});
    Array y = x;
    for (int i = 0; i < 100000; ++i) y = y + Scalar{0.0};
    Backward(y);
    ExpectValues(x.GetGrad(), {1});
    // A chain that is dropped instead must not recurse either.
    for (int i = 0; i < 100000; ++i) y = y + x;
}

TEST_F(AutogradTest, UnchainBackward) {
    Array x = Leaf({1, 2});
    Array h = x * x;
    Array y = Sum(h * x);
    UnchainBackward(y);
    EXPECT_FALSE(y.IsChained());
    EXPECT_FALSE(h.IsChained());
    Backward(Sum(h * x));
    ExpectValues(x.GetGrad(), {1, 4});
}

TEST_F(AutogradTest, SeveralGraphs) {
    BackpropId id = context_.MakeBackpropId("second");
    {
        Array x = Leaf({1, 2});
        Array z = MakeArray(Shape{2}, {3, 4});
        z.RequireGrad(id);
        Array y = Sum(x * z);
        EXPECT_TRUE(y.IsBackpropRequired());
        EXPECT_TRUE(y.IsBackpropRequired(id));
        Backward(y, id);
        ExpectValues(z.GetGrad(id), {1, 2});
        EXPECT_FALSE(x.GetGrad());
        Backward(y);
        ExpectValues(x.GetGrad(), {3, 4});
        // Each gradient was recorded in the other graph: they refer to each other's array.
        x.ClearGrad();
    }
    context_.ReleaseBackpropId(id);
    EXPECT_THROW(context_.CheckValidBackpropId(id), ChainerxError);
}

TEST_F(AutogradTest, Modes) {
    Array x = Leaf({1, 2});
    {
        NoBackpropModeScope off{context_};
        EXPECT_FALSE((x * x).IsBackpropRequired());
        ForceBackpropModeScope on{context_};
        EXPECT_TRUE((x * x).IsBackpropRequired());
    }
    EXPECT_TRUE((x * x).IsBackpropRequired());
}

TEST_F(AutogradTest, LossScale) {
    Array x = Leaf({1, 2});
    BackwardOptions options;
    options.loss_scale = 8;
    Backward(Sum(x), std::nullopt, options);
    ExpectValues(x.GetGrad(), {8, 8});
}

TEST_F(AutogradTest, GradientCheckFindsErrors) {
    Array x = Leaf({0.5, 1.5});
    Array gy = MakeArray(Shape{2}, {1, -1});
    Array eps = MakeArray(Shape{2}, {1e-3, 1e-3});
    auto right = [](const std::vector<Array>& xs) { return std::vector<Array>{Tanh(xs[0])}; };
    auto wrong = [](const std::vector<Array>& xs) { return std::vector<Array>{Tanh(xs[0]) * AsGradStopped(xs[0])}; };
    CheckBackward(right, {x}, {gy}, {eps});
    EXPECT_THROW(CheckBackward(wrong, {x}, {gy}, {eps}), GradientCheckError);
}

TEST_F(AutogradTest, InPlaceUpdateOfANeededArrayIsRefused) {
    Array x = Leaf({1, 2});
    EXPECT_THROW(x += Scalar{1}, ChainerxError);
}

}  // namespace
}  // namespace chainerx
