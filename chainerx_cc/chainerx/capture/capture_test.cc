#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "chainerx/capture/plan.h"
#include "chainerx/capture/recorder.h"
#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

class CaptureTest : public testing::ContextFixture {
protected:
    static Array Numbers(const Shape& shape, float start) {
        Array a = Empty(shape, Dtype::kFloat32);
        for (int64_t i = 0; i < a.GetTotalSize(); ++i) a.data<float>()[i] = start + static_cast<float>(i);
        return a;
    }
    static bool AreEqual(const Array& a, const Array& b) {
        return a.shape() == b.shape() && a.dtype() == b.dtype() &&
               std::memcmp(a.raw_data(), b.raw_data(), static_cast<size_t>(a.GetNBytes())) == 0;
    }
    // A step with scratch memory and a held array.
    static Array Step(const Array& x, const Array& w) { return Tanh(Dot(x * Scalar{0.1}, w) + Scalar{1}); }
};

TEST_F(CaptureTest, RepeatsOnOtherInputs) {
    Array w = Numbers({3, 2}, -2);
    Array x = Numbers({4, 3}, 0);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = Step(x, w);
    recorder.Stop();
    EXPECT_TRUE(recorder.IsNew(y));
    EXPECT_TRUE(recorder.IsUsed(w));
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, {y}, {});
    EXPECT_EQ(plan->call_count(), 4u);
    for (float start : {0.F, 5.F, -7.F}) {
        Array other = Numbers({4, 3}, start);
        ASSERT_TRUE(plan->Fits({other}));
        std::vector<Array> results = plan->Start({other});
        plan->Run(0);
        EXPECT_TRUE(AreEqual(results[0], Step(other, w)));
    }
    w.data<float>()[0] = 100;  // plans read held arrays in each run
    std::vector<Array> results = plan->Start({x});
    plan->Run(0);
    EXPECT_TRUE(AreEqual(results[0], Step(x, w)));
}

TEST_F(CaptureTest, ResultsOfRunsAreDifferentArrays) {
    Array x = Numbers({3}, 0);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = x * Scalar{2};
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {}, {y}, {});
    Array first = plan->Start({x})[0];
    plan->Run(0);
    Array second = plan->Start({Numbers({3}, 5)})[0];
    plan->Run(0);
    EXPECT_EQ(first.data<float>()[1], 2);
    EXPECT_EQ(second.data<float>()[1], 12);
}

TEST_F(CaptureTest, FitsOnlyLikeInputs) {
    Array x = Numbers({2, 3}, 0);
    Array w = Numbers({3, 3}, 0);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = Dot(x, w);
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, {y}, {});
    EXPECT_TRUE(plan->Fits({Numbers({2, 3}, 1)}));
    EXPECT_TRUE(plan->Fits({}));
    EXPECT_THROW(plan->Start({}), ChainerxError);
    EXPECT_THROW(plan->Start({w}), ChainerxError);
    EXPECT_FALSE(plan->Fits({Numbers({3, 3}, 1)}));
    EXPECT_FALSE(plan->Fits({Numbers({2, 3}, 1).AsDetached(), x}));
    EXPECT_FALSE(plan->Fits({Transpose(Numbers({3, 2}, 1))}));
    EXPECT_FALSE(plan->Fits({AsType(x, Dtype::kFloat64)}));
    EXPECT_FALSE(plan->Fits({ToDevice(x, GetDefaultContext().GetDevice("native:1"))}));
    EXPECT_FALSE(plan->Fits({internal::MakeView(w, {2, 3}, Strides{Shape{2, 3}, 4}, 0)}));
}

TEST_F(CaptureTest, SetsAndClearsGradients) {
    Array w = Numbers({3}, 1);
    Array v = Numbers({3}, 1);
    w.RequireGrad();
    v.RequireGrad();
    v.SetGrad(Numbers({3}, 9));
    Array x = Numbers({3}, 2);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Backward(Sum(w * x));
    v.ClearGrad();
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, {w.GetGrad()}, {{w, size_t{0}, 0}, {v, std::nullopt, 0}});
    w.ClearGrad();
    v.SetGrad(Numbers({3}, 9));
    Array other = Numbers({3}, 7);
    plan->Start({other});
    plan->Run(0);
    EXPECT_TRUE(AreEqual(w.GetGrad(), other));
    EXPECT_FALSE(static_cast<bool>(v.GetGrad()));
}

