#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chainerx/capture/plan.h"
#include "chainerx/capture/recorder.h"
#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

constexpr int64_t kLarge = 40'000;

// Parameters in half precision with float32 copies, and their states.
struct Weights {
    explicit Weights(const std::vector<int64_t>& sizes) {
        for (int64_t size : sizes) {
            Array a = Arange(Scalar{0}, Scalar{size}, Scalar{1}, Dtype::kFloat32) * Scalar{1e-3};
            copies.push_back(a);
            halves.push_back(AsType(a, Dtype::kFloat16));
            states.push_back(ZerosLike(a));
        }
    }
    std::vector<Array> All() const {
        std::vector<Array> all = copies;
        all.insert(all.end(), halves.begin(), halves.end());
        all.insert(all.end(), states.begin(), states.end());
        return all;
    }

    std::vector<Array> copies, halves, states;
};

class ParameterUpdateTest : public testing::ContextFixture {
protected:
    using Step = std::function<void(const Weights&, const Array& x, const std::vector<double>& scalars)>;

    static void Update(const Weights& w, const std::vector<Array>& grads, const std::vector<double>& scalars) {
        std::vector<Array> arrays = w.copies;
        for (const Array& g : grads) arrays.push_back(AsType(g, Dtype::kFloat32));
        arrays.insert(arrays.end(), w.states.begin(), w.states.end());
        UpdateParameters(kMomentumSgdUpdate, arrays, scalars);
    }
    static void Round(const Weights& w) {
        for (size_t i = 0; i < w.copies.size(); ++i) CopyData(w.copies[i], w.halves[i]);
    }
    static std::vector<Array> Gradients(const Weights& w, const Array& x) {
        std::vector<Array> grads;
        for (const Array& half : w.halves) grads.push_back(half * x);
        return grads;
    }
    // The usual step: all gradients, all updates, all casts.
    static void Train(const Weights& w, const Array& x, const std::vector<double>& scalars) {
        Update(w, Gradients(w, x), scalars);
        Round(w);
    }

    // Repeats a recorded step with other scalars and compares with the step; returns the plan's description.
    static std::string Repeat(const std::vector<int64_t>& sizes, const Step& step) {
        Weights w{sizes};
        Weights expected{sizes};
        Array x = Full({}, Scalar{0.5}, Dtype::kFloat16);
        Recorder recorder{GetDefaultDevice()};
        recorder.Start();
        step(w, x, {0.1, 0.9});
        EXPECT_EQ(recorder.scalars_count(), 1u);
        std::shared_ptr<Plan> plan = recorder.MakePlan({x}, w.All(), {}, {});
        step(expected, x, {0.1, 0.9});
        for (double rate : {0.5, 0.25}) {
            Array other = Full({}, Scalar{rate * 3}, Dtype::kFloat16);
            plan->SetScalars(0, {rate, 0.75});
            plan->Start({other});
            for (size_t segment = 0; segment < plan->segment_count(); ++segment) plan->Run(segment);
            step(expected, other, {rate, 0.75});
        }
        std::vector<Array> actual = w.All();
        std::vector<Array> all = expected.All();
        for (size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(0, std::memcmp(actual[i].raw_data(), all[i].raw_data(), static_cast<size_t>(all[i].GetNBytes())));
        }
        return plan->Describe();
    }
    static size_t Count(const std::string& description, const std::string& name) {
        size_t count = 0;
        for (size_t at = 0; (at = description.find(name, at)) != std::string::npos; at += name.size()) ++count;
        return count;
    }
    static size_t CountTiled(const std::string& description) { return Count(description, "copy+momentum_sgd+copy"); }
};

TEST_F(ParameterUpdateTest, LargeOnesRunInTiles) {
    EXPECT_EQ(CountTiled(Repeat({kLarge}, Train)), 1u);
    EXPECT_EQ(CountTiled(Repeat({kLarge, kLarge, 32'768, 300'001}, Train)), 4u);
}

