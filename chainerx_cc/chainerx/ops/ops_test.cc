#include <algorithm>
#include <cmath>

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

using testing::ExpectValues;
using testing::MakeArray;

// Values of all operations are checked from Python, where NumPy is the reference; these are the uses of the C++
// interface.
class OpsTest : public testing::ContextFixture {};

TEST_F(OpsTest, Operators) {
    Array a = MakeArray(Shape{2, 2}, {1, 2, 3, 4});
    Array b = MakeArray(Shape{2}, {10, 20});
    ExpectValues(a + b, {11, 22, 13, 24});
    ExpectValues(Scalar{1} - a, {0, -1, -2, -3});
    ExpectValues(a / Scalar{2}, {0.5, 1, 1.5, 2});
    ExpectValues(-a, {-1, -2, -3, -4});
    a += b;
    ExpectValues(a, {11, 22, 13, 24});
}

TEST_F(OpsTest, Reductions) {
    Array a = MakeArray(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
    ExpectValues(Sum(a), {21});
    ExpectValues(Sum(a, Axes{0}), {5, 7, 9});
    EXPECT_EQ((Shape{2, 1}), Sum(a, Axes{-1}, true).shape());
    EXPECT_THROW(Sum(a, Axes{2}), DimensionError);
    EXPECT_THROW(Sum(a, Axes{0, 0}), DimensionError);
}

TEST_F(OpsTest, Statistics) {
    Array a = MakeArray(Shape{2, 3}, {3, 1, 2, 6, 4, 8});
    ExpectValues(Median(a, Axes{1}), {2, 6});
    ExpectValues(Quantile(a, std::vector<double>{0, 0.5}, Axes{1}), {1, 4, 2, 6});
    ExpectValues(Percentile(a, 25.0, Axes{1}, QuantileMethod::kHigher), {2, 6});
    auto [counts, edges] = Histogram(a, 2, std::vector<double>{0, 8});
    ExpectValues(counts, {3, 3});
    ExpectValues(edges, {0, 4, 8});
    EXPECT_THROW(Quantile(a, 1.5), ValueError);
}

TEST_F(OpsTest, Searching) {
    Array a = MakeArray(Shape{4}, {3, 1, 3, 2});
    auto found = std::get<ArrayTuple>(Unique(a, false, true, true));
    ExpectValues(found[0], {1, 2, 3});
    ExpectValues(found[1], {2, 0, 2, 1});
    ExpectValues(found[2], {1, 1, 2});
    ExpectValues(Searchsorted(Sort(a), Scalar{3}, SearchSide::kRight), {4});
    EXPECT_TRUE(AllClose(std::get<Array>(Unique(a)), found[0]));
    EXPECT_EQ(2.0, static_cast<double>(AsScalar(At(a, {3}))));
}

TEST_F(OpsTest, ArgumentsOfSeveralTypes) {
    Array a = Arange(0, 4, 1, Dtype::kFloat64);
    ExpectValues(Arange(3), {0, 1, 2});
    EXPECT_EQ(Dtype::kFloat32, Zeros({2}).dtype());
    EXPECT_EQ(Dtype::kInt8, OnesLike(a, nullptr, Dtype::kInt8).dtype());
    ExpectValues(Clip(a, 1, std::nullopt), {1, 1, 2, 3});
    ExpectValues(Clip(a, 1, a - Scalar{1}), {-1, 0, 1, 2});
    EXPECT_THROW(Clip(a, std::nullopt, std::nullopt), ValueError);
    ExpectValues(Crelu(Reshape(a - Scalar{2}, {1, 4})), {0, 0, 0, 1, 2, 1, 0, 0});
    ExpectValues(Roll(a, {1}), {3, 0, 1, 2});
    ExpectValues(Take(a, std::vector<int64_t>{-1, 0}), {3, 0});
    ExpectValues(Take(a, std::vector<int64_t>{5}, 0, IndexMode::kWrap), {1});
    EXPECT_THROW(Take(a, std::vector<int64_t>{5}), IndexError);
    ExpectValues(Nonzero(a)[0], {1, 2, 3});
}

TEST_F(OpsTest, JoiningAndSplitting) {
    Array a = MakeArray(Shape{2, 2}, {1, 2, 3, 4});
    ExpectValues(Split(a, 2)[1], {3, 4});
    ExpectValues(Hsplit(a, std::vector<int64_t>{1})[1], {2, 4});
    EXPECT_THROW(Vsplit(Ravel(a), 2), DimensionError);
    ExpectValues(Roll(a, {1, 1}, {{0, 1}}), {4, 3, 2, 1});
    ExpectValues(Pad(Ravel(a), {1, 0}, PadMode::kConstant, Scalar{9}), {9, 1, 2, 3, 4});
    Sides<int64_t> widths = std::vector<std::vector<int64_t>>{{0, 1}, {1, 0}};
    ExpectValues(Pad(a, widths, PadMode::kEdge), {1, 1, 2, 3, 3, 4, 3, 3, 4});
    EXPECT_THROW(Pad(Ravel(a), widths), ValueError);
    std::vector<Array> grid = Meshgrid({Arange(2), Arange(3)}, MeshIndexing::kIj);
    ExpectValues(grid[0], {0, 0, 0, 1, 1, 1});
    ExpectValues(Tensordot(a, a, AxesPair{Axes{0, 1}, Axes{1, 0}}), {29});
}

TEST_F(OpsTest, CopyToConvertsWhatIsAllowed) {
    Array a = Zeros({3}, Dtype::kInt64);
    CopyTo(a, Scalar{2});
    ExpectValues(a, {2, 2, 2});
    Array x = MakeArray(Shape{3}, {1.5, 2.5, 3.5});
    EXPECT_THROW(CopyTo(a, x), DtypeError);
    EXPECT_THROW(CopyTo(a, x, Casting::kSameKind), DtypeError);
    CopyTo(a, x, Casting::kUnsafe, Greater(x, 2));
    ExpectValues(a, {2, 2, 3});
    CopyTo(a, Scalar{0}, Casting::kNo, false);
    ExpectValues(a, {2, 2, 3});
}

TEST_F(OpsTest, FromBufferReadsItems) {
    const float values[] = {1, 2, 3};
    HostBuffer buffer{reinterpret_cast<const char*>(values), sizeof(values)};
    ExpectValues(FromBuffer(buffer, std::nullopt, -1, 4), {2, 3});
    EXPECT_THROW(FromBuffer(buffer, Dtype::kFloat64), ValueError);
    EXPECT_THROW(FromBuffer(buffer, Dtype::kFloat32, 4), ValueError);
}

TEST_F(OpsTest, LinearTrainsAModel) {
    // y = 2 x - 1, by gradient descent.
    Array x = MakeArray(Shape{4, 1}, {-1, 0, 1, 2});
    Array t = MakeArray(Shape{4, 1}, {-3, -1, 1, 3});
    Array w = Zeros(Shape{1, 1}, Dtype::kFloat64);
    Array b = Zeros(Shape{1}, Dtype::kFloat64);
    w.RequireGrad();
    b.RequireGrad();
    for (int i = 0; i < 200; ++i) {
        w.ClearGrad();
        b.ClearGrad();
        Backward(Sum(SquaredError(Linear(x, w, b), t)));
        UpdateParameters(kSgdUpdate, {w, b, w.GetGrad(), b.GetGrad()}, {0.05});
    }
    ExpectValues(w, {2}, 1e-6);
    ExpectValues(b, {-1}, 1e-6);
}

TEST_F(OpsTest, SoftmaxCrossEntropy) {
    Array x = MakeArray(Shape{2, 2}, {0, 0, 1, 3});
    x.RequireGrad();
    Array t = FromHost(Shape{2}, Dtype::kInt64, std::vector<int64_t>{0, -1}.data());
    Array loss = SoftmaxCrossEntropy(x, t);
    ExpectValues(loss, {std::log(2.), 0});
    Backward(Sum(loss));
    ExpectValues(x.GetGrad(), {-0.5, 0.5, 0, 0});
    Array bad = FromHost(Shape{2}, Dtype::kInt64, std::vector<int64_t>{0, 2}.data());
    EXPECT_THROW(SoftmaxCrossEntropy(x, bad), ChainerxError);
}

TEST_F(OpsTest, ShapeErrors) {
    Array a = Zeros(Shape{2, 3}, Dtype::kFloat32);
    EXPECT_THROW(Reshape(a, Shape{4}), DimensionError);
    EXPECT_THROW(Matmul(a, a), DimensionError);
    EXPECT_THROW(Linear(a, Zeros(Shape{4, 2}, Dtype::kFloat32)), DimensionError);
    EXPECT_THROW(Concatenate({a, Zeros(Shape{2, 2}, Dtype::kFloat32)}, 0), DimensionError);
}

TEST_F(OpsTest, RandomNumbersOfAContext) {
    RandomGenerator& generator = GetDefaultContext().random_generator();
    auto draw = [] { return RandomNormal(Shape{3, 70}, 0, 1, Dtype::kFloat64); };
    generator.Seed(5);
    Array first = draw();
    Array second = draw();
    generator.Seed(5);
    auto same = [](const Array& a, const Array& b) {
        return std::equal(a.data<double>(), a.data<double>() + a.GetTotalSize(), b.data<double>());
    };
    EXPECT_TRUE(same(first, draw()));
    EXPECT_TRUE(same(second, draw()));
    EXPECT_FALSE(same(first, second));
    // A context of its own has a generator of its own.
    Context other;
    other.random_generator().Seed(5);
    EXPECT_TRUE(same(first, RandomNormal(Shape{3, 70}, 0, 1, Dtype::kFloat64, other.GetDevice("native"))));
    EXPECT_THROW(RandomIntegers(Shape{2}, 3, 3), ChainerxError);
}

TEST_F(OpsTest, DropoutDrawsTheSameNumbersInBackward) {
    Array x = Full(Shape{1000}, Scalar{2}, Dtype::kFloat64).RequireGrad();
    Array y = Dropout(x, 0.5);
    Backward(Sum(y));
    Array gx = x.GetGrad();
    for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(y.data<double>()[i], 2 * gx.data<double>()[i]);
}

TEST_F(OpsTest, Attention) {
    Array q = MakeArray(Shape{2, 1}, {0, 0});
    Array v = MakeArray(Shape{2, 1}, {1, 3});
    ExpectValues(ScaledDotProductAttention(q, q, v), {2, 2});
    ExpectValues(ScaledDotProductAttention(q, q, v, std::nullopt, std::nullopt, true), {1, 2});
    EXPECT_THROW(ScaledDotProductAttention(q, v, MakeArray(Shape{1, 1}, {1})), DimensionError);
}

}  // namespace
}  // namespace chainerx