TEST_F(CaptureTest, SharesScratchMemory) {
    Array x = Numbers({30, 30}, 0);
    Array w = Eye(30, std::nullopt, 0, Dtype::kFloat32);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = x;
    for (int i = 0; i < 20; ++i) y = Dot(y, w);
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, {y}, {});
    EXPECT_LE(plan->scratch_bytes(), 3 * 4096);
    EXPECT_GE(plan->unshared_scratch_bytes(), 19 * 3600);
    Array result = plan->Start({x})[0];
    plan->Run(0);
    EXPECT_TRUE(AreEqual(result, x));
}

TEST_F(CaptureTest, PlansShareTheMemoryThatTheLargestNeeds) {
    auto scratch = std::make_shared<Scratch>();
    Array w = Eye(8, std::nullopt, 0, Dtype::kFloat32);
    std::vector<Array> xs;
    std::vector<std::shared_ptr<Plan>> plans;
    int64_t most = 0;
    for (int64_t n : {4, 32, 2, 64, 16}) {
        Array x = Numbers({n, 8}, 0);
        Recorder recorder{GetDefaultDevice(), nullptr, scratch};
        recorder.Start();
        Array y = Dot(Dot(Dot(x, w), w), w);
        plans.push_back(recorder.MakePlan({x}, {w}, {y}, {}));
        xs.push_back(x);
        most = std::max(most, plans.back()->scratch_bytes());
        // In any order, also of plans that ran before the memory grew.
        for (size_t i : {plans.size() - 1, size_t{0}}) {
            Array result = plans[i]->Start({xs[i]})[0];
            plans[i]->Run(0);
            EXPECT_TRUE(AreEqual(result, xs[i]));
        }
        EXPECT_EQ(scratch->bytes(), static_cast<size_t>(most));
    }
    EXPECT_GT(most, 0);
    // It goes with the last plan.
    std::weak_ptr<Scratch> observed = scratch;
    scratch.reset();
    plans.resize(1);
    Array result = plans[0]->Start({xs[0]})[0];
    plans[0]->Run(0);
    EXPECT_TRUE(AreEqual(result, xs[0]));
    plans.clear();
    EXPECT_TRUE(observed.expired());
}

TEST_F(CaptureTest, PlansKeepNoInputsAndResultsBetweenRuns) {
    Array w = Numbers({2}, 1);
    Array x = Numbers({2}, 1);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = x * w;
    recorder.Mark();
    Array z = y + w;
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, {y, z}, {});
    ASSERT_EQ(plan->segment_count(), 2u);
    for (int i = 0; i < 3; ++i) {
        Array input = Numbers({2}, 3);
        std::vector<Array> results = plan->Start({input});
        plan->Run(0);
        EXPECT_GT(input.body()->storage->use_count(), 1u);
        plan->Run(1);
        EXPECT_TRUE(AreEqual(results[1], input * w + w));
        EXPECT_EQ(input.body()->storage->use_count(), 1u);
        for (const Array& a : results) EXPECT_EQ(a.body()->storage->use_count(), 1u);
        EXPECT_THROW(plan->Run(0), ChainerxError);  // there are no inputs
    }
}

TEST_F(CaptureTest, ErrorsEndRuns) {
    Array t = Full({3}, 1, Dtype::kInt32);
    Array x = Numbers({5, 3}, 1);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = Take(x * Scalar{2}, t, 0, IndexMode::kRaise);
    std::shared_ptr<Plan> plan = recorder.MakePlan({x, t}, {}, {y}, {});
    for (int i = 0; i < 2; ++i) {
        Array wrong = Full({3}, 99, Dtype::kInt32);
        plan->Start({x, wrong});
        EXPECT_THROW(plan->Run(0), ChainerxError);
        EXPECT_EQ(wrong.body()->storage->use_count(), 1u);
        EXPECT_THROW(plan->Run(0), ChainerxError);
        Array result = plan->Start({x, t})[0];
        plan->Run(0);
        EXPECT_TRUE(AreEqual(result, y));
    }
}

