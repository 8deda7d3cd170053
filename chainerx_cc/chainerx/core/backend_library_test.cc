#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "chainerx/testing/context_fixture.h"

namespace chainerx {
namespace {

using testing::ExpectValues;
using testing::MakeArray;

// CHAINERX_TEST_PATH has the sample backend and faulty ones.
class BackendLibraryTest : public testing::ContextFixture {
protected:
    void SetUp() override {
        ContextFixture::SetUp();
        setenv("CHAINERX_PATH", (std::string{"/no/such/folder::"} + CHAINERX_TEST_PATH).c_str(), 1);
    }
    void TearDown() override {
        unsetenv("CHAINERX_PATH");
        ContextFixture::TearDown();
    }

    template <class Error, class F>
    static std::string GetError(F&& f) {
        try {
            f();
        } catch (const Error& e) {
            return e.what();
        }
        ADD_FAILURE() << "nothing was thrown";
        return "";
    }
    static void ExpectContains(const std::string& text, const std::string& part) {
        EXPECT_NE(std::string::npos, text.find(part)) << text;
    }

    Array OnSample(const std::vector<double>& values) {
        return ToDevice(MakeArray(Shape{static_cast<int64_t>(values.size())}, values), context_.GetDevice("sample:0"));
    }
};

TEST_F(BackendLibraryTest, Loading) {
    Backend& sample = context_.GetBackend("sample");
    EXPECT_EQ("sample", sample.name());
    EXPECT_EQ(&context_, &sample.context());
    EXPECT_EQ(&sample, &context_.GetBackend("sample"));
    EXPECT_EQ("sample:1", context_.GetDevice("sample:1").name());
    EXPECT_THROW(context_.GetDevice("sample:2"), IndexError);
    Context other;
    EXPECT_NE(&sample, &other.GetBackend("sample"));
}

TEST_F(BackendLibraryTest, LoadingInManyThreads) {
    std::vector<Backend*> backends(4);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < backends.size(); ++i) {
        threads.emplace_back([this, i, &backends] {
            EXPECT_THROW(context_.GetBackend("faulty3"), BackendError);
            backends[i] = &context_.GetBackend("sample");
            Context other;
            EXPECT_EQ(2, other.GetBackend("sample").GetDeviceCount());
        });
    }
    for (std::thread& t : threads) t.join();
    for (Backend* b : backends) EXPECT_EQ(&context_.GetBackend("sample"), b);
}

TEST_F(BackendLibraryTest, Computing) {
    DeviceScope scope{context_.GetDevice("sample:0")};
    Array a = Ones(Shape{2, 3}, Dtype::kFloat32);
    Array b = Transpose(a * Scalar{2} + a) / Scalar{2};
    EXPECT_EQ("sample:0", b.device().name());
    ExpectValues(ToDevice(Sum(b, Axes{0}), context_.GetDevice("native")), {4.5, 4.5});
    ExpectValues(ToDevice(AsType(b, Dtype::kFloat64), context_.GetDevice("native")), {1.5, 1.5, 1.5, 1.5, 1.5, 1.5});
}

TEST_F(BackendLibraryTest, Gradients) {
    Array x = MakeArray(Shape{2}, {1, 2});
    x.RequireGrad();
    Array y = ToDevice(x, context_.GetDevice("sample:0"));
    Array loss = ToDevice(Sum(y * y - y * OnSample({5, 7})), x.device());
    BackwardOptions record;
    record.enable_double_backprop = true;
    Backward(loss, std::nullopt, record);
    ExpectValues(x.GetGrad(), {-3, -3});
    Array gg = Grad({Sum(x.GetGrad())}, {x})[0];
    ExpectValues(gg, {2, 2});
    x.ClearGrad();
}

TEST_F(BackendLibraryTest, Devices) {
    Array a = OnSample({1, 2});
    Array b = ToDevice(a, context_.GetDevice("sample:1"));
    EXPECT_EQ("sample:1", b.device().name());
    ExpectValues(ToDevice(b, context_.GetDevice("native:1")), {1, 2});
    EXPECT_THROW(a + b, DeviceError);
    EXPECT_THROW(a + MakeArray(Shape{2}, {1, 2}), DeviceError);
}

TEST_F(BackendLibraryTest, MissingKernels) {
    Array a = OnSample({1, 2});
    for (const auto& [name, f] : std::vector<std::pair<std::string, std::function<void()>>>{
                 {"exp", [&] { Exp(a); }},
                 {"matmul", [&] { Dot(a, a); }},
                 {"add", [&] { Zeros(Shape{2}, Dtype::kInt8, a.device()) + Scalar{1}; }}}) {
        ExpectContains(GetError<NotImplementedError>(f), "backend 'sample' has no kernel for '" + name + "'");
    }
}

TEST_F(BackendLibraryTest, UnknownNamesSayWhereWasSearched) {
    for (const char* name : {"nowhere", "", "../backends/sample"}) {
        std::string error = GetError<BackendError>([&] { context_.GetBackend(name); });
        ExpectContains(error, std::string{"unknown backend '"} + name + "' (available: native");
        ExpectContains(error, std::string{"/no/such/folder/backends/"} + name + ".so");
        ExpectContains(error, std::string{CHAINERX_TEST_PATH} + "/backends/" + name + ".so");
    }
    unsetenv("CHAINERX_PATH");
    ExpectContains(GetError<BackendError>([&] { context_.GetBackend("nowhere"); }), "/.chainerx/backends/nowhere.so");
}

TEST_F(BackendLibraryTest, UnusableLibraries) {
    const char* reasons[] = {"compiled for another version of ChainerX",
                             "does not export the function CreateBackend",
                             "CreateBackend failed: no driver",
                             "CreateBackend failed",
                             "returned no backend",
                             "its backend has the name 'other'",
                             "belongs to another context",
                             "asked for itself"};
    Context global;
    SetGlobalDefaultContext(&global);
    for (int i = 1; i <= 8; ++i) {
        std::string name = "faulty" + std::to_string(i);
        for (int turn = 0; turn < 2; ++turn) {
            std::string error = GetError<BackendError>([&] { context_.GetBackend(name); });
            ExpectContains(error, "backends/" + name + ".so cannot be used: ");
            ExpectContains(error, reasons[i - 1]);
        }
    }
    EXPECT_THROW(context_.GetBackend("faulty9").GetDevice(0), std::runtime_error);
    EXPECT_THROW(context_.GetDevice("faulty9:0"), std::runtime_error);
}

TEST_F(BackendLibraryTest, RegisteredFactories) {
    RegisterBackend("mine", [](Context& context) -> std::unique_ptr<Backend> {
        class Mine final : public Backend {
        public:
            explicit Mine(Context& c) : Backend{c, "mine"} {}
            int GetDeviceCount() const override { return 0; }

        protected:
            std::unique_ptr<Device> CreateDevice(int) override { return nullptr; }
        };
        return std::make_unique<Mine>(context);
    });
    EXPECT_EQ("mine", context_.GetBackend("mine").name());
    EXPECT_THROW(context_.GetDevice("mine:0"), IndexError);
    ExpectContains(GetError<BackendError>([&] { context_.GetBackend("nowhere"); }), "mine, native");
}

}  // namespace
}  // namespace chainerx
