#include <memory>
#include <new>
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
    // Rows and columns in the order of the enumerators.
    const char* expected[kNumDtypes] = {
            "?bhilBHILeEfdFD", "bbhilhildeEfdFD", "hhhilhildeEfdFD", "iiiiliildeEfdFD", "lllllllldeEfdFD",
            "BhhilBHILeEfdFD", "HiiilHHILeEfdFD", "IllllIIILeEfdFD", "LddddLLLLeEfdFD", "eeeeeeeeeeffdFD",
            "EEEEEEEEEfEfdFD", "ffffffffffffdFD", "dddddddddddddDD", "FFFFFFFFFFFFDFD", "DDDDDDDDDDDDDDD",
    };
    for (int i = 0; i < kNumDtypes; ++i) {
        for (int j = 0; j < kNumDtypes; ++j) {
            Dtype promoted = PromoteTypes(static_cast<Dtype>(i), static_cast<Dtype>(j));
            EXPECT_EQ(expected[i][j], GetCharCode(promoted)) << static_cast<Dtype>(i) << ' ' << static_cast<Dtype>(j);
        }
    }
    EXPECT_EQ(Dtype::kFloat32, PromoteWithScalar(Dtype::kInt64, DtypeKind::kFloat));
    EXPECT_EQ(Dtype::kFloat16, PromoteWithScalar(Dtype::kFloat16, DtypeKind::kFloat));
    EXPECT_EQ(Dtype::kBfloat16, PromoteWithScalar(Dtype::kBfloat16, DtypeKind::kFloat));
    EXPECT_EQ(Dtype::kComplex64, PromoteWithScalar(Dtype::kFloat16, DtypeKind::kComplex));
    EXPECT_EQ(Dtype::kComplex128, PromoteWithScalar(Dtype::kFloat64, DtypeKind::kComplex));
    EXPECT_EQ(Dtype::kInt8, PromoteWithScalar(Dtype::kInt8, DtypeKind::kInt));
    Array sum = Ones(Shape{2}, Dtype::kFloat32) + Scalar{0.5};
    EXPECT_EQ(Dtype::kFloat32, sum.dtype());
    Array mask = Ones(Shape{2}, Dtype::kBool);
    EXPECT_EQ(Dtype::kInt64, (mask + Scalar{2}).dtype());
    EXPECT_EQ(Dtype::kBool, (mask * Scalar{2}).dtype());
    EXPECT_THROW(mask *= Scalar{2}, DtypeError);
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

int g_ended_backends;

// Tells when its context ends.
class EndingBackend final : public Backend {
public:
    explicit EndingBackend(Context& context) : Backend{context, "ending"} {}
    ~EndingBackend() override { ++g_ended_backends; }
    int GetDeviceCount() const override { return 0; }

protected:
    std::unique_ptr<Device> CreateDevice(int) override { return nullptr; }
};

ContextPtr MakeEndingContext() {
    RegisterBackend("ending", [](Context& context) -> std::unique_ptr<Backend> {
        return std::make_unique<EndingBackend>(context);
    });
    g_ended_backends = 0;
    ContextPtr context = Context::MakeShared();
    context->GetBackend("ending");
    return context;
}

TEST_F(CoreTest, SharedContextsEndWithTheirLastUser) {
    ContextPtr context = MakeEndingContext();
    Array a = Ones(Shape{3}, Dtype::kFloat64, context->GetDevice("native:1"));
    Array b = ToDevice(a, context->GetDevice("native:0"));
    context->Close();
    context = nullptr;
    a = a * a;
    EXPECT_EQ(0, g_ended_backends);
    a = Array{};
    ExpectValues(b + b, {2, 2, 2});
    EXPECT_EQ(0, g_ended_backends);
    b = Array{};
    EXPECT_EQ(1, g_ended_backends);
}

TEST_F(CoreTest, ThreadsKeepTheirDefaultContext) {
    ContextPtr context = MakeEndingContext();
    std::thread{[&] {
        SetDefaultContext(context.get());
        std::thread{[&] {
            context->Close();
            context = nullptr;
        }}.join();
        EXPECT_EQ("native:0", GetDefaultDevice().name());
        ExpectValues(Ones(Shape{2}, Dtype::kFloat64), {1, 1});
        EXPECT_EQ(0, g_ended_backends);
    }}.join();
    EXPECT_EQ(1, g_ended_backends);
}

TEST_F(CoreTest, ScopesKeepTheirContexts) {
    ContextPtr context = MakeEndingContext();
    std::thread{[&] {
        auto outer = std::make_unique<ContextScope>(*context);
        auto device = std::make_unique<DeviceScope>(context->GetDevice("native:1"));
        auto mode = std::make_unique<NoBackpropModeScope>(*context);
        auto inner = std::make_unique<ContextScope>(context_);
        context = nullptr;
        outer = nullptr;
        EXPECT_EQ(0, g_ended_backends);
        inner = nullptr;
        device = nullptr;
        mode = nullptr;
        SetDefaultContext(nullptr);
        EXPECT_EQ(1, g_ended_backends);
    }}.join();
}

TEST_F(CoreTest, DeviceOfAnotherContextIsNotRestored) {
    Context other;
    SetDefaultDevice(&context_.GetDevice("native:1"));
    {
        ContextScope scope{other};
        SetDefaultDevice(&other.GetDevice("native:2"));
        {
            DeviceScope device{other.GetDevice("native:3")};
            SetDefaultContext(&context_);
        }
        EXPECT_EQ(&context_.GetDevice("native:0"), &GetDefaultDevice());
    }
    EXPECT_EQ(&context_.GetDevice("native:1"), &GetDefaultDevice());
}

TEST_F(CoreTest, MemoryErrorsSayHowMuchAndWhere) {
    try {
        Empty(Shape{int64_t{1} << 60}, Dtype::kInt8);
        FAIL();
    } catch (const std::bad_alloc& e) {
        EXPECT_STREQ("cannot allocate 1152921504606846976 bytes of memory on device 'native:0'", e.what());
    }
}

}  // namespace
}  // namespace chainerx
