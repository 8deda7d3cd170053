#include "chainerx/ops/packed_linear.h"

#include <vector>

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

class PackedLinearTest : public testing::ContextFixture {
protected:
    // Integers, of which all sums are exact.
    static Array Numbers(const Shape& shape, Dtype dtype = Dtype::kFloat32) {
        std::vector<double> values(shape.GetTotalSize());
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>((i * 7 + i / 5) % 11) - 5;
        return AsType(FromHost(shape, Dtype::kFloat64, values.data()), dtype);
    }

    static void ExpectSame(const Array& actual, const Array& expected) {
        ASSERT_EQ(actual.shape(), expected.shape());
        ASSERT_EQ(actual.dtype(), expected.dtype());
        testing::ExpectValues(actual, testing::GetValues(expected));
    }
};

TEST_F(PackedLinearTest, EqualsMatmul) {
    struct Case {
        Shape x;
        int64_t columns;
    };
    const Case cases[] = {
            {Shape{1, 1}, 1},    {Shape{3, 5}, 7},    {Shape{17, 33}, 49},    {Shape{100, 20}, 100},
            {Shape{9, 600}, 10}, {Shape{2, 3, 4}, 5}, {Shape{2, 1, 3, 4}, 6}, {Shape{6}, 4},
            {Shape{0, 4}, 3},    {Shape{3, 0}, 4},    {Shape{3, 4}, 0},
    };
    for (Dtype dtype : {Dtype::kFloat16, Dtype::kFloat32, Dtype::kFloat64}) {
        for (const Case& c : cases) {
            Array x = Numbers(c.x, dtype);
            Array w = Numbers(Shape{c.x.back(), c.columns}, dtype);
            Array b = Numbers(Shape{c.columns}, dtype);
            Array y = Matmul(x, w);
            ExpectSame((PackedLinear{w, std::nullopt}(x)), y);
            ExpectSame((PackedLinear{w, b}(x)), y + b);
            ExpectSame((PackedLinear{w, std::nullopt, true}(x)), Relu(y));
            ExpectSame((PackedLinear{w, b, true}(x)), Relu(y + b));
        }
    }
}

TEST_F(PackedLinearTest, TakesViewsAndKeepsNoReference) {
    Array x = Transpose(Numbers(Shape{6, 5, 3}));
    Array rows = At(Numbers(Shape{12, 8}), {Slice{0, 12, 2}, Slice{1, 8, std::nullopt}});
    Array columns = At(Numbers(Shape{6, 14}), {Slice{}, Slice{13, std::nullopt, -2}});
    Array b = At(Numbers(Shape{14}), {Slice{0, 14, 2}});
    for (const Array& w : {Transpose(Numbers(Shape{7, 6})), rows, columns}) {
        Array y = Matmul(x, w) + b;
        PackedLinear linear{w, b};
        w += Scalar{1};
        b += Scalar{1};
        ExpectSame(linear(x), y);
        b -= Scalar{1};
    }
}

TEST_F(PackedLinearTest, Errors) {
    Array w = Numbers(Shape{4, 3});
    PackedLinear linear{w, std::nullopt};
    EXPECT_THROW(linear(Numbers(Shape{2, 3})), DimensionError);
    EXPECT_THROW(linear(Numbers(Shape{})), DimensionError);
    EXPECT_THROW(linear(Numbers(Shape{2, 4}, Dtype::kFloat64)), DtypeError);
    EXPECT_THROW((PackedLinear{Numbers(Shape{4}), std::nullopt}), DimensionError);
    EXPECT_THROW((PackedLinear{w, Numbers(Shape{4})}), DimensionError);
    EXPECT_THROW((PackedLinear{w, Numbers(Shape{3}, Dtype::kFloat64)}), DtypeError);
}

}  // namespace
}  // namespace chainerx
