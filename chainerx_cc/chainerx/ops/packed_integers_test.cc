#include "chainerx/ops/packed_integers.h"

#include <cmath>
#include <vector>

#include "chainerx/ops/quantization.h"
#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

class PackedIntegersTest : public testing::ContextFixture {
protected:
    static Array Numbers(const Shape& shape, Dtype dtype, int64_t seed = 1) {
        std::vector<double> values(shape.GetTotalSize());
        bool is_signed = dtype == Dtype::kInt8;
        for (size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<double>((static_cast<int64_t>(i) * 37 * seed + seed) % 256 - (is_signed ? 128 : 0));
        }
        return AsType(FromHost(shape, Dtype::kFloat64, values.data()), dtype);
    }

    static Array Wide(const Array& x) { return AsType(x, Dtype::kFloat64); }

    static void ExpectSame(const Array& actual, const Array& expected, Dtype dtype = Dtype::kInt32) {
        ASSERT_EQ(actual.shape(), expected.shape());
        ASSERT_EQ(actual.dtype(), dtype);
        testing::ExpectValues(actual, testing::GetValues(expected), dtype == Dtype::kInt32 ? 0 : 1e-2);
    }

    // Without kernels, for operations of others.
    void RemoveKernels() {
        Backend& backend = context_.GetDevice("native:0").backend();
        backend.SetKernel(kPackIntegersKernel, nullptr);
        backend.SetKernel(kQuantizeKernel, nullptr);
        backend.SetKernel(kDequantizeKernel, nullptr);
        backend.SetKernel(kQuantizeDynamicallyKernel, nullptr);
    }

    void CheckProducts() {
        struct Case {
            Shape a;
            Shape b;
        };
        const Case cases[] = {
                {Shape{1, 1}, Shape{1, 1}},
                {Shape{3, 5}, Shape{5, 7}},
                {Shape{17, 33}, Shape{33, 49}},
                {Shape{2, 3, 4}, Shape{4, 5}},
                {Shape{6}, Shape{6, 4}},
                {Shape{2, 6}, Shape{6}},
                {Shape{2, 1, 3, 4}, Shape{5, 4, 2}},
                {Shape{4}, Shape{3, 4, 2}},
                {Shape{0, 4}, Shape{4, 3}},
                {Shape{3, 0}, Shape{0, 4}},
                {Shape{3, 4}, Shape{4, 0}},
                {Shape{0, 2, 3}, Shape{0, 3, 4}},
                {Shape{int64_t{1} << 40, 0, 3}, Shape{1, 3, 4}},
        };
        for (Dtype a_dtype : {Dtype::kInt8, Dtype::kUInt8}) {
            for (Dtype b_dtype : {Dtype::kInt8, Dtype::kUInt8}) {
                for (const Case& c : cases) {
                    Array a = Numbers(c.a, a_dtype);
                    Array b = Numbers(c.b, b_dtype, 3);
                    Array a_zero = Numbers(Shape{}, a_dtype, 5);
                    Array b_zero = Numbers(Shape{1}, b_dtype, 7);
                    ExpectSame(IntegerMatmul(a, b), Matmul(Wide(a), Wide(b)));
                    ExpectSame(IntegerMatmul(a, b, a_zero, b_zero),
                               Matmul(Wide(a) - Wide(a_zero), Wide(b) - Wide(b_zero)));
                }
                Array a = Numbers(Shape{2, 3, 4}, a_dtype);
                Array b = Numbers(Shape{2, 4, 5}, b_dtype);
                Array rows = Numbers(Shape{3}, a_dtype, 5);
                Array columns = Numbers(Shape{2, 1, 5}, b_dtype, 9);
                ExpectSame(IntegerMatmul(a, b, rows, columns),
                           Matmul(Wide(a) - Wide(Reshape(rows, Shape{3, 1})), Wide(b) - Wide(columns)));
            }
        }
    }

    void CheckEpilogue() {
        Array a = Numbers(Shape{2, 5, 19}, Dtype::kUInt8);
        Array b = Numbers(Shape{19, 37}, Dtype::kInt8, 3);
        Array zero = Numbers(Shape{}, Dtype::kUInt8, 5);
        Array columns = AsType(Numbers(Shape{37}, Dtype::kInt8, 9), Dtype::kFloat32);
        Array one = Full(Shape{}, Scalar{0.25}, Dtype::kFloat32);
        Array product = Matmul(Wide(a) - Wide(zero), Wide(b));
        for (const Array& scale : {one, Reshape(one, Shape{1}), columns}) {
            for (bool has_bias : {false, true}) {
                for (bool use_relu : {false, true}) {
                    Array y = PackedIntegerMatrix{b}(a, zero, {one, scale, has_bias ? columns : Array{}, use_relu});
                    Array expected = product * Wide(one) * Wide(scale);
                    if (has_bias) expected = expected + Wide(columns);
                    ExpectSame(y, use_relu ? Relu(expected) : expected, Dtype::kFloat32);
                }
            }
        }
    }