TEST_F(CaptureTest, RecordingsKeepNoMemoryThatTheProgramGivesUp) {
    Array x = Numbers({100'000}, 0);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    std::set<const void*> places;
    Array y = x;
    for (int i = 0; i < 20; ++i) {
        y = y + Scalar{1};
        places.insert(y.raw_data());
    }
#if !defined(__SANITIZE_ADDRESS__)  // where no place is used again
    EXPECT_LE(places.size(), 4u);
#endif
    Array z = y * x;
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {}, {z}, {});
    Array result = plan->Start({x})[0];
    plan->Run(0);
    EXPECT_TRUE(AreEqual(result, z));
}

TEST_F(CaptureTest, DrawsRandomNumbersAsOperationsDo) {
    Array x = Numbers({100}, 1);
    x.RequireGrad();
    auto step = [&x] {
        x.ClearGrad();
        Backward(Sum(Dropout(x, 0.5)));
        return x.GetGrad();
    };
    RandomGenerator& generator = x.context().random_generator();
    generator.Seed(1);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    step();
    recorder.Stop();
    Array second = step();
    std::shared_ptr<Plan> plan = recorder.MakePlan({}, {x}, {}, {});
    EXPECT_EQ(plan->segment_count(), 1u);
    generator.Seed(1);
    plan->Start({});
    plan->Run(0);
    EXPECT_TRUE(AreEqual(step(), second));
}

TEST_F(CaptureTest, MarksChangesInPlace) {
    Array x = Numbers({3}, 1);
    Array w = Numbers({3}, 1);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Fill(w, Scalar{4});
    Fill(x, Scalar{5});
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, {}, {});
    uint32_t before = w.body()->storage->version();
    Array other = Numbers({3}, 1);
    plan->Start({other});
    plan->Run(0);
    EXPECT_GT(w.body()->storage->version(), before);
    EXPECT_GT(other.body()->storage->version(), 0u);
    EXPECT_EQ(other.data<float>()[2], 5);
}

TEST_F(CaptureTest, RefusesWhatCannotBeRepeated) {
    Array x = Numbers({3}, 1);
    auto make = [&x](auto f, const std::vector<Array>& held) {
        int calls = 0;
        Recorder recorder{GetDefaultDevice(), [&calls] { ++calls; }};
        recorder.Start();
        Array y = f();
        EXPECT_THROW(recorder.MakePlan({x}, held, {y}, {}), ChainerxError);
        EXPECT_EQ(calls, recorder.graph_break().empty() ? 0 : 1);
    };
    make([&x] { return x * AsScalar(Sum(x)); }, {});
    make([&x] { return Nonzero(x)[0]; }, {});
    make([&x] { return ToDevice(x, GetDefaultContext().GetDevice("native:1")); }, {});
    Array unknown = Numbers({3}, 4);
    make([&] { return x + unknown; }, {});
    make([&] { return x + unknown; }, {unknown, x.AsDetached()});
    make([&] { return unknown; }, {});
    float number = 3;
    make([&] { return FromHost({1}, Dtype::kFloat32, &number); }, {});
    make(
            [&] {
                Array data = FromHost({1}, Dtype::kFloat32, &number);
                Array y = x + data;
                Fill(data, Scalar{4});
                return y;
            },
            {});
}

TEST_F(CaptureTest, RunsSegments) {
    Array x = Numbers({3}, 1);
    Array w = Numbers({3}, 1);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = x + w;
    recorder.Mark();
    recorder.Stop();
    Fill(w, Scalar{10});  // not a part of the plan
    recorder.Start();
    Array z = y * w;
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, {z}, {});
    ASSERT_EQ(plan->segment_count(), 2u);
    Array result = plan->Start({x})[0];
    Fill(w, Scalar{1});
    plan->Run(0);
    Fill(w, Scalar{2});
    plan->Run(1);
    EXPECT_EQ(result.data<float>()[0], 4);
    EXPECT_THROW(plan->Run(2), IndexError);
}

