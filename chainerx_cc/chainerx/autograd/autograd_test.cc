#include <cmath>

#include "chainerx/autograd/gradient_ops.h"
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

TEST_F(AutogradTest, InitialGradients) {
    Array x = Leaf({1, 2});
    Array y = x * x;
    y.SetGrad(MakeArray(Shape{2}, {1, 10}));
    Backward(y);
    ExpectValues(x.GetGrad(), {2, 40});
    ExpectValues(Grad({x * x, Sum(x)}, {x})[0], {3, 5});
    x.ClearGrad();
    Backward(x * x);
    ExpectValues(x.GetGrad(), {2, 4});
}

TEST_F(AutogradTest, HigherOrder) {
    Array x = Leaf({1, 2});
    BackwardOptions record;
    record.enable_double_backprop = true;
    Array g = Grad({Sum(x * x * x)}, {x}, std::nullopt, false, {}, record)[0];
    ExpectValues(g, {3, 12});
    Array gg = Grad({Sum(g)}, {x}, std::nullopt, false, {}, record)[0];
    ExpectValues(gg, {6, 12});
    ExpectValues(Grad({Sum(gg)}, {x})[0], {6, 6});
    EXPECT_FALSE(x.GetGrad());
}

TEST_F(AutogradTest, UnreachableInput) {
    Array x = Leaf({1});
    Array y = Leaf({2});
    EXPECT_FALSE(Grad({Sum(x * x)}, {y})[0]);
    EXPECT_FALSE(Grad({Sum(AsGradStopped(x) * y)}, {x})[0]);
    EXPECT_FALSE(Grad({MakeArray(Shape{}, {1})}, {x})[0]);
    EXPECT_FALSE(Grad({Sum(x * x)}, {MakeArray(Shape{1}, {2})})[0]);
    Backward(MakeArray(Shape{}, {1}));
    EXPECT_FALSE(y.GetGrad());
    EXPECT_THROW((x * x).GetGrad(), ChainerxError);
}

TEST_F(AutogradTest, SubgraphOutlivesItsArrays) {
    int64_t live = 0;
    std::vector<Array> gys{MakeArray(Shape{2}, {1, 10}), Array{}};
    auto make = [&] {
        Array x = Leaf({1, 2});
        Array y = x * x;
        return Subgraph{{x, MakeArray(Shape{2}, {0, 0})}, {y, Sum(y)}};
    };
    live = ArrayBody::GetLiveCount();
    {
        Subgraph graph = make();
        EXPECT_LE(ArrayBody::GetLiveCount(), live + 2);  // the product keeps these
        for (int i = 0; i < 2; ++i) {
            std::vector<Array> gxs = graph.Grad({1, 0}, gys, false);
            EXPECT_FALSE(gxs[0]);
            ExpectValues(gxs[1], {2, 40});
            EXPECT_FALSE(gxs[1].IsBackpropRequired());
        }
        gys[0].RequireGrad();
        std::vector<Array> gxs = graph.Grad({0}, gys, true);
        Subgraph second = graph.OfGradients({gys[0]}, gxs);
        std::vector<Array> seconds = second.Grad({0, 2}, {MakeArray(Shape{2}, {1, 1})}, false);
        ExpectValues(seconds[0], {2, 20});
        ExpectValues(seconds[1], {2, 4});

        EXPECT_FALSE(graph.Grad({0}, {Array{}, Array{}}, false)[0]);
        EXPECT_THROW(graph.Grad({2}, gys, false), ChainerxError);
        EXPECT_THROW(graph.Grad({0}, {gys[0]}, false), ChainerxError);
        EXPECT_THROW(graph.Grad({0}, {MakeArray(Shape{3}, {1, 1, 1}), Array{}}, false), DimensionError);
    }
    EXPECT_EQ(ArrayBody::GetLiveCount(), live);
}

