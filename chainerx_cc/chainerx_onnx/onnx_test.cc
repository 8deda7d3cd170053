#include "chainerx_onnx/onnx.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>

#include "chainerx/chainerx.h"
#include "chainerx/testing/context_fixture.h"
#include "chainerx_onnx/testing/model_writer.h"
#include "chainerx_onnx/wire.h"
#include "gtest/gtest.h"

namespace chainerx::onnx {
namespace {

using namespace onnx::testing;  // NOLINT

class OnnxTest : public chainerx::testing::ContextFixture {};

Array Ramp(const Shape& shape) {
    return Reshape(Arange(Scalar{0}, Scalar{shape.GetTotalSize()}, Scalar{1}, Dtype::kFloat32) * Scalar{0.25}, shape);
}

std::string ErrorOf(const std::function<void()>& f) {
    try {
        f();
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}
std::string ErrorOf(const std::string& bytes) {
    return ErrorOf([&] { LoadBytes(bytes); });
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << text

void ExpectNear(const Array& a, const Array& b) {
    ASSERT_EQ(a.shape(), b.shape());
    for (int64_t i = 0; i < a.GetTotalSize(); ++i) {
        EXPECT_NEAR(AsContiguous(a).data<float>()[i], AsContiguous(b).data<float>()[i], 1e-5);
    }
}

TEST_F(OnnxTest, Mlp) {
    Model model = LoadBytes(SampleModels()[0]);
    ASSERT_EQ(model.inputs().size(), 1U);
    EXPECT_EQ(model.inputs()[0].name, "x");
    EXPECT_EQ(model.inputs()[0].dtype, Dtype::kFloat32);
    EXPECT_EQ((*model.inputs()[0].shape)[0].name, "n");
    EXPECT_EQ((*model.inputs()[0].shape)[1].size, 3);
    // The bias and the activation are part of the first product.
    EXPECT_EQ(model.steps(), (std::vector<std::string>{"node 'the MatMul' (MatMul)", "node 'the Gemm' (Gemm)",
                                                       "node 'the Softmax' (Softmax)"}));
    for (int64_t rows : {1, 2, 7}) {
        Array y = model.Run({Ramp(Shape{rows, 3})})[0];
        ASSERT_EQ(y.shape(), (Shape{rows, 2}));
        for (int64_t i = 0; i < rows; ++i) EXPECT_NEAR(y.data<float>()[2 * i] + y.data<float>()[2 * i + 1], 1, 1e-6);
    }
}

TEST_F(OnnxTest, BatchNormalizationIsFolded) {
    Model model = LoadBytes(SampleModels()[1]);
    EXPECT_EQ(model.steps().size(), 3U);  // Conv, MaxPool, Reshape
    Array x = Ramp(Shape{2, 2, 4, 4});
    std::vector<float> ramp;
    for (int i = 0; i < 54; ++i) ramp.push_back(0.1F * static_cast<float>(i % 7) - 0.2F);
    Array w = FromHost(Shape{3, 2, 3, 3}, Dtype::kFloat32, ramp.data());
    float values[] = {1, 2, 3};
    Array p = FromHost(Shape{3}, Dtype::kFloat32, values);
    Array y = Relu(FixedBatchNorm(Conv(x, w, std::nullopt, 1, 1), p, p, p, p, 1e-5, Axes{0, 2, 3}));
    y = MaxPool(y, 2, PerAxis{2}, 0, false);
    ExpectNear(model.Run({x})[0], Reshape(y, Shape{2, 12}));
}

TEST_F(OnnxTest, ProductsOfIntegers) {
    Model model = LoadBytes(SampleModels()[4]);
    EXPECT_EQ(model.steps(), (std::vector<std::string>{"node 'the DynamicQuantizeLinear' (DynamicQuantizeLinear)",
                                                       "node 'the MatMulInteger' (MatMulInteger)"}));
    Array x = FromHost(Shape{1, 3}, Dtype::kFloat32, std::vector<float>{0, 51, 255}.data());
    // Weights less their zero points are 0, so that the biases are left: -0.2, -0.1, 0 and 0.1.
    ExpectNear(model.Run({x})[0], FromHost(Shape{1, 4}, Dtype::kFloat32, std::vector<float>{0, 0, 0, 0.1F}.data()));
    std::vector<Array> ys = LoadBytes(SampleModels()[5]).Run({Full(Shape{2, 2, 4, 4}, Scalar{255}, Dtype::kFloat32)});
    ASSERT_EQ(ys[0].shape(), (Shape{2, 3, 1, 1}));
    ASSERT_EQ(ys[1].shape(), (Shape{2, 3, 4, 4}));
    EXPECT_EQ(ys[1].data<int32_t>()[0], 2 * 4 * 255 * 100);
    EXPECT_EQ(ys[1].data<int32_t>()[5], 2 * 9 * 255 * 100);
}

TEST_F(OnnxTest, Control) {
    Model model = LoadBytes(SampleModels()[2]);
    float values[] = {1, 3};
    Array x = FromHost(Shape{2}, Dtype::kFloat32, values);
    ExpectNear(model.Run({x})[0], x * x);
    ExpectNear(model.Run({Negative(x)})[0], x);
}

TEST_F(OnnxTest, Function) {
    Array x = Ramp(Shape{2});
    ExpectNear(LoadBytes(SampleModels()[3]).Run({x})[0], x + x);
}

TEST_F(OnnxTest, CallsThatLeaveOutAnInput) {
    // The function takes two values, and the call gives one.
    std::string function = Bytes(25, Bytes(1, "f") + Bytes(4, "a") + Bytes(4, "b") + Bytes(5, "c") +
                                             Bytes(7, Bytes(1, "a") + Bytes(1, "b") + Bytes(2, "c") + Bytes(4, "Add")) +
                                             Bytes(9, Number(2, 17)) + Bytes(10, "mine"));
    std::string imports = Bytes(8, Bytes(1, "mine") + Number(2, 1));
    Model model =
            LoadBytes(File(Input("x", {2}) + Output("y") + Node("f", {"x"}, {"y"}, "", "mine"), function + imports));
    EXPECT_EQ(ErrorOf([&] { model.Run({Ramp(Shape{2})}); }), "node (Add): its input 1 is missing");
}

TEST_F(OnnxTest, ValuesThatAreNoArrays) {
    Model model = LoadBytes(File(Bytes(11, Bytes(1, "x")) + Output("y") + Output("z") +
                                 Node("Concat", {"x", "x"}, {"y"}, IntAttribute("axis", 0)) +
                                 Node("SequenceConstruct", {"y", "x"}, {"z"})));
    std::vector<onnx::Value> ys = model.RunValues({onnx::Value::Of(Strings{Shape{2}, {"red", "green"}})});
    ASSERT_NE(ys[0].As<Strings>(), nullptr);
    EXPECT_EQ(ys[0].As<Strings>()->shape, (Shape{4}));
    EXPECT_EQ(ys[0].As<Strings>()->items, (std::vector<std::string>{"red", "green", "red", "green"}));
    ASSERT_NE(ys[1].As<Sequence>(), nullptr);
    EXPECT_EQ(ys[1].As<Sequence>()->items.size(), 2U);
    EXPECT_FALSE(ys[1].array());
    EXPECT_STREQ(ys[1].KindName(), "a sequence");
    EXPECT_EQ(ErrorOf([&] { model.Run({Ramp(Shape{2})}); }), "output 'z' is a sequence");
    EXPECT_HAS(ErrorOf([&] { model.RunValues({ys[1]}); }),
               "its input 0 is a sequence, and the operator takes an array");
    EXPECT_EQ(ErrorOf([&] { model.RunValues({onnx::Value{}}); }), "input 'x' is missing");
}

TEST_F(OnnxTest, RunsRecordNoGraph) {
    Array x = Ramp(Shape{2, 3});
    x.RequireGrad();
    EXPECT_FALSE(LoadBytes(SampleModels()[0]).Run({x})[0].IsBackpropRequired());
}

TEST_F(OnnxTest, Inputs) {
    Model model = LoadBytes(SampleModels()[0]);
    auto error = [&](const std::vector<Array>& xs) { return ErrorOf([&] { model.Run(xs); }); };
    EXPECT_EQ(error({}), "the model takes 1 inputs and gets 0");
    EXPECT_EQ(error({Array{}}), "input 'x' is missing");
    EXPECT_EQ(error({Zeros(Shape{2, 4})}), "input 'x' has the shape (2, 4), not (n, 3)");
    EXPECT_EQ(error({Zeros(Shape{2, 3}, Dtype::kFloat64)}), "input 'x' has the dtype float64, not float32");
}

struct Hostile {
    std::string bytes;
    std::string error;
};

TEST_F(OnnxTest, HostileFiles) {
    std::string in = Input("x", {2, 3});
    std::string body = Node("Relu", {"nowhere"}, {"z"}) + Output("z");
    std::string branches = GraphAttribute("then_branch", body) + GraphAttribute("else_branch", body);
    auto weight = [&](const std::vector<int64_t>& dims, size_t n) {
        return File(in + Initializer("w", dims, std::vector<float>(n)) + Node("Add", {"x", "w"}, {"y"}) + Output("y"));
    };
    auto function = [](const std::string& name, const std::string& callee) {
        return Bytes(25, Bytes(1, name) + Bytes(4, "a") + Bytes(5, "b") +
                                 Bytes(7, Bytes(1, "a") + Bytes(2, "b") + Bytes(4, callee) + Bytes(7, "mine")) +
                                 Bytes(9, Bytes(1, "mine") + Number(2, 1)) + Bytes(10, "mine"));
    };
    std::string deep = Output("z");
    for (int i = 0; i < 40; ++i) deep = Node("If", {"c"}, {"z"}, GraphAttribute("then_branch", deep));
    const Hostile cases[] = {
            {"", "it has no graph"},
            {std::string(100, '\0'), "a field has the number 0"},
            {"\x3a\xff\xff\xff\xff\x0f", "bytes, and 0 are left"},
            {"\x0b", "is a group"},
            {std::string(11, '\xff'), "more than 64 bits"},
            {File(in + Node("Relu", {"z"}, {"y"}) + Output("y")),
             "node 'the Relu' (Relu): nothing gives its input 'z'"},
            {File(in + Node("Add", {"x", "b"}, {"a"}) + Node("Relu", {"a"}, {"b"}) + Output("a")), "form a cycle"},
            {File(in + Node("Add", {"x", "y"}, {"y"}) + Output("y")), "form a cycle"},
            {File(in + Node("Relu", {"x"}, {"x"}) + Output("x")), "its output 'x' is there already"},
            {File(in + Node("Identity", {"x"}, {"y"}) + Node("Relu", {"x"}, {}) + Output("y")),
             "node 'the Relu' (Relu): it has no outputs"},
            {File(in + Node("Relu", {"x"}, {"y"}) + Output("w")), "nothing gives the output 'w' of graph 'g'"},
            {File(in + Node("Frobnicate", {"x"}, {"y"}) + Output("y")),
             "node 'the Frobnicate' (Frobnicate): the operator is not supported in opset 17"},
            {File(in + Node("Relu", {"x"}, {"y"}, "", "their") + Output("y")),
             "imports no version of the domain 'their'"},
            {File(in + Node("Relu", {"x"}, {"y"}, IntAttribute("wrong", 1)) + Output("y")),
             "there is no attribute 'wrong'"},
            {File(in + Node("Cast", {"x"}, {"y"}) + Output("y")), "its attribute 'to' is missing"},
            {File(in + Node("Cast", {"x"}, {"y"}, IntAttribute("to", 17)) + Output("y")),
             "the element type float8e4m3fn is not supported"},
            {File(in + Node("Relu", {"x", "x"}, {"y"}) + Output("y")), "it has 2 inputs"},
            {File(in + Node("If", {"x"}, {"y"}, branches) + Output("y")), "nothing gives its input 'nowhere'"},
            {File(in + deep), "nested"},
            {File(in + Node("f", {"x"}, {"y"}, "", "mine") + Output("y"), function("f", "g") + function("g", "f")),
             "calls itself"},
            {File(in, "", 99), "version 99"},
            {File(in + Node("LRN", {"x"}, {"y"}, IntAttribute("size", 0)) + Output("y")),
             "node 'the LRN' (LRN): its attribute 'size' has the value 0, not one from 1 to 2147483647"},
            {File(in + Node("Split", {"x"}, {"y"}, IntAttribute("num_outputs", 0)) + Output("y"), "", 18),
             "its attribute 'num_outputs' has the value 0"},
            {File(in + Node("Split", {"x"}, {"y"}, IntAttribute("num_outputs", 3)) + Output("y"), "", 18),
             "its attribute 'num_outputs' is 3, and it has 1 outputs"},
            {weight({2, 4}, 6), "tensor 'w': it has 24 bytes, and 32 belong to its shape (2, 4)"},
            {weight({2, -3}, 6), "negative dimension"},
            {weight({int64_t{1} << 40, int64_t{1} << 40}, 6), "overflows"},
            {weight({int64_t{1} << 50}, 6), "and this machine has"},
    };
    for (const Hostile& each : cases) EXPECT_HAS(ErrorOf(each.bytes), each.error);
}

TEST_F(OnnxTest, SizesThatOnlyARunShows) {
    std::vector<int64_t> huge{int64_t{1} << 31, int64_t{1} << 31};
    for (const char* op : {"Expand", "Tile", "Reshape"}) {
        Model model = LoadBytes(
                File(Input("x", {1, 1}) + Initializer("s", {2}, huge) + Node(op, {"x", "s"}, {"y"}) + Output("y")));
        EXPECT_HAS(ErrorOf([&] { model.Run({Zeros(Shape{1, 1})}); }), std::string{"node 'the "} + op);
    }
}

TEST_F(OnnxTest, TruncatedFiles) {
    for (const std::string& bytes : SampleModels()) {
        for (size_t n = 0; n < bytes.size(); ++n) {
            try {
                LoadBytes(bytes.substr(0, n));  // what remains may be a smaller model
            } catch (const ChainerxError&) {
            }
        }
    }
}

TEST_F(OnnxTest, ExternalDataStaysInTheFolder) {
    std::string folder = ::testing::TempDir() + "onnx_test";
    ASSERT_EQ(std::system(("rm -rf '" + folder + "' && mkdir -p '" + folder + "/inner'").c_str()), 0);
    std::ofstream{folder + "/secret"} << std::string(24, 'x');
    std::ofstream{folder + "/inner/data", std::ios::binary} << std::string(24, '\0');
    ASSERT_EQ(std::system(("ln -s ../secret '" + folder + "/inner/link'").c_str()), 0);
    auto load = [&](const std::string& location, const std::string& offset) {
        std::string tensor = Number(1, 2) + Number(1, 3) + Number(2, 1) + Bytes(8, "w") + Number(14, 1) +
                             Bytes(13, Bytes(1, "location") + Bytes(2, location)) +
                             Bytes(13, Bytes(1, "offset") + Bytes(2, offset));
        std::string path = folder + "/inner/model.onnx";
        std::ofstream{path, std::ios::binary}
                << File(Input("x", {2, 3}) + Bytes(5, tensor) + Node("Add", {"x", "w"}, {"y"}) + Output("y"));
        return Load(path);
    };
    Array x = Ramp(Shape{2, 3});
    ExpectNear(load("data", "0").Run({x})[0], x);
    for (const char* location : {"../secret", "/etc/hostname", "../inner/../secret", ".."}) {
        EXPECT_HAS(ErrorOf([&] { load(location, "0"); }), "outside of the folder");
    }
    ASSERT_EQ(std::system(("ln '" + folder + "/secret' '" + folder + "/inner/hard'").c_str()), 0);
    EXPECT_HAS(ErrorOf([&] { load("hard", "0"); }), "a file of 2 names");
    for (const char* location : {"absent", ".", "link", "data/data"})
        EXPECT_HAS(ErrorOf([&] { load(location, "0"); }), "not a file");
    EXPECT_HAS(ErrorOf([&] { load("data", "4"); }), "which has 24 bytes");
    for (const char* offset : {"-4", "x", "9223372036854775808"}) {
        EXPECT_HAS(ErrorOf([&] { load("data", offset); }), "its offset is '");
    }
    EXPECT_HAS(ErrorOf([&] { Load(folder + "/none"); }), "cannot be opened");
}

TEST(WireTest, ReadsPackedAndUnpackedNumbers) {
    std::vector<int64_t> values;
    std::string bytes = Number(1, 5) + Bytes(1, Varint(7) + Varint(300)) + Number(2, 9);
    WireReader r{bytes};
    while (r.Next()) {
        if (r.field() == 1) r.Ints(&values);
    }
    EXPECT_EQ(values, (std::vector<int64_t>{5, 7, 300}));
}

}  // namespace
}  // namespace chainerx::onnx
