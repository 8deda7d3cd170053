#pragma once

// Writes the bytes of small models for tests.

#include <cstdint>
#include <string>
#include <vector>

namespace chainerx::onnx::testing {

inline std::string Varint(uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
    out.push_back(static_cast<char>(value));
    return out;
}
inline std::string Number(int field, int64_t value) {
    return Varint(static_cast<uint64_t>(field) << 3) + Varint(static_cast<uint64_t>(value));
}
inline std::string Bytes(int field, const std::string& bytes) {
    return Varint(static_cast<uint64_t>(field) << 3 | 2) + Varint(bytes.size()) + bytes;
}
using Names = std::vector<std::string>;

inline std::string IntAttribute(const std::string& name, int64_t value) {
    return Bytes(5, Bytes(1, name) + Number(3, value) + Number(20, 2));
}
inline std::string IntsAttribute(const std::string& name, const std::vector<int64_t>& values) {
    std::string packed;
    for (int64_t value : values) packed += Varint(static_cast<uint64_t>(value));
    return Bytes(5, Bytes(1, name) + Bytes(8, packed) + Number(20, 7));
}
// `graph`: a message.
inline std::string GraphAttribute(const std::string& name, const std::string& graph) {
    return Bytes(5, Bytes(1, name) + Bytes(6, graph) + Number(20, 5));
}

// A field of a graph.
inline std::string Node(const std::string& op, const Names& inputs, const Names& outputs,
                        const std::string& attributes = "", const std::string& domain = "") {
    std::string out;
    for (const std::string& name : inputs) out += Bytes(1, name);
    for (const std::string& name : outputs) out += Bytes(2, name);
    out += Bytes(3, "the " + op) + Bytes(4, op) + attributes;
    if (!domain.empty()) out += Bytes(7, domain);
    return Bytes(1, out);
}

// A tensor message of int8, float32 or int64 with raw data.
template <class T>
std::string Tensor(const std::string& name, const std::vector<int64_t>& dims, const std::vector<T>& values) {
    std::string out;
    for (int64_t n : dims) out += Number(1, n);
    out += Number(2, sizeof(T) == 1 ? 3 : sizeof(T) == 4 ? 1 : 7) + Bytes(8, name);
    return out + Bytes(9, std::string{reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}
// A field of a graph.
template <class T>
std::string Initializer(const std::string& name, const std::vector<int64_t>& dims, const std::vector<T>& values) {
    return Bytes(5, Tensor(name, dims, values));
}

// The message of an input or output of float32; negative dimensions are called "n".
inline std::string Value(const std::string& name, const std::vector<int64_t>& dims) {
    std::string shape;
    for (int64_t n : dims) shape += Bytes(1, n < 0 ? Bytes(2, "n") : Number(1, n));
    return Bytes(1, name) + Bytes(2, Bytes(1, Number(1, 1) + Bytes(2, shape)));
}
inline std::string Input(const std::string& name, const std::vector<int64_t>& dims) {
    return Bytes(11, Value(name, dims));
}
inline std::string Output(const std::string& name) { return Bytes(12, Bytes(1, name)); }

// A file. `graph`: fields of its graph; `more`: fields of the model.
inline std::string File(const std::string& graph, const std::string& more = "", int64_t opset = 17) {
    return Number(1, 8) + Bytes(7, Bytes(2, "g") + graph) + Bytes(8, Number(2, opset)) + more;
}

// Models that use most of what files can have.
inline std::vector<std::string> SampleModels() {
    std::vector<float> ramp;
    for (int i = 0; i < 54; ++i) ramp.push_back(0.1F * static_cast<float>(i % 7) - 0.2F);
    auto floats = [&](size_t n) { return std::vector<float>(ramp.begin(), ramp.begin() + static_cast<int64_t>(n)); };
    std::string mlp = Input("x", {-1, 3}) + Output("y") + Initializer("w", {3, 4}, floats(12)) +
                      Initializer("b", {4}, floats(4)) + Node("MatMul", {"x", "w"}, {"p"}) +
                      Node("Add", {"p", "b"}, {"s"}) + Node("Relu", {"s"}, {"r"}) +
                      Node("Gemm", {"r", "v"}, {"z"}, IntAttribute("transB", 1)) + Initializer("v", {2, 4}, floats(8)) +
                      Node("Softmax", {"z"}, {"y"}, IntAttribute("axis", -1));
    std::string cnn =
            Input("x", {-1, 2, 4, 4}) + Output("y") + Initializer("w", {3, 2, 3, 3}, floats(54)) +
            Initializer("one", {3}, std::vector<float>{1, 2, 3}) + Initializer("i", {2}, std::vector<int64_t>{0, -1}) +
            Node("Conv", {"x", "w"}, {"c"}, IntsAttribute("pads", {1, 1, 1, 1})) +
            Node("BatchNormalization", {"c", "one", "one", "one", "one"}, {"n"}) + Node("Relu", {"n"}, {"r"}) +
            Node("MaxPool", {"r"}, {"m"}, IntsAttribute("kernel_shape", {2, 2}) + IntsAttribute("strides", {2, 2})) +
            Node("Reshape", {"m", "i"}, {"y"});
    std::string branch = Node("Mul", {"x", "x"}, {"t"}) + Output("t");
    std::string other = Node("Neg", {"x"}, {"e"}) + Output("e");
    std::string control =
            Input("x", {2}) + Output("y") + Initializer("zero", {1}, std::vector<float>{0}) +
            Node("ReduceSum", {"x"}, {"s"}, IntAttribute("keepdims", 0)) + Node("Greater", {"s", "zero"}, {"g"}) +
            Node("If", {"g"}, {"y"}, GraphAttribute("then_branch", branch) + GraphAttribute("else_branch", other));
    std::string function = Bytes(25, Bytes(1, "twice") + Bytes(4, "a") + Bytes(5, "c") +
                                             Bytes(7, Bytes(1, "a") + Bytes(1, "a") + Bytes(2, "c") + Bytes(4, "Add")) +
                                             Bytes(9, Number(2, 17)) + Bytes(10, "mine"));
    std::string call = Input("x", {2}) + Output("y") + Node("twice", {"x"}, {"y"}, "", "mine");
    auto bytes = [](size_t n) { return std::vector<int8_t>(n, 100); };
    std::string int8_mlp = Input("x", {-1, 3}) + Output("y") + Initializer("w", {3, 4}, bytes(12)) +
                           Initializer("v", {1}, floats(1)) + Initializer("b", {4}, floats(4)) +
                           Initializer("u", {4}, bytes(4)) + Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"}) +
                           Node("Mul", {"s", "v"}, {"m"}) + Node("MatMulInteger", {"q", "w", "z", "u"}, {"i"}) +
                           Node("Cast", {"i"}, {"f"}, IntAttribute("to", 1)) + Node("Mul", {"f", "m"}, {"p"}) +
                           Node("Add", {"p", "b"}, {"a"}) + Node("Relu", {"a"}, {"y"});
    std::string int8_cnn =
            Input("x", {-1, 2, 4, 4}) + Output("y") + Initializer("w", {3, 2, 3, 3}, bytes(54)) +
            Initializer("o", {1}, bytes(1)) + Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"}) +
            Node("ConvInteger", {"q", "w", "z"}, {"c"}, IntsAttribute("pads", {1, 1, 1, 1})) +
            Node("QLinearConv", {"q", "s", "z", "w", "s", "o", "s", "o"}, {"l"}, IntsAttribute("strides", {2, 2})) +
            Node("DequantizeLinear", {"l", "s", "o"}, {"d"}) + Node("QuantizeLinear", {"d", "s", "z"}, {"e"}) +
            Node("QLinearMatMul", {"e", "s", "z", "l", "s", "o", "s", "o"}, {"n"}) + Node("Add", {"n", "l"}, {"y"}) +
            Output("c");
    return {File(mlp),      File(cnn),
            File(control),  File(call, function + Bytes(8, Bytes(1, "mine") + Number(2, 1))),
            File(int8_mlp), File(int8_cnn)};
}

}  // namespace chainerx::onnx::testing