TEST_F(AutogradTest, ReleasedGraph) {
    Array x = Leaf({1, 2});
    Array h = x * x;
    Array y = Sum(h * h);
    Array z = Sum(h * x);
    Backward(y);
    ExpectValues(x.GetGrad(), {4, 32});
    try {
        Backward(y);
        FAIL();
    } catch (const GradientError& e) {
        EXPECT_NE(std::string::npos, std::string{e.what()}.find("released")) << e.what();
    }
    EXPECT_THROW(Grad({y}, {x}), GradientError);
    // A backward pass keeps operations that another array still leads to.
    Backward(z);
    ExpectValues(x.GetGrad(), {4 + 3, 32 + 12});
    Array u = h * h;
    Array v = Sum(u * x);
    Backward(Sum(u));
    Backward(v);
    ExpectValues(x.GetGrad(), {4 + 3 + 4 + 5, 32 + 12 + 32 + 80});
    // The same behind an array from which the pass started.
    Array a = Sum(h);
    Array b = a * a;
    Backward(a);
    Backward(b);
    ExpectValues(x.GetGrad(), {4 + 3 + 4 + 5 + 2 + 20, 32 + 12 + 32 + 80 + 4 + 40});
    // A backward pass that keeps the graph can be repeated.
    BackwardOptions keep;
    keep.enable_double_backprop = true;
    Array w = Sum(x * x);
    Backward(w, std::nullopt, keep);
    Backward(w);
    EXPECT_THROW(Backward(w), GradientError);
    x.ClearGrad();
}

// Fails once, then succeeds.
class FailingNode final : public OpNode {
public:
    using OpNode::OpNode;
    void Backward(BackwardContext& ctx) override {
        if (!failed_) {
            failed_ = true;
            throw NotImplementedError{"not yet"};
        }
        ctx.SetGrad(0, ctx.grad());
    }
    void ReleaseSaved() noexcept override {}

private:
    bool failed_{false};
};

TEST_F(AutogradTest, FailedOperationIsNotReleased) {
    Array x = Leaf({1});
    Array y = Copy(x.AsDetached());
    {
        IntrusivePtr<OpNode> node{new FailingNode{"failing", internal::GetRecordMask(x)}};
        node->AddInput(x, node->mask());
        node->AddOutput(y);
    }
    EXPECT_THROW(Backward(y), NotImplementedError);
    Backward(y);
    ExpectValues(x.GetGrad(), {1});
    EXPECT_THROW(Backward(y), GradientError);
}

TEST_F(AutogradTest, ForeignGraphs) {
    Context other;
    BackpropId foreign = other.MakeBackpropId("foreign");
    Array x = Leaf({1});
    Array y = Sum(x * x);
    EXPECT_THROW(x.RequireGrad(foreign), ContextError);
    EXPECT_THROW(x.IsGradRequired(foreign), ContextError);
    EXPECT_THROW(x.IsBackpropRequired(foreign), ContextError);
    EXPECT_THROW(x.GetGrad(foreign), ContextError);
    EXPECT_THROW(x.SetGrad(x.AsDetached(), foreign), ContextError);
    EXPECT_THROW(Backward(y, foreign), ContextError);
    EXPECT_THROW(Grad({y}, {x}, foreign), ContextError);
    EXPECT_THROW(context_.ReleaseBackpropId(foreign), ContextError);
    EXPECT_THROW(context_.ReleaseBackpropId(context_.default_backprop_id()), ChainerxError);
    other.ReleaseBackpropId(foreign);
    EXPECT_THROW(Backward(y, foreign), ChainerxError);
    EXPECT_THROW(foreign.GetName(), ChainerxError);
    EXPECT_THROW(NoBackpropModeScope{{foreign}}, ChainerxError);
    Backward(y);
    ExpectValues(x.GetGrad(), {2});
}

TEST_F(AutogradTest, GraphsInALoopTakeNoMemory) {
    Array x = MakeArray(Shape{1}, {3});
    for (int i = 0; i < 200; ++i) {
        BackpropId id = context_.MakeBackpropId("turn");
        x.RequireGrad(id);
        {
            // The gradient has a graph. The entry of the next turn must release it.
            BackwardOptions record;
            record.enable_double_backprop = true;
            Array y = x * x;
            Backward(y, id, record);
        }
        ExpectValues(x.GetGrad(id), {6});
        context_.ReleaseBackpropId(id);
        EXPECT_FALSE(x.IsBackpropRequired());
        EXPECT_FALSE(x.IsAnyBackpropRequired());
    }
    EXPECT_LT(ArrayBody::GetLiveCount(), 10);
}

constexpr int kLong = 100000;

TEST_F(AutogradTest, LongChain) {
    Array x = Leaf({1});
    Array y = x;
    for (int i = 0; i < kLong; ++i) y = y + Scalar{0.0};
    ExpectValues(Grad({y}, {x})[0], {1});
    Backward(y);
    ExpectValues(x.GetGrad(), {1});
    // Destroying a chain without a backward pass must not recurse either.
    for (int i = 0; i < kLong; ++i) y = y + x;
}

