#include "chainerx/ops/packed_blocks.h"

#include <cmath>
#include <optional>
#include <vector>

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

class PackedBlocksTest : public testing::ContextFixture {
protected:
    // Integers from `least` on
    static Array Integers(const Shape& shape, Dtype dtype, int least, int count) {
        std::vector<double> values(shape.GetTotalSize());
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * 37 % count) + least;
        return AsType(FromHost(shape, Dtype::kFloat64, values.data()), dtype);
    }

    static Array Numbers(const Shape& shape, Dtype dtype = Dtype::kFloat32) {
        std::vector<double> values(shape.GetTotalSize());
        for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i + 1));
        return AsType(FromHost(shape, Dtype::kFloat64, values.data()), dtype);
    }

    static void Check(const Array& q, const Array& scales, const std::optional<Array>& zeros, int64_t block) {
        int64_t inner = q.shape()[1];
        int64_t columns = q.shape()[0];
        Array w = Transpose(DecodeBlocks(q, scales, zeros, block));
        BlockEpilogue epilogue{Numbers(Shape{columns}), true, false};
        for (const Shape& shape : {Shape{1, inner}, Shape{2, 3, inner}, Shape{inner}, Shape{0, inner}}) {
            Array x = Numbers(shape);
            Array y = PackedBlockMatrix{q, scales, zeros, block}(x);
            testing::ExpectValues(y, testing::GetValues(Matmul(x, w)), 1e-2);
            Array rectified = PackedBlockMatrix{q, scales, zeros, block, epilogue}(x);
            testing::ExpectValues(rectified, testing::GetValues(Relu(Matmul(x, w) + epilogue.bias)), 1e-2);
        }
    }

    static void CheckProducts() {
        struct Case {
            int64_t columns;
            int64_t inner;
            int64_t block;
        };
        for (const Case& s : {Case{7, 64, 32}, Case{50, 33, 16}, Case{3, 5, 100}, Case{2, 9, 1}, Case{4, 0, 2}}) {
            for (int bits : {4, 8}) {
                for (Dtype dtype : {Dtype::kInt8, Dtype::kUInt8}) {
                    int levels = 1 << bits;
                    int least = dtype == Dtype::kInt8 ? -levels / 2 : 0;
                    Shape blocks{s.columns, (s.inner + s.block - 1) / s.block};
                    Array q = Integers(Shape{s.columns, s.inner}, dtype, least, levels);
                    Check(q, Numbers(blocks), std::nullopt, s.block);
                    Check(q, Numbers(blocks), Integers(blocks, dtype, least, levels), s.block);
                    Check(q, Numbers(blocks), Numbers(blocks), s.block);
                    // Few integers with zero points of any size, and another order in memory
                    Array any = Integers(blocks, dtype, dtype == Dtype::kInt8 ? -128 : 0, 256);
                    Array turned = Transpose(AsContiguous(Transpose(q)));
                    Check(turned, AsType(Numbers(blocks), Dtype::kFloat64), any, s.block);
                }
            }
        }
    }
};

TEST_F(PackedBlocksTest, Decodes) {
    Array q = Integers(Shape{2, 3}, Dtype::kUInt8, 0, 256);  // 0 37 74, 111 148 185
    std::vector<float> units{1, 2, 3, 4};
    Array scales = FromHost(Shape{2, 2}, Dtype::kFloat32, units.data());
    Array zeros = Integers(Shape{2, 2}, Dtype::kUInt8, 100, 1);
    testing::ExpectValues(DecodeBlocks(q, scales, zeros, 2), {-100, -63, -52, 33, 144, 340}, 0);
    testing::ExpectValues(DecodeBlocks(q, scales, std::nullopt, 2), {0, 37, 148, 333, 444, 740}, 0);
}

TEST_F(PackedBlocksTest, Products) { CheckProducts(); }

TEST_F(PackedBlocksTest, WithoutKernel) {
    context_.GetDevice("native:0").backend().SetKernel(kPackBlocksKernel, nullptr);
    CheckProducts();
}

TEST_F(PackedBlocksTest, DtypesOfX) {
    Array q = Integers(Shape{6, 32}, Dtype::kInt8, -8, 16);
    PackedBlockMatrix matrix{q, Numbers(Shape{6, 2}), std::nullopt, 16};
    for (Dtype dtype : {Dtype::kFloat16, Dtype::kFloat32, Dtype::kFloat64}) {
        Array x = Numbers(Shape{2, 32}, dtype);
        Array y = matrix(x);
        EXPECT_EQ(y.dtype(), dtype);
        Array expected = matrix(AsType(x, Dtype::kFloat32));
        testing::ExpectValues(y, testing::GetValues(AsType(expected, dtype)), 0);
    }
}

TEST_F(PackedBlocksTest, Errors) {
    Array q = Integers(Shape{6, 32}, Dtype::kInt8, -8, 16);
    Array scales = Numbers(Shape{6, 2});
    auto pack = [&](const Array& integers, const Array& units, const std::optional<Array>& zeros, int64_t block) {
        PackedBlockMatrix{integers, units, zeros, block};
    };
    EXPECT_THROW(pack(AsType(q, Dtype::kInt32), scales, std::nullopt, 16), DtypeError);
    EXPECT_THROW(pack(Reshape(q, Shape{6, 4, 8}), scales, std::nullopt, 16), DimensionError);
    EXPECT_THROW(pack(q, scales, std::nullopt, 0), ChainerxError);
    EXPECT_THROW(pack(q, scales, std::nullopt, 8), DimensionError);
    EXPECT_THROW(pack(q, AsType(scales, Dtype::kInt32), std::nullopt, 16), DtypeError);
    EXPECT_THROW(pack(q, scales, AsType(scales, Dtype::kUInt8), 16), DtypeError);
    EXPECT_THROW(pack(q, scales, Numbers(Shape{6}), 16), DimensionError);
    EXPECT_THROW((PackedBlockMatrix{q, scales, std::nullopt, 16, {Numbers(Shape{5}), false, false}}), DimensionError);
    PackedBlockMatrix matrix{q, scales, std::nullopt, 16};
    EXPECT_THROW(matrix(Numbers(Shape{2, 31})), DimensionError);
    EXPECT_THROW(matrix(Numbers(Shape{})), DimensionError);
    EXPECT_THROW(matrix(Integers(Shape{2, 32}, Dtype::kInt32, 0, 9)), DtypeError);
}

}  // namespace
}  // namespace chainerx