    static void CheckDynamicQuantization() {
        Array x = testing::MakeArray(Shape{2, 3}, {-1.5, 0, 0.25, 3, -0.125, 1});
        DynamicallyQuantized q = QuantizeDynamically(AsType(x, Dtype::kFloat32));
        double scale = testing::GetValues(q.scale)[0];
        EXPECT_NEAR(scale, 4.5 / 255, 1e-8);
        EXPECT_EQ(testing::GetValues(q.zero)[0], 85);
        ASSERT_EQ(q.y.shape(), x.shape());
        for (int i = 0; i < 6; ++i) {
            EXPECT_EQ(testing::GetValues(q.y)[i], std::nearbyint(testing::GetValues(x)[i] / scale) + 85);
        }
        q = QuantizeDynamically(Zeros(Shape{0, 3}, Dtype::kFloat32));
        EXPECT_EQ(q.y.shape(), (Shape{0, 3}));
        EXPECT_EQ(testing::GetValues(q.scale)[0], 1);
        EXPECT_THROW(QuantizeDynamically(x), DtypeError);
        for (Dtype dtype : {Dtype::kInt8, Dtype::kUInt8}) {
            Array half = Full(Shape{}, Scalar{0.5}, Dtype::kFloat32);
            Array three = Full(Shape{1}, Scalar{3}, dtype);
            x = AsType(testing::MakeArray(Shape{6}, {0, 0.25, -0.75, 0.75, 1e30, -1e30}), Dtype::kFloat32);
            double least = dtype == Dtype::kInt8 ? -128 : 0;
            Array y = QuantizeBytes(x, half, three);
            ExpectSame(AsType(y, Dtype::kInt32), testing::MakeArray(Shape{6}, {3, 3, 1, 5, least + 255, least}));
            ExpectSame(DequantizeBytes(y, half, three), (Wide(y) - Scalar{3.0}) * Scalar{0.5}, Dtype::kFloat32);
            EXPECT_THROW(QuantizeBytes(x, Wide(half), three), DtypeError);
            EXPECT_THROW(QuantizeBytes(x, half, half), DtypeError);
            EXPECT_THROW(QuantizeBytes(x, x, three), DimensionError);
            EXPECT_THROW(DequantizeBytes(y, half, Zeros(Shape{2}, dtype)), DimensionError);
            EXPECT_THROW(DequantizeBytes(x, half, three), DtypeError);
        }
    }
};

TEST_F(PackedIntegersTest, Products) {
    CheckProducts();
    RemoveKernels();
    CheckProducts();
}

TEST_F(PackedIntegersTest, Epilogue) {
    CheckEpilogue();
    RemoveKernels();
    CheckEpilogue();
}

TEST_F(PackedIntegersTest, DynamicQuantization) {
    CheckDynamicQuantization();
    RemoveKernels();
    CheckDynamicQuantization();
}

TEST_F(PackedIntegersTest, TakesViewsAndKeepsNoReference) {
    Array a = Transpose(Numbers(Shape{6, 5, 3}, Dtype::kUInt8));
    Array rows = At(Numbers(Shape{12, 8}, Dtype::kInt8), {Slice{0, 12, 2}, Slice{1, 8, std::nullopt}});
    Array columns = At(Numbers(Shape{6, 14}, Dtype::kInt8), {Slice{}, Slice{13, std::nullopt, -2}});
    for (const Array& b : {Transpose(Numbers(Shape{7, 6}, Dtype::kInt8)), rows, columns}) {
        Array y = Matmul(Wide(a), Wide(b));
        PackedIntegerMatrix packed{b};
        b += Scalar{1};
        ExpectSame(packed(a), y);
    }
}

TEST_F(PackedIntegersTest, Errors) {
    Array b = Numbers(Shape{4, 3}, Dtype::kInt8);
    Array one = Ones(Shape{}, Dtype::kFloat32);
    PackedIntegerMatrix packed{b};
    EXPECT_THROW(packed(Numbers(Shape{2, 3}, Dtype::kInt8)), DimensionError);
    EXPECT_THROW(packed(Numbers(Shape{}, Dtype::kInt8)), DimensionError);
    EXPECT_THROW(packed(Zeros(Shape{2, 4}, Dtype::kFloat32)), DtypeError);
    Array a = Numbers(Shape{2, 4}, Dtype::kUInt8);
    EXPECT_THROW(packed(a, Zeros(Shape{}, Dtype::kInt8)), DtypeError);
    EXPECT_THROW(packed(a, Zeros(Shape{3}, Dtype::kUInt8)), DimensionError);
    EXPECT_THROW(packed(a, Zeros(Shape{0}, Dtype::kUInt8)), DimensionError);
    EXPECT_THROW((PackedIntegerMatrix{Numbers(Shape{4}, Dtype::kInt8)}), DimensionError);
    EXPECT_THROW((PackedIntegerMatrix{Zeros(Shape{4, 3}, Dtype::kInt32)}), DtypeError);
    EXPECT_THROW((PackedIntegerMatrix{b, Zeros(Shape{4}, Dtype::kInt8)}), DimensionError);
    EXPECT_THROW(packed(a, std::nullopt, {one, Ones(Shape{2}, Dtype::kFloat32), Array{}}), DimensionError);
    EXPECT_THROW(packed(a, std::nullopt, {Ones(Shape{2}, Dtype::kFloat32), one, Array{}}), DimensionError);
    EXPECT_THROW(packed(a, std::nullopt, {one, Ones(Shape{}, Dtype::kFloat64), Array{}}), DtypeError);
    EXPECT_THROW(packed(a, std::nullopt, {one, one, Ones(Shape{2}, Dtype::kFloat32)}), DimensionError);
}

}  // namespace
}  // namespace chainerx