TEST_F(ParameterUpdateTest, SmallOnesStayTogether) {
    std::string description = Repeat({7, kLarge, 32'767, 50'000, 0}, Train);
    EXPECT_EQ(CountTiled(description), 2u);
    EXPECT_NE(description.find(" momentum_sgd "), std::string::npos);
    EXPECT_EQ(CountTiled(Repeat({7, 32'767}, Train)), 0u);
}

TEST_F(ParameterUpdateTest, OthersStayAsTheyAre) {
    struct Row {
        const char* what;
        Step step;
    };
    std::vector<Row> rows{
            {"gradients that are read later",
             [](const Weights& w, const Array& x, const std::vector<double>& scalars) {
                 std::vector<Array> grads;
                 for (const Array& g : Gradients(w, x)) grads.push_back(AsType(g, Dtype::kFloat32));
                 Update(w, grads, scalars);
                 CopyData(grads[0], w.halves[0]);
             }},
            {"parameters that are read before they are rounded",
             [](const Weights& w, const Array& x, const std::vector<double>& scalars) {
                 Update(w, Gradients(w, x), scalars);
                 CopyData(Sum(w.halves[0]), w.halves[0]);
                 Round(w);
             }},
            {"parameters that change before they are rounded",
             [](const Weights& w, const Array& x, const std::vector<double>& scalars) {
                 Update(w, Gradients(w, x), scalars);
                 CopyData(w.copies[0] * Scalar{2}, w.copies[0]);
                 Round(w);
             }},
            {"gradients that change after their cast",
             [](const Weights& w, const Array& x, const std::vector<double>& scalars) {
                 Array half = w.halves[0] * x;
                 Array grad = AsType(half, Dtype::kFloat32);
                 Fill(half, Scalar{7});
                 CopyData(half, w.states[0]);
                 UpdateParameters(kMomentumSgdUpdate, {w.copies[0], grad, w.states[0]}, scalars);
                 Round(w);
             }},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        EXPECT_EQ(CountTiled(Repeat({kLarge}, row.step)), 0u);
    }
}

TEST_F(ParameterUpdateTest, ArraysThatOverlapStayAsTheyAre) {
    // Copies whose halves lie in their own memory: each tile would change the next one.
    Weights w{{kLarge, kLarge}};
    Array memory = Arange(Scalar{0}, Scalar{4 * kLarge}, Scalar{1}, Dtype::kFloat32);
    auto view = [&memory](Dtype dtype, int64_t begin) {
        Storage* storage =
                new Storage{static_cast<char*>(memory.raw_data()) + begin, size_t(kLarge) * GetItemSize(dtype),
                            memory.device(), [](Storage* s) noexcept { delete s; }};
        return internal::MakeArray({kLarge}, Strides{GetItemSize(dtype)}, dtype, memory.device(), StoragePtr{storage},
                                   0);
    };
    for (size_t i = 0; i < 2; ++i) {
        int64_t begin = static_cast<int64_t>(i) * 8 * kLarge;
        w.copies[i] = view(Dtype::kFloat32, begin);
        w.halves[i] = view(Dtype::kFloat16, begin + 8);
    }
    Array x = Full({}, Scalar{0.5}, Dtype::kFloat16);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Train(w, x, {0.1, 0.9});
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, w.All(), {}, {});
    EXPECT_EQ(CountTiled(plan->Describe()), 0u);
    EXPECT_EQ(Count(plan->Describe(), "momentum_sgd"), 1u);
}

TEST_F(ParameterUpdateTest, StaysWithinSegments) {
    Weights w{{kLarge}};
    Array x = Full({}, Scalar{0.5}, Dtype::kFloat16);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Update(w, Gradients(w, x), {0.1, 0.9});
    recorder.Mark();
    Round(w);
    std::shared_ptr<Plan> plan = recorder.MakePlan({x}, w.All(), {}, {});
    EXPECT_EQ(CountTiled(plan->Describe()), 0u);
}

}  // namespace
}  // namespace chainerx