TEST_F(CaptureTest, SegmentsHaveTheirDrawsAndGradients) {
    RandomGenerator& generator = GetDefaultContext().random_generator();
    Array x = Numbers({100}, 1);
    Array w = Numbers({100}, 1);
    w.RequireGrad();
    auto record = [&x, &w](size_t last) {
        Recorder recorder{GetDefaultDevice()};
        recorder.Start();
        Array first = Dropout(x, 0.5);
        recorder.Mark();
        Array second = Dropout(x, 0.5);
        return recorder.MakePlan({x}, {w}, {first, second}, {{w, size_t{1}, last}, {w, size_t{0}, 0}});
    };
    generator.Seed(1);
    Array first = Dropout(x, 0.5);
    Dropout(x, 0.5);
    Array second = Dropout(x, 0.5);
    std::shared_ptr<Plan> plan = record(1);
    for (int i = 0; i < 2; ++i) {
        generator.Seed(1);
        plan->Start({x});
        plan->Run(0);
        EXPECT_TRUE(AreEqual(w.GetGrad(), first));
        Dropout(x, 0.5);  // between the segments
        plan->Run(1);
        EXPECT_TRUE(AreEqual(w.GetGrad(), second));
    }
    EXPECT_THROW(record(2), IndexError);
}

TEST_F(CaptureTest, UpdatesTakeNewScalars) {
    Array p = Numbers({5}, 1);
    Array v = Numbers({5}, 0);
    Array g = Numbers({5}, -2);
    auto update = [](const Array& p, const Array& g, const Array& v, const std::vector<double>& scalars) {
        UpdateParameters(kMomentumSgdUpdate, {p, g, v}, scalars);
    };
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Fill(g, Scalar{3});
    EXPECT_EQ(recorder.scalars_count(), 0u);
    update(p, g, v, {0.1, 0.9});
    EXPECT_EQ(recorder.scalars_count(), 1u);
    std::shared_ptr<Plan> plan = recorder.MakePlan({g}, {p, v}, {}, {});
    Array expected_p = Copy(p);
    Array expected_v = Copy(v);
    for (double rate : {0.5, 0.25}) {
        std::vector<double> scalars{rate, 0.5};
        plan->SetScalars(0, scalars);
        plan->Start({g});
        plan->Run(0);
        update(expected_p, Full({5}, Scalar{3}, Dtype::kFloat32), expected_v, scalars);
        EXPECT_TRUE(AreEqual(p, expected_p));
        EXPECT_TRUE(AreEqual(v, expected_v));
    }
    EXPECT_THROW(plan->SetScalars(0, {1}), DimensionError);
    EXPECT_THROW(plan->SetScalars(1, {1, 1}), DimensionError);
}

TEST_F(CaptureTest, BackwardPassesTakeNewLossScales) {
    Array x = Numbers({3}, 1);
    Array w = Numbers({3}, 2).RequireGrad();
    auto backward = [&x, &w](double loss_scale) {
        w.ClearGrad();
        BackwardOptions options;
        options.loss_scale = loss_scale;
        Backward(Sum(AsType(x * w, Dtype::kFloat16)), std::nullopt, options);
        return w.GetGrad();
    };
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array grad = backward(1);
    ASSERT_EQ(recorder.scalars_count(), 2u);  // of the first gradient and of that of the leaf
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, {grad}, {});
    for (double loss_scale : {3.0, 1e-9, 65504.0}) {  // of which two round or vanish in float16
        for (size_t i = 0; i < 2; ++i) plan->SetScalars(i, {loss_scale});
        Array result = plan->Start({x})[0];
        plan->Run(0);
        Array expected = backward(loss_scale);
        EXPECT_EQ(0, std::memcmp(result.data<float>(), expected.data<float>(), 3 * sizeof(float)));
    }
}

// Kernels by name, of all calls together.
int CountCalls(const Plan& plan, const std::string& name) {
    std::istringstream lines{plan.Describe()};
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.find(' ' + name + ' ') != std::string::npos;
    return count;
}

