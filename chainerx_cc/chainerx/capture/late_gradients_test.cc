#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "chainerx/capture/plan.h"
#include "chainerx/capture/recorder.h"
#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

constexpr int64_t kUnits = 200;  // so that gradients of weights are large

class LateGradientsTest : public testing::ContextFixture {
protected:
    // Returns the gradient of w first.
    using Step = std::function<std::vector<Array>(const Array& w, const Array& x)>;

    static Array Numbers(int64_t rows, double start) {
        Array a = Arange(Scalar{start}, Scalar{start + static_cast<double>(rows * kUnits)}, Scalar{1}, Dtype::kFloat32);
        return Reshape(a * Scalar{1e-4}, {rows, kUnits});
    }
    // The gradient of the weight of a convolution without spatial dimensions.
    static Array Product(const Array& a, const Array& b) {
        WindowGeometry g;
        g.batch = a.shape()[0];
        g.in_channels = g.out_channels = kUnits;
        Array w = Empty({kUnits, kUnits}, Dtype::kFloat32);
        kConvWeightKernel(w.device(), g, a, b, w);
        return w;
    }

    // Repeats a recorded step as a plan on other rows, and compares with the step to the last bit.
    static std::shared_ptr<Plan> Repeat(const Step& step, int64_t rows, bool is_renewed = true) {
        Array w = Ones({kUnits, kUnits}, Dtype::kFloat32);
        Array expected_w = Copy(w);
        w.RequireGrad();
        Array x = Numbers(rows, 0);
        Recorder recorder{GetDefaultDevice()};
        recorder.Start();
        std::vector<Array> results = step(w, x);
        std::vector<Array> renewed;
        if (is_renewed) renewed.push_back(w);
        std::shared_ptr<Plan> plan = recorder.MakePlan({x}, {w}, results, {{w, size_t{0}, 0}}, renewed);
        step(expected_w, x);
        Array other = Numbers(rows, 7);
        std::vector<Array> actual = plan->Start({other});
        plan->Run(0);
        std::vector<Array> expected = step(expected_w, other);
        actual.push_back(w);
        expected.push_back(expected_w);
        for (size_t i = 0; i < expected.size(); ++i) {
            auto bytes = static_cast<size_t>(expected[i].GetNBytes());
            EXPECT_EQ(0, std::memcmp(actual[i].raw_data(), expected[i].raw_data(), bytes)) << i;
        }
        return plan;
    }

    // The numbers of calls before and after the product.
    struct Place {
        int before, after;
    };
    static Place FindProduct(const Plan& plan) {
        std::istringstream lines{plan.Describe()};
        Place place{0, -1};
        std::string line;
        while (std::getline(lines, line)) {
            bool is_after = place.after >= 0 || line.find(" conv_weight ") != std::string::npos;
            ++(is_after ? place.after : place.before);
        }
        return place;
    }
};

TEST_F(LateGradientsTest, WaitForTheirReaders) {
    struct Row {
        const char* what;
        int64_t rows;
        int after;
        Step step;
    };
    std::vector<Row> rows{
            {"none", 4, 0,
             [](const Array&, const Array& x) -> std::vector<Array> {
                 Array g = Product(x * Scalar{2}, x * Scalar{3});
                 return {g, Sum(Tanh(x))};
             }},
            {"an update", 4, 1,
             [](const Array& w, const Array& x) -> std::vector<Array> {
                 Array g = Product(x * Scalar{2}, x * Scalar{3});
                 Array sum = Sum(Tanh(x));
                 UpdateParameters(kSgdUpdate, {w, g}, {0.1});
                 return {g, sum};
             }},
            {"operands that are read meanwhile", 4, 0,
             [](const Array&, const Array& x) -> std::vector<Array> {
                 Array a = x * Scalar{2};
                 Array b = x * Scalar{3};
                 Array g = Product(a, b);
                 return {g, Sum(a * b), Sum(Tanh(a)), Sum(Exp(b))};
             }},
            {"operands that need less memory", 99, 0,
             [](const Array&, const Array& x) -> std::vector<Array> {
                 Array g = Product(x * Scalar{2}, x * Scalar{3});
                 return {g, Sum(Tanh(x))};
             }},
            {"large operands that others read later", 300, 3,
             [](const Array& w, const Array& x) -> std::vector<Array> {
                 Array a = x * Scalar{2};
                 Array b = x * Scalar{3};
                 Array g = Product(a, b);
                 Array sum = Sum(Tanh(x));
                 UpdateParameters(kSgdUpdate, {w, g}, {0.1});
                 return {g, sum, Sum(a * b)};
             }},
            {"large operands of the program", 300, 0,
             [](const Array&, const Array& x) -> std::vector<Array> {
                 Array g = Product(x, x);
                 return {g, Sum(Tanh(x))};
             }},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        EXPECT_EQ(FindProduct(*Repeat(row.step, row.rows)).after, row.after);
    }
}

TEST_F(LateGradientsTest, OthersStayWhereTheyAre) {
    struct Row {
        const char* what;
        int64_t rows;
        bool is_renewed;
        std::function<void(const Array& a, const Array& x)> next;
    };
    std::vector<Row> rows{
            {"operands that need more memory", 101, true, [](const Array&, const Array&) {}},
            {"operands that are filled", 4, true, [](const Array& a, const Array&) { Fill(a, Scalar{3}); }},
            {"operands that are overwritten", 4, true, [](const Array& a, const Array& x) { CopyData(x, a); }},
            {"gradients that a step adds to", 4, false, [](const Array&, const Array&) {}},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        auto step = [&row](const Array&, const Array& x) -> std::vector<Array> {
            Array a = x * Scalar{2};
            Array g = Product(a, x * Scalar{3});
            row.next(a, x);
            return {g, Sum(Tanh(x))};
        };
        EXPECT_EQ(FindProduct(*Repeat(step, row.rows, row.is_renewed)).before, 2);
    }
}

TEST_F(LateGradientsTest, TakeTheMemoryOfWhatIsRead) {
    auto step = [](const Array&, const Array& x) -> std::vector<Array> {
        Array large = Tanh(x);
        Array small = Sum(large, Axes{0}, true);
        Array g = Product(small, small * Scalar{2});
        return {g, Sum(large * x)};
    };
    constexpr int64_t kBytes = kUnits * kUnits * 4;
    std::shared_ptr<Plan> plan = Repeat(step, 2 * kUnits);
    EXPECT_GE(plan->scratch_bytes(), 2 * kBytes);
    EXPECT_LT(plan->scratch_bytes(), 2 * kBytes + kBytes / 10);
}

TEST_F(LateGradientsTest, StayWithinSegments) {
    Array w = Ones({kUnits, kUnits}, Dtype::kFloat32);
    w.RequireGrad();
    Array x = Numbers(4, 0);
    Recorder recorder{GetDefaultDevice()};
    recorder.Start();
    Array g = Product(x * Scalar{2}, x * Scalar{3});
    Array first = Sum(Tanh(x));
    recorder.Mark();
    Array second = Sum(Exp(x));
    std::shared_ptr<Plan> plan =
            recorder.MakePlan({x}, {w}, {g, first, second}, {{w, size_t{0}, 0}}, std::vector<Array>{w});
    EXPECT_EQ(FindProduct(*plan).after, 2);
    std::vector<Array> results = plan->Start({x});
    plan->Run(0);
    EXPECT_EQ(0, std::memcmp(results[0].raw_data(), g.raw_data(), static_cast<size_t>(g.GetNBytes())));
}

}  // namespace
}  // namespace chainerx
