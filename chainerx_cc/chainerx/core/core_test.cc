#include <thread>

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

using testing::ExpectValues;
using testing::MakeArray;

class CoreTest : public testing::ContextFixture {};

TEST_F(CoreTest, ArrayAttributes) {
    Array a = Zeros(Shape{2, 3}, Dtype::kFloat32);
    EXPECT_EQ((Shape{2, 3}), a.shape());
    EXPECT_EQ((Strides{12, 4}), a.strides());
    EXPECT_EQ(6, a.GetTotalSize());
    EXPECT_EQ(24, a.GetNBytes());
    EXPECT_EQ(2, a.ndim());
    EXPECT_TRUE(a.IsContiguous());
    EXPECT_EQ("native:0", a.device().name());
    EXPECT_EQ(&context_, &a.context());
}

TEST_F(CoreTest, EmptyAndScalarArrays) {
    EXPECT_EQ(0, Zeros(Shape{2, 0}, Dtype::kInt8).GetTotalSize());
    Array scalar = Full(Shape{}, Scalar{3.5}, Dtype::kFloat64);
    EXPECT_EQ(1, scalar.GetTotalSize());
    ExpectValues(scalar, {3.5});
}

TEST_F(CoreTest, ViewsShareMemory) {
    Array a = Arange(Scalar{0}, Scalar{6}, Scalar{1}, Dtype::kFloat64);
    Array b = Transpose(Reshape(a, Shape{2, 3}));
    EXPECT_EQ(a.raw_data(), b.raw_data());
    EXPECT_FALSE(b.IsContiguous());
    ExpectValues(b, {0, 3, 1, 4, 2, 5});
    Fill(a, Scalar{7});
    ExpectValues(b, {7, 7, 7, 7, 7, 7});
}

TEST_F(CoreTest, Indexing) {
    Array a = Reshape(Arange(Scalar{0}, Scalar{6}, Scalar{1}, Dtype::kInt64), Shape{2, 3});
    ExpectValues(At(a, {int64_t{-1}}), {3, 4, 5});
    EXPECT_THROW(At(a, {int64_t{2}}), ChainerxError);
    EXPECT_THROW(At(a, {int64_t{0}, int64_t{0}, int64_t{0}}), ChainerxError);
}

TEST_F(CoreTest, Dtypes) {
    EXPECT_EQ(Dtype::kFloat64, PromoteTypes(Dtype::kFloat32, Dtype::kInt64));
    EXPECT_EQ(Dtype::kInt16, PromoteTypes(Dtype::kInt8, Dtype::kUInt8));
    EXPECT_EQ(Dtype::kFloat16, PromoteTypes(Dtype::kFloat16, Dtype::kBool));
    Array sum = Ones(Shape{2}, Dtype::kFloat32) + Scalar{0.5};
    EXPECT_EQ(Dtype::kFloat32, sum.dtype());
}

TEST_F(CoreTest, Devices) {
    Device& one = context_.GetDevice("native:1");
    EXPECT_EQ(1, one.index());
    EXPECT_EQ(&context_.GetDevice("native"), &context_.GetDevice("native:0"));
    EXPECT_THROW(context_.GetDevice("native:4"), IndexError);
    EXPECT_THROW(context_.GetDevice("native:x"), ChainerxError);
    EXPECT_THROW(context_.GetBackend("nothing"), BackendError);
    {
        DeviceScope scope{one};
        EXPECT_EQ(&one, &Zeros(Shape{1}, Dtype::kFloat32).device());
    }
    EXPECT_EQ(0, GetDefaultDevice().index());
}

TEST_F(CoreTest, DefaultDeviceBelongsToTheThread) {
    DeviceScope scope{context_.GetDevice("native:2")};
    std::thread([this] {
        ContextScope inner{context_};
        EXPECT_EQ(0, GetDefaultDevice().index());
    }).join();
    EXPECT_EQ(2, GetDefaultDevice().index());
}

TEST_F(CoreTest, ArraysOfDifferentDevicesDoNotMix) {
    Array a = Ones(Shape{2}, Dtype::kFloat32);
    Array b = ToDevice(a, context_.GetDevice("native:1"));
    EXPECT_THROW(a + b, DeviceError);
    ExpectValues(ToDevice(b, a.device()) + a, {2, 2});
}

TEST_F(CoreTest, BroadcastErrorsNameShapes) {
    try {
        Ones(Shape{2}, Dtype::kFloat32) + Ones(Shape{3}, Dtype::kFloat32);
        FAIL();
    } catch (const DimensionError& e) {
        EXPECT_NE(std::string::npos, std::string{e.what()}.find("(2,)")) << e.what();
        EXPECT_NE(std::string::npos, std::string{e.what()}.find("(3,)")) << e.what();
    }
}

}  // namespace
}  // namespace chainerx