TEST_F(CaptureTest, ElementwiseCallsRunInTiles) {
    // Whole tiles and a rest, sums in two operands, a view, and numbers.
    for (int64_t size : {40'000, 32'768, 100}) {
        auto f = [](const Array& x, const Array& w) {
            Array y = x * w + Scalar{1};
            Array z = Tanh(y) * y;
            return std::vector<Array>{z, Exp(z - w) + y + Reshape(w, {w.GetTotalSize()})};
        };
        Array x = Numbers({size}, -50) * Scalar{1e-3};
        Array w = Numbers({size}, 3) * Scalar{-1e-3};
        Recorder recorder{GetDefaultDevice()};
        recorder.Start();
        std::vector<Array> results = f(x, w);
        std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, results, {});
        EXPECT_EQ(plan->call_count(), size == 100 ? 8u : 1u);
        for (float start : {0.F, 5.F}) {
            Array other = Numbers({size}, start) * Scalar{1e-3};
            std::vector<Array> actual = plan->Start({other});
            plan->Run(0);
            std::vector<Array> expected = f(other, w);
            for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(AreEqual(actual[i], expected[i]));
        }
    }
}

TEST_F(CaptureTest, WritesOverWhatNothingReads) {
    Array x = Numbers({300}, 0);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = x;
    for (int i = 0; i < 20; ++i) y = y + Scalar{1};
    Array z = Copy(y);
    Array kept = y * z;  // both are read afterwards
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {}, {kept, y, z}, {});
    EXPECT_EQ(plan->scratch_bytes(), 0);
    std::vector<Array> results = plan->Start({x});
    plan->Run(0);
    EXPECT_EQ(results[0].data<float>()[7], 27 * 27);
    EXPECT_EQ(results[1].data<float>()[7], 27);
    EXPECT_EQ(results[2].data<float>()[7], 27);
    EXPECT_EQ(CountCalls(*plan, "copy"), 1);
}

TEST_F(CaptureTest, LeavesOutCopiesOfWhatNothingElseReads) {
    Array x = Numbers({3, 4}, 0);
    Array w = Numbers({4, 5}, 0);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = Copy(Dot(x, w));
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, {y}, {});
    EXPECT_EQ(plan->call_count(), 1u);
    Array other = Numbers({3, 4}, 6);
    Array result = plan->Start({other})[0];
    plan->Run(0);
    EXPECT_TRUE(AreEqual(result, Dot(other, w)));
}

TEST_F(CaptureTest, AddsSumsAtIndicesDirectly) {
    int64_t places[] = {3, 1, 3, 0, 3};
    Array indices = FromHost({5}, Dtype::kInt64, places);
    auto f = [&indices](const Array& b) {
        Array sum;
        for (int i = 0; i < 3; ++i) {
            Array part = AddAt(Zeros({4, 2}, Dtype::kFloat32), indices, b * Scalar{0.1 + i});
            sum = i == 0 ? part : sum + part;
        }
        return sum;
    };
    Array b = Numbers({5, 2}, -1) * Scalar{1 / 3.0};
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = f(b);
    std::shared_ptr<Plan> plan = recorder.MakePlan({b}, {indices}, {y}, {});
    EXPECT_EQ(CountCalls(*plan, "add_sums_at"), 2);
    EXPECT_EQ(CountCalls(*plan, "fill"), 1);
    EXPECT_EQ(CountCalls(*plan, "add"), 0);
    Array other = Numbers({5, 2}, 7) * Scalar{1 / 7.0};
    Array result = plan->Start({other})[0];
    plan->Run(0);
    EXPECT_TRUE(AreEqual(result, f(other)));
}

TEST_F(CaptureTest, MeasuresKernels) {
    Array x = Numbers({1000}, 0);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array y = Sum(x);
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {}, {y}, {});
    EXPECT_EQ(plan->Describe(), "0 sum float32(1000,) float32()\n");
    plan->SetMeasured(true);
    plan->Start({x});
    plan->Run(0);
    EXPECT_GT(std::stod(plan->Describe()), 0);
}

TEST_F(CaptureTest, BackendsGoOnAfterARecording) {
    Backend& backend = GetDefaultDevice().backend();
    {
        Recorder outer{GetDefaultDevice()};
        outer.Start();
        Recorder inner{GetDefaultDevice()};
        inner.Start();
        Array y = Numbers({2}, 0) + Scalar{1};
        EXPECT_TRUE(inner.IsNew(y));
        EXPECT_FALSE(outer.IsNew(y));
        EXPECT_EQ(backend.FindUnwatchedKernel(kAddKernel), nullptr);
    }
    EXPECT_NE(backend.FindUnwatchedKernel(kAddKernel), nullptr);
}

}  // namespace
}  // namespace chainerx