TEST_F(AutogradTest, LongChainWithKeptValues) {
    Array x = Leaf({1});
    BackwardOptions record;
    record.enable_double_backprop = true;
    for (bool use : {true, false}) {
        Array y = x;
        for (int i = 0; i < kLong / 10; ++i) y = Split(Tanh(y) * y + x, 1)[0];
        if (!use) continue;
        // The recorded gradient is an even longer chain, through the values that the first chain keeps.
        Array g = Grad({Sum(y)}, {x}, std::nullopt, false, {}, record)[0];
        EXPECT_TRUE(g.IsBackpropRequired());
    }
}

TEST_F(AutogradTest, LongChainIsUnchained) {
    Array x = Leaf({1});
    Array y = x;
    for (int i = 0; i < kLong; ++i) y = y * x;
    UnchainBackward(y);
    EXPECT_FALSE(y.IsChained());
}

TEST_F(AutogradTest, IntermediateResultsAreFreed) {
    Array x = Leaf({1, 2});
    int64_t before = ArrayBody::GetLiveCount();
    Array y = x;
    // Gradients of sums need no values, so the chain keeps none; those of exponentials need their results.
    for (int i = 0; i < 100; ++i) y = y + Scalar{1} - x;
    EXPECT_EQ(before + 1, ArrayBody::GetLiveCount());
    for (int i = 0; i < 100; ++i) y = Exp(y * Scalar{0.0});
    EXPECT_LE(before + 100, ArrayBody::GetLiveCount());
    Array loss = Sum(y);
    Backward(loss);
    // An intermediate array keeps its inputs. The pass frees the rest, although the loss is still alive.
    EXPECT_LE(before + 100, ArrayBody::GetLiveCount());
    loss = Sum(y);
    y = Array{};
    Backward(loss);
    EXPECT_EQ(before + 2, ArrayBody::GetLiveCount());  // the loss, the gradient
    EXPECT_TRUE(loss.IsBackpropRequired());
}

TEST_F(AutogradTest, KeptValuesEndDuringThePass) {
    Array x = Leaf({1});
    Array y = x;
    int64_t most = 0;
    for (int i = 0; i < 1000; ++i) {
        y = Exp(y * Scalar{0.0});
        if (i != 500) continue;
        Array copy = Copy(y.AsDetached());
        IntrusivePtr<OpNode> node{
                new FunctionObjectNode{"watch", internal::GetRecordMask(y), [&most](BackwardContext& ctx) {
                                           most = ArrayBody::GetLiveCount();
                                           ctx.SetGrad(0, ctx.grad());
                                       }}};
        node->AddInput(y, node->mask());
        node->AddOutput(copy);
        y = copy;
    }
    int64_t before = ArrayBody::GetLiveCount();
    Backward(y);
    EXPECT_LT(most, before * 2 / 3);
    EXPECT_GT(most, before / 3);
}

TEST_F(AutogradTest, FunctionsOfAProgram) {
    auto cube = [](const Array& x) {
        Array y;
        {
            NoBackpropModeScope mode{x.context()};
            y = x * x * x;
        }
        RecordFunction("cube", {&x}, {&y}, [x = Saved{x}](BackwardContext& ctx) {
            ctx.SetGrad(0, ctx.grad() * x.Get() * x.Get() * Scalar{3});
        });
        return y;
    };
    EXPECT_FALSE(cube(MakeArray(Shape{1}, {2})).IsBackpropRequired());
    Array x = Leaf({1, 2});
    auto function = [&](const std::vector<Array>& xs) { return std::vector<Array>{cube(xs[0])}; };
    Array eps = MakeArray(Shape{2}, {1e-3, 1e-3});
    CheckBackward(function, {x}, {MakeArray(Shape{2}, {1, -1})}, {eps});
    CheckDoubleBackward(function, {x}, {Leaf({1, -1})}, {MakeArray(Shape{2}, {1, 2})}, {eps, eps});
}

