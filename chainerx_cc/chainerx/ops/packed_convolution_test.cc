#include "chainerx/ops/packed_convolution.h"

#include <cmath>
#include <vector>

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

class PackedConvolutionTest : public testing::ContextFixture {
protected:
    // Integers, of which all sums are exact.
    static Array Numbers(const Shape& shape, Dtype dtype) {
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

struct Case {
    Shape x;
    Shape w;
    int64_t stride;
    int64_t pad;
    int64_t dilate;
    int64_t groups;
};

TEST_F(PackedConvolutionTest, EqualsConvolution) {
    const Case cases[] = {
            {Shape{2, 3, 9, 8}, Shape{5, 3, 3, 3}, 1, 1, 1, 1},
            {Shape{1, 3, 20, 21}, Shape{4, 3, 7, 7}, 2, 3, 1, 1},
            {Shape{2, 4, 6, 7}, Shape{6, 4, 1, 1}, 1, 0, 1, 1},
            {Shape{2, 4, 9, 9}, Shape{6, 2, 3, 3}, 2, 2, 2, 2},
            {Shape{2, 4, 9, 9}, Shape{4, 1, 5, 5}, 1, 2, 1, 4},
            {Shape{0, 4, 9, 9}, Shape{4, 4, 3, 3}, 1, 1, 1, 1},
            {Shape{2, 3, 10}, Shape{4, 3, 3}, 1, 1, 1, 1},
            {Shape{1, 2, 4, 5, 6}, Shape{3, 2, 2, 2, 2}, 1, 0, 1, 1},
            {Shape{3, 5}, Shape{4, 5}, 1, 0, 1, 1},
    };
    for (Dtype dtype : {Dtype::kFloat16, Dtype::kFloat32, Dtype::kFloat64}) {
        for (const Case& c : cases) {
            Array x = Numbers(c.x, dtype);
            Array w = Numbers(c.w, dtype);
            Array b = Numbers(Shape{c.w[0]}, dtype);
            ConvOptions options;
            options.stride = c.stride;
            options.pad = c.pad;
            options.dilate = c.dilate;
            options.groups = c.groups;
            Array y = Conv(x, w, b, c.stride, c.pad, false, c.groups, c.dilate);
            PackedConvolution conv{w, b, options};
            EXPECT_EQ(conv.OutShape(x.shape()), y.shape());
            ExpectSame(conv(x), y);
            Array addend = Numbers(y.shape(), dtype);
            ExpectSame(conv(x, addend), y + addend);
            options.use_relu = true;
            ExpectSame((PackedConvolution{w, std::nullopt, options}(x)),
                       Relu(Conv(x, w, std::nullopt, c.stride, c.pad, false, c.groups, c.dilate)));
            ExpectSame((PackedConvolution{w, b, options}(x, addend)), Relu(y + addend));
        }
    }
}

TEST_F(PackedConvolutionTest, PadsEachSideByItsOwn) {
    Array x = Numbers(Shape{1, 2, 5, 6}, Dtype::kFloat32);
    Array w = Numbers(Shape{3, 2, 3, 3}, Dtype::kFloat32);
    ConvOptions options;
    options.pad = PerAxis{Shape{2, 0}};
    options.end_pad = PerAxis{Shape{1, 3}};
    Array padded = Zeros(Shape{1, 2, 8, 9}, Dtype::kFloat32);
    CopyData(x, At(padded, {Slice{}, Slice{}, Slice{2, 7, std::nullopt}, Slice{0, 6, std::nullopt}}));
    ExpectSame((PackedConvolution{w, std::nullopt, options}(x)), Conv(padded, w));
}

TEST_F(PackedConvolutionTest, TakesViewsAndKeepsNoReference) {
    Array x = Transpose(Numbers(Shape{6, 5, 3, 2}, Dtype::kFloat32));
    Array w = Transpose(Numbers(Shape{3, 3, 3, 4}, Dtype::kFloat32));
    Array b = Numbers(Shape{4}, Dtype::kFloat32);
    Array y = Conv(x, w, b);
    PackedConvolution conv{w, b};
    w += Scalar{1};
    b += Scalar{1};
    Array out = FilledArray(y.shape(), Scalar{NAN}, Dtype::kFloat32);
    conv.Run(x, out);
    ExpectSame(out, y);
}

TEST_F(PackedConvolutionTest, Errors) {
    Array x = Numbers(Shape{1, 4, 5, 5}, Dtype::kFloat32);
    Array w = Numbers(Shape{6, 2, 3, 3}, Dtype::kFloat32);
    ConvOptions options;
    options.groups = 2;
    PackedConvolution conv{w, std::nullopt, options};
    EXPECT_THROW((PackedConvolution{w, std::nullopt}(x)), DimensionError);
    EXPECT_THROW(conv(Numbers(Shape{1, 4, 5}, Dtype::kFloat32)), DimensionError);
    EXPECT_THROW(conv(Numbers(Shape{1, 4, 2, 5}, Dtype::kFloat32)), DimensionError);
    EXPECT_THROW(conv(AsType(x, Dtype::kFloat64)), DtypeError);
    EXPECT_THROW(conv(x, x), DimensionError);
    EXPECT_THROW(conv.Run(x, x), DimensionError);
    EXPECT_THROW(conv.Run(x, Transpose(Numbers(Shape{3, 3, 6, 1}, Dtype::kFloat32))), DimensionError);
    EXPECT_THROW((PackedConvolution{w, Numbers(Shape{5}, Dtype::kFloat32), options}), DimensionError);
    EXPECT_THROW((PackedConvolution{w, Numbers(Shape{6}, Dtype::kFloat64), options}), DtypeError);
    EXPECT_THROW((PackedConvolution{Numbers(Shape{6}, Dtype::kFloat32), std::nullopt}), DimensionError);
    options.groups = 4;
    EXPECT_THROW((PackedConvolution{w, std::nullopt, options}), DimensionError);
}

}  // namespace
}  // namespace chainerx