TEST_F(AutogradTest, UnchainBackward) {
    Array x = Leaf({1, 2});
    Array h = x * x;
    Array y = Sum(h * x);
    std::vector<Array> parts = Split(h * x, std::vector<int64_t>{1}, 0);
    UnchainBackward(y);
    EXPECT_FALSE(y.IsChained());
    EXPECT_FALSE(h.IsChained());
    Backward(Sum(h * x));
    ExpectValues(x.GetGrad(), {1, 4});
    // The same after a pass, without keeping arrays that nobody can reach.
    Array g = Exp(x);
    Array loss = Sum(Exp(g * x));
    int64_t before = ArrayBody::GetLiveCount();
    Backward(loss);
    EXPECT_GT(before, ArrayBody::GetLiveCount());
    EXPECT_TRUE(g.IsChained());
    UnchainBackward(loss);
    EXPECT_FALSE(g.IsChained());
    g = Exp(x);
    Backward({Sum(g), x});  // an array that was not computed is an output, too
    EXPECT_TRUE(g.IsChained());
    // UnchainBackward cuts off every result of an operation on the way.
    UnchainBackward(parts[0]);
    EXPECT_FALSE(parts[1].IsChained());
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
        // Each gradient was recorded in the other graph, so each refers to the other's array.
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
    Backward(Sum(Scalar{3} * x), std::nullopt, options);
    ExpectValues(x.GetGrad(), {3, 3});
}

// The operations that a backward pass applies to gradients are differentiable.
TEST_F(AutogradTest, LeavesAreToldOf) {
    Array x = Leaf({1, 2});
    Array y = Leaf({3, 4});
    Array z = Leaf({5, 6});
    std::vector<const ArrayBody*> told;
    BackwardOptions options;
    options.loss_scale = 4.0;
    options.on_leaf = [&](const Array& leaf) {
        told.push_back(leaf.body());
        if (leaf.body() == y.body()) {
            ExpectValues(leaf.GetGrad(), {std::exp(1.), std::exp(2.)});
            EXPECT_FALSE(x.GetGrad());
            y.ClearGrad();
        }
    };
    Backward(std::vector<Array>{Sum(Exp(x) * y + x * z), Sum(z)}, std::nullopt, options);
    ASSERT_EQ(told.size(), 3U);
    EXPECT_EQ(told.front(), y.body());
    EXPECT_NE(told[1], told[2]);
    EXPECT_FALSE(y.GetGrad());
    ExpectValues(x.GetGrad(), {3 * std::exp(1.) + 5, 4 * std::exp(2.) + 6});
    ExpectValues(z.GetGrad(), {2, 3});

    told.clear();
    options.enable_double_backprop = true;
    Backward(Sum(x * y), std::nullopt, options);
    EXPECT_TRUE(told.empty());
}

TEST_F(AutogradTest, PassInsideOfAnother) {
    Array x = Leaf({1, 2});
    Array w = Leaf({3, 4});
    Array y = x * w;
    y.SetGrad(MakeArray(Shape{2}, {8, 16}));  // 1 and 2 times the loss scale
    BackwardOptions options;
    options.loss_scale = 8.0;
    options.inputs = std::vector<Array>{x};
    Backward(y, std::nullopt, options);
    ExpectValues(x.GetGrad(), {24, 64});
    ExpectValues(w.GetGrad(), {1, 4});
}

TEST_F(AutogradTest, OperationsOnGradients) {
    Array x = Leaf({1, 2});
    Array y = Leaf({3, 4});
    Array sum = internal::AddGrads(internal::ScaleGrad(x, 3), internal::CopyGrad(y, Dtype::kFloat64));
    ExpectValues(sum, {6, 10});
    Backward(sum * sum);
    ExpectValues(x.GetGrad(), {36, 60});
    ExpectValues(y.GetGrad(), {12, 20});
    EXPECT_FALSE(internal::AddGrads(x.AsDetached(), x.AsDetached()).IsBackpropRequired());
}

TEST_F(AutogradTest, GradientsOfOtherDtypes) {
    Array x = Leaf({1, 2});
    Array half = internal::CopyGrad(x, Dtype::kFloat16);
    EXPECT_EQ(Dtype::kFloat16, half.dtype());
    Array sum = internal::AddGrads(half, x);
    EXPECT_EQ(Dtype::kFloat64, sum.dtype());
    Backward(sum * sum);
    ExpectValues(x.GetGrad(), {8, 16});
    Array integers = internal::CopyGrad(x, Dtype::kInt32);
    EXPECT_FALSE(integers.IsBackpropRequired());
    ExpectValues(internal::ScaleGrad(integers, 0.5), {0.5, 1});
    EXPECT_EQ(Dtype::kFloat64, internal::ScaleGrad(integers, 0.5).dtype());
    EXPECT_THROW(internal::AddGrads(x, ToDevice(x, context_.GetDevice("native:1"))), DeviceError);
}

TEST_F(AutogradTest, InPlaceUpdateOfANeededArrayIsRefused) {
    Array x = Leaf({1, 2});
    EXPECT_THROW(x += Scalar{1}, ChainerxError);
}

}  // namespace
}  // namespace chainerx
